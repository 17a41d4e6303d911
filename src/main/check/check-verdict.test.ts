import { expect, test } from 'vitest';
import { fixture } from '../../../harness/artifacts/fixtures.ts';
import { fixtureNow } from '../../../harness/process/facts.ts';
import { decodeArtifact } from '../../artifact/reading.ts';
import { recogniseLabels, recogniseWeather } from '../../artifact/recognise.ts';
import { explain, verdictOf } from './check-verdict.ts';

const bounds = { maxAgeSeconds: 7200, collectionMaxAgeSeconds: 7200 };
const bytes = (artifact: object) => Buffer.from(JSON.stringify(artifact));

test('the verdict on a refused artifact of a simulated network states the origin', () => {
  const labels = { ...fixture('recent'), origin: 'simulated', hold: true };
  const weather = { ...fixture('weather'), origin: 'simulated', generated_at: 'yesterday' };
  for (const reading of [
    decodeArtifact(bytes(labels), 0, recogniseLabels),
    decodeArtifact(bytes(weather), 0, recogniseWeather),
  ]) {
    const verdict = verdictOf(reading, bounds, fixtureNow.recent);
    expect(verdict.verdict).toBe('refused');
    expect(explain('a.json', verdict)).toContain('These facts come from a simulated network.');
  }
});

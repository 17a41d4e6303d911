import { expect, test } from 'vitest';
import { labelerFixture } from '../../../harness/artifacts/labelers.ts';
import { labelersInMemory } from '../../../harness/process/labelers.ts';
import type { LabelerLine } from '../../artifact/labelers.ts';
import type { LabelerEnvelope } from '../../contract/labelers.ts';

const made = Date.parse('2026-11-20T12:00:00Z');

/** Returns the problem and the remedy that the document of a labeler states. */
async function statedOf({ state, problem }: Pick<LabelerLine, 'state' | 'problem'>) {
  const fixture = labelerFixture({ count: 1, seed: 5, generatedAt: made });
  const app = labelersInMemory(made + 30_000);
  await app.set({ ...fixture, labelers: fixture.labelers.map((line) => ({ ...line, state, problem })) });
  const reply = app.get(`/labelers/${fixture.labelers[0]?.did}.json`);
  const { facts } = JSON.parse(reply.body?.toString() ?? '') as LabelerEnvelope;
  return [facts.problem, facts.remedy];
}

test('the remedy of a labeler that is paused by a limit of the instrument does not blame the labeler', async () => {
  expect(await statedOf({ state: 'established', problem: 'unknown' })).toEqual([
    'unknown',
    'Reading is paused by a limit of this observatory that many labelers share: the daily share of the domain or class of this labeler, or disk space. No action is necessary: reading continues by itself.',
  ]);
});

test('the cause of an unknown problem of a labeler that does not respond is not known', async () => {
  expect(await statedOf({ state: 'unavailable', problem: 'unknown' })).toEqual([
    'unknown',
    'The cause is not known. Almanac continues to try.',
  ]);
});

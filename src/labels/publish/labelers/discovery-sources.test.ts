import { expect, test } from 'vitest';
import { countByDiscoverySource, countDirectoryOnly } from './listed-labeler.ts';

const found = (...names: string[]) => ({ provenance: new Set(names) });

test('a labeler counts once for each kind of source that names it', () => {
  const labelers = [
    found('seeds', 'relay a.example', 'relay b.example'),
    found('relay a.example', 'jetstream', 'directory plc.example'),
    found('directory plc.example'),
    found('directory plc.example', 'directory other.example'),
    found('a source of a later version'),
  ];
  expect(countByDiscoverySource(labelers)).toEqual({ seeds: 1, relay: 2, jetstream: 1, directory: 3 });
  expect(countDirectoryOnly(labelers)).toBe(2);
});

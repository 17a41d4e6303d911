import { expect, test } from 'vitest';
import type { Batch, StoreWriter } from '../../store/port.ts';
import type { LabelerKey } from '../../store/roster.ts';
import { micros } from '../../store/time.ts';
import type { PageRepeats } from '../repeats/repeat-memory.ts';
import { Kept } from './kept.ts';
import { replay } from './replay.ts';
import { defaultBufferLimits } from './row-buffer.ts';

const did = 'did:plc:a';
const unchanged = { refusals: [], changes: [] };

/** Returns the memory of a standby that received one page with a row, and the key of the labeler. */
function keptPage(): Kept {
  const standby = { identityOf: ({ val }: { val: string }) => val, knows: () => false };
  const kept = new Kept(standby, defaultBufferLimits, () => undefined);
  const label = { src: did, uri: 'did:plc:b', val: 'spam', cts: '2026-11-22T00:00:00.000Z' };
  const positions = [{ source: did, endpoint: 'https://a.example', value: 'p' }];
  kept.append({ at: micros(1), observations: [{ label, signature: 'verified' }], refusals: [], positions });
  kept.putKey({ did, key: 'k', firstSeen: micros(1), lastSeen: micros(1) } as LabelerKey);
  return kept;
}

/** Returns a writer that records its changes by name. */
function recordingWriter() {
  const changes: string[] = [];
  const writer: Pick<StoreWriter, 'append' | 'purges' | 'putKey' | 'putDefinitions' | 'definitions'> = {
    append: async ({ observations, positions }: Batch) => {
      changes.push(...observations.map(({ label }) => label.val), ...positions.map(({ value }) => String(value)));
      return { accepted: observations.length, duplicates: [], first: null, last: null };
    },
    purges: async () => [],
    putKey: async ({ key }) => void changes.push(key),
    putDefinitions: async () => true,
    definitions: async () => [],
  };
  return { changes, writer };
}

test('a replay stores keys before rows, because repeats depend on the keys, and rows before the positions after them', async () => {
  const { changes, writer } = recordingWriter();
  const repeated: PageRepeats = {
    changes: [{ source: did, endpoint: 'repeats', value: 'one repeat' }],
    committed: () => undefined,
  };
  const none: PageRepeats = { changes: [], committed: () => undefined };
  const repeats = { find: async () => (changes.includes('k') ? repeated : none) };
  const result = await replay(keptPage(), writer, { clock: () => micros(2), refused: unchanged, repeats });
  expect(changes).toEqual(['k', 'spam', 'one repeat', 'p']);
  expect(result).toEqual({ rows: 1, known: 0 });
});

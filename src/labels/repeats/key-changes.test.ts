import { expect, test } from 'vitest';
import type { LabelerKey } from '../../store/roster.ts';
import { micros } from '../../store/time.ts';
import { KeyChanges, lastKeyChange } from './key-changes.ts';

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
const other = 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb';

const key = (name: string, firstSeen: number, lastSeen: number): LabelerKey => ({
  ...{ did, key: name, firstSeen: micros(firstSeen), lastSeen: micros(lastSeen) },
});

/** Creates the key changes over a store whose keys and failures the test sets; `reads` has the DID of each read. */
function changesOver(state: { keys: LabelerKey[]; error: Error | null; isComplete: boolean }) {
  const reads: string[] = [];
  const changes = new KeyChanges({
    isComplete: () => state.isComplete,
    store: {
      keys: async (of) => {
        reads.push(of);
        if (state.error) throw state.error;
        return state.keys;
      },
    },
  });
  return { changes, reads };
}

test("a labeler's keys are read once, and again after a key of this labeler was stored", async () => {
  const state = { keys: [key('zA', 1, 9)], error: null, isComplete: true };
  const { changes, reads } = changesOver(state);
  expect([await changes.timeOf(did), await changes.timeOf(did)]).toEqual([null, null]);
  state.keys = [key('zA', 1, 4), key('zB', 5, 9)];
  changes.forget(other);
  expect(await changes.timeOf(did)).toBe(null);
  changes.forget(did);
  expect([await changes.timeOf(did), await changes.timeOf(did)]).toEqual([5, 5]);
  expect(reads).toEqual([did, did]);
});

test('keys that are stored during a read are not missed by the next page', async () => {
  const state = { keys: [key('zA', 1, 9)], error: null, isComplete: true };
  const { changes } = changesOver(state);
  const pending = changes.timeOf(did);
  state.keys = [key('zA', 1, 4), key('zB', 5, 9)];
  changes.forget(did);
  expect([await pending, await changes.timeOf(did)]).toEqual([null, 5]);
});

test('a failed read is repeated for the next page', async () => {
  const state: Parameters<typeof changesOver>[0] = { keys: [], error: new Error('unreachable'), isComplete: true };
  const { changes, reads } = changesOver(state);
  await expect(changes.timeOf(did)).rejects.toThrow('unreachable');
  state.error = null;
  expect(await changes.timeOf(did)).toBe(null);
  expect(reads).toEqual([did, did]);
});

test('while keys may be stored without notice, every page reads the store', async () => {
  const state = { keys: [key('zA', 1, 9)], error: null, isComplete: false };
  const { changes } = changesOver(state);
  expect(await changes.timeOf(did)).toBe(null);
  state.keys = [key('zA', 1, 4), key('zB', 5, 9)];
  expect(await changes.timeOf(did)).toBe(5);
  state.isComplete = true;
  expect(await changes.timeOf(did)).toBe(5);
});

test('if an earlier key returned, the last key change is the last observation of the key before the return; otherwise it is the first observation of the newest key', () => {
  expect(lastKeyChange([])).toBe(null);
  expect(lastKeyChange([key('zA', 1, 9)])).toBe(null);
  expect(lastKeyChange([key('zA', 1, 9), key('zB', 1, 9)])).toBe(null);
  expect(lastKeyChange([key('zA', 1, 4), key('zB', 5, 9)])).toBe(5);
  expect(lastKeyChange([key('zA', 1, 9), key('zB', 5, 9)])).toBe(5);
  expect(lastKeyChange([key('zA', 1, 12), key('zB', 5, 9)])).toBe(9);
  expect(lastKeyChange([key('zA', 1, 12), key('zB', 5, 9), key('zC', 3, 4)])).toBe(9);
});

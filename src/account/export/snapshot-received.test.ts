import { describe, expect, it } from 'vitest';
import type { Frontier } from '../../store/port.ts';
import { micros } from '../../store/time.ts';
import { markOf } from '../cursor/cursor.ts';
import type { Snapshot } from '../query/snapshot.ts';
import { assertSnapshotReceived } from './snapshot-received.ts';

const primary: Frontier = { generationId: 'g', floor: micros(0), end: micros(10), observedThrough: null, revision: 3 };
const standby: Frontier = { ...primary, replicatedThrough: micros(500) };
const behind = expect.objectContaining({ code: 'behind' });

describe('a snapshot that is continued on a standby', () => {
  const snapshot = (end: number, revision: number, generationId = 'g') =>
    ({ end: micros(end), generation: markOf({ generationId, revision }) }) as Snapshot;

  it('is refused as behind if the standby has not received all rows before the end of the snapshot', () => {
    expect(() => assertSnapshotReceived(standby, snapshot(500, 3))).not.toThrow();
    expect(() => assertSnapshotReceived(standby, snapshot(501, 3))).toThrow(behind);
    expect(() => assertSnapshotReceived(primary, snapshot(501, 3))).not.toThrow();
  });

  it('is refused as behind if the standby has not received a removal of rows that the snapshot includes, unless the snapshot is of a different store', () => {
    expect(() => assertSnapshotReceived(standby, snapshot(500, 5))).toThrow(behind);
    expect(() => assertSnapshotReceived(standby, snapshot(500, 2))).not.toThrow();
    expect(() => assertSnapshotReceived(standby, snapshot(500, 5, 'another'))).not.toThrow();
  });
});

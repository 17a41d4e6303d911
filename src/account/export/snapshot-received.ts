import { StoreError } from '../../store/errors.ts';
import type { Frontier } from '../../store/port.ts';
import { markOf } from '../cursor/cursor.ts';
import { assertReceived } from '../query/received.ts';
import type { Snapshot } from '../query/snapshot.ts';

/** Maximum number of removals by which a standby may lag behind the server that issued a cursor. */
const maxRemovals = 1_000;

/**
 * Throws `behind` if this server lacks data that the issuing server had when it took the snapshot: data before the
 * end of the snapshot, or removals of rows. Does not throw if more than `maxRemovals` removals are missing, because
 * the snapshot then looks like a snapshot of another store.
 */
export function assertSnapshotReceived(frontier: Frontier, { end, generation }: Snapshot): void {
  assertReceived(frontier, end);
  if (frontier.replicatedThrough === undefined || markOf(frontier) === generation) return;
  const { generationId, revision } = frontier;
  for (let removals = 1; removals <= maxRemovals; removals++) {
    if (markOf({ generationId, revision: revision + removals }) !== generation) continue;
    throw new StoreError('behind', 'the server has not received the latest removal of rows');
  }
}

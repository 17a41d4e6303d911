import { StoreError } from '../../store/errors.ts';
import type { Frontier } from '../../store/port.ts';
import { markOf } from '../cursor/cursor.ts';
import { assertReceived } from '../query/received.ts';
import type { Snapshot } from '../query/snapshot.ts';

/** Maximum number of removals by which a standby may be behind the server of a cursor. */
const maxRemovals = 1_000;

/**
 * Throws `behind` unless the server has received everything that the server of a snapshot had: the time before its end,
 * and removals of rows.
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

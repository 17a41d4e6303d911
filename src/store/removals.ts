import type { Purge } from './port.ts';

/**
 * What every surface says where rows were removed at the operator's request: of how many labelers, and on which day last.
 * Null where none were. A request that found no rows to remove says nothing.
 */
export function removalSentence(purges: readonly Purge[]): string | null {
  const pending = purges.filter(({ completedAt }) => completedAt === null);
  const removed = purges.filter(({ completedAt, rows }) => completedAt !== null && rows > 0);
  const parts: string[] = [];
  const last = Math.max(...removed.map(({ completedAt }) => completedAt ?? 0));
  if (removed.length > 0) {
    parts.push(
      `Rows of ${labelers(removed.length)} were removed at the request of the operator, the last on ${dateOf(last)}.`,
    );
  }
  if (pending.length > 0) {
    const since = Math.min(...pending.map(({ requestedAt }) => requestedAt));
    parts.push(
      `Rows of ${labelers(pending.length)} are being removed at the request of the operator, since ${dateOf(since)}.`,
    );
  }
  return parts.length === 0 ? null : parts.join(' ');
}

function labelers(count: number): string {
  return count === 1 ? '1 labeler' : `${count} labelers`;
}

function dateOf(at: number): string {
  return new Date(at / 1000).toISOString().slice(0, 10);
}

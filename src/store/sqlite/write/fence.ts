import type { Micros } from '../../../contract/timestamp.ts';
import { StoreError } from '../../errors.ts';
import type { Sqlite } from '../base/connection.ts';

/**
 * Checks that no other process has become the writer. Each process that opens the store for writing sets a token in the
 * state file.
 */
export interface Fence {
  /** Throws `fenced` if another process has set its token since this writer set its own. */
  assertWriter(): void;
  /** Checks the token, then runs a change of the state file, in one transaction. */
  run<T>(work: () => T): T;
}

/** Starts the epoch of a new store, and sets this writer's token. */
export function beginWriting(
  db: Sqlite,
  { generationId, at, token }: { readonly generationId: () => string; readonly at: Micros; readonly token: string },
): Fence {
  db.prepare('INSERT INTO epoch(one, generation, started_at, floor) VALUES (1, ?, ?, ?) ON CONFLICT DO NOTHING').run(
    generationId(),
    at,
    at,
  );
  // The process id helps a person who inspects the file.
  const writer = `${token} pid ${process.pid}`;
  db.prepare('UPDATE epoch SET writer = ?').run(writer);
  const current = db.prepare<[], string>('SELECT writer FROM epoch').pluck();
  const assertWriter = (): void => {
    const now = current.get();
    if (now === writer) return;
    const other = now?.split(' ').slice(1).join(' ') ?? 'of an unknown process';
    throw new StoreError('fenced', `another process (${other}) became the writer of this store; this process stops`);
  };
  // A transaction within this one becomes a savepoint.
  const transaction = db.transaction((work: () => unknown): unknown => {
    assertWriter();
    return work();
  });
  return { assertWriter, run: <T>(work: () => T): T => transaction.immediate(work) as T };
}

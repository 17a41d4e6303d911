import type { Micros } from '../../../contract/timestamp.ts';
import { StoreError } from '../../errors.ts';
import type { Sqlite } from '../base/connection.ts';

/**
 * Checks that no other process has become the writer. Each process that opens the store for writing sets a token in the
 * state file.
 */
export interface Fence {
  /** Throws `fenced` if another process has set a token since this writer set its token. */
  assertWriter(): void;
  /** Checks the token, then runs a change to the state file, in one transaction. */
  run<T>(work: () => T): T;
}

interface FenceOptions {
  /** Generates the random id of a new store's generation. */
  readonly generationId: () => string;
  /** Current time of the acceptance clock: the start of the epoch if the store is new. */
  readonly at: Micros;
  /** Token that this writer sets. */
  readonly token: string;
  /** Called after a change was rolled back, which includes a change whose commit failed. */
  readonly rolledBack: () => void;
}

/** Starts the epoch of a new store, and sets this writer's token. */
export function beginWriting(db: Sqlite, { generationId, at, token, rolledBack }: FenceOptions): Fence {
  db.prepare('INSERT INTO epoch(one, generation, started_at, floor) VALUES (1, ?, ?, ?) ON CONFLICT DO NOTHING').run(
    generationId(),
    at,
    at,
  );
  // Record the process id for error messages and for a person who inspects the file.
  const writer = `${token} pid ${process.pid}`;
  db.prepare('UPDATE epoch SET writer = ?').run(writer);
  const current = db.prepare<[], string>('SELECT writer FROM epoch').pluck();
  const assertWriter = (): void => {
    const now = current.get();
    if (now === writer) return;
    const other = now?.split(' ').slice(1).join(' ') ?? 'process id unknown';
    throw new StoreError('fenced', `another process (${other}) became the writer of this store; this process stops`);
  };
  // A transaction of `work` becomes a savepoint of this transaction.
  const transaction = db.transaction((work: () => unknown): unknown => {
    assertWriter();
    return work();
  });
  function run<T>(work: () => T): T {
    try {
      return transaction.immediate(work) as T;
    } catch (error) {
      rolledBack();
      throw error;
    }
  }
  return { assertWriter, run };
}

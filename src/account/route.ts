import type { Reply, StreamedReply } from '../http/reply.ts';
import type { Cursors } from './cursor/cursor.ts';
import type { ExportBounds } from './export/exports.ts';
import type { Manifests } from './export/manifest.ts';
import type { AccountReads } from './reading/protocol.ts';

/** A request in the form that a route of the account surface receives. */
export interface AccountRequest {
  /** Query string, without its question mark. */
  readonly search: string;
  readonly acceptEncoding: string | undefined;
  readonly acceptLanguage?: string | undefined;
  /** Time of the request, in milliseconds since 1970. */
  readonly now: number;
  /** Address of the client. */
  readonly client: string;
  /** Aborted when the client disconnects. */
  readonly gone: AbortSignal;
  /**
   * Reserves memory for a response before it is built. Returns false if unsent responses already use too much memory.
   */
  readonly reserve: (bytes: number) => boolean;
}

/** A complete response, or a response whose body is produced while it is sent. */
export type AccountReply = Reply | StreamedReply;

/** Handler of a route. If it rejects with an error that `refusalOf` maps, the application sends the error response. */
export type AccountRoute = (request: AccountRequest) => AccountReply | Promise<AccountReply>;

/** Key of the page for paths without a route. It never equals a path, because every path begins with a slash. */
export const missingPage = 'missing';

/** Services that all routes share. */
export interface AccountServices {
  /**
   * Runs one turn of reads. `account` is the account that is read, or null if the reads concern no account. Rejects
   * with `StoreBusy` if no process becomes free in time, memory is short, or the client disconnects. Rejects with
   * `StoreBehind` if a standby lags too far behind, and with `BudgetSpent` if the client has used up its allowance.
   */
  read<T>(
    request: Pick<AccountRequest, 'client' | 'gone' | 'reserve'>,
    account: string | null,
    work: (store: AccountReads) => Promise<T>,
  ): Promise<T>;
  /**
   * Runs a turn like `read`, and repeats it a few times while the store is busy. For use after the first turn of a
   * request: a failure would discard the results of the earlier turns.
   */
  readPatiently: AccountServices['read'];
  /** Charges the bytes of a streamed response to the client. Other responses are charged automatically. */
  sent(request: Pick<AccountRequest, 'client'>, bytes: number): void;
  /**
   * Returns null and counts the request if the client may request the account now; otherwise returns the number of
   * seconds to wait.
   */
  waitFor(request: Pick<AccountRequest, 'client' | 'now'>, account: string): number | null;
  readonly cursors: Cursors;
  readonly manifests: Manifests;
  readonly bounds: ExportBounds;
}

import type { Reply, StreamedReply } from '../http/reply.ts';
import type { Cursors } from './cursor/cursor.ts';
import type { ExportBounds } from './export/exports.ts';
import type { Manifests } from './export/manifest.ts';
import type { AccountReads } from './reading/protocol.ts';

/** A request to a route of the account surface. */
export interface AccountRequest {
  /** The query string, without its question mark. */
  readonly search: string;
  readonly acceptEncoding: string | undefined;
  readonly acceptLanguage?: string | undefined;
  /** Time of the request, in milliseconds since 1970. */
  readonly now: number;
  /** Address of the client. */
  readonly client: string;
  /** Aborted when the client disconnects. */
  readonly gone: AbortSignal;
  /** Reserves memory for the response before it is built. Returns false if unsent responses already use too much. */
  readonly reserve: (bytes: number) => boolean;
}

/** A complete response, or a response whose body is produced while it is sent. */
export type AccountReply = Reply | StreamedReply;

/**
 * Handler of a route. If the handler rejects with `StoreBusy` or a `StoreError`, the application sends the error response.
 */
export type AccountRoute = (request: AccountRequest) => AccountReply | Promise<AccountReply>;

/** Key of the page for a path without a route. No path of a request has this form. */
export const missingPage = 'missing';

/** Dependencies that the routes share. */
export interface AccountServices {
  /**
   * Runs one turn of reads about an account, or about no account (null). Rejects with `StoreBusy` if no turn becomes
   * free in time, and with `BudgetSpent` if the client has used its allowance.
   */
  read<T>(
    request: Pick<AccountRequest, 'client' | 'gone' | 'reserve'>,
    account: string | null,
    work: (store: AccountReads) => Promise<T>,
  ): Promise<T>;
  /** Charges bytes of a streamed response; other responses are charged when they are sent. */
  sent(request: Pick<AccountRequest, 'client'>, bytes: number): void;
  /**
   * Returns the seconds until the client may request the account. If the client may request it now, counts the request
   * and returns null.
   */
  waitFor(request: Pick<AccountRequest, 'client' | 'now'>, account: string): number | null;
  readonly cursors: Cursors;
  readonly manifests: Manifests;
  readonly bounds: ExportBounds;
}

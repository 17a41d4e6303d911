import type { Reply, StreamedReply } from '../http/reply.ts';
import type { Cursors } from './cursor.ts';
import type { ExportBounds } from './exports.ts';
import type { Manifests } from './manifest.ts';
import type { AccountReads } from './reading/protocol.ts';

/** A request of one of this surface's routes. */
export interface AccountRequest {
  /** The query string, without its question mark. */
  readonly search: string;
  readonly acceptEncoding: string | undefined;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Address of the client. */
  readonly client: string;
  /** Aborted when the client leaves. */
  readonly gone: AbortSignal;
  /** Reserves memory for the response before it is made; false where unsent responses hold too much already. */
  readonly reserve: (bytes: number) => boolean;
}

/** An answer, whole or made while it is sent. */
export type AccountReply = Reply | StreamedReply;

/**
 * A route. It may reject with `StoreBusy` or a `StoreError`: the application answers for it, unless the route has a
 * form of its own for that.
 */
export type AccountRoute = (request: AccountRequest) => AccountReply | Promise<AccountReply>;

/** Dependencies that the routes share. */
export interface AccountServices {
  /**
   * One turn of reads about an account, or about none (null). Rejects with `StoreBusy` when none comes in time, and
   * with `BudgetSpent` when the client has used its allowance.
   */
  read<T>(
    request: Pick<AccountRequest, 'client' | 'gone' | 'reserve'>,
    account: string | null,
    work: (store: AccountReads) => Promise<T>,
  ): Promise<T>;
  /** Charges bytes of a streamed response; those of any other are charged as it is answered. */
  sent(request: Pick<AccountRequest, 'client'>, bytes: number): void;
  /** Seconds until this client may ask for this account, or null: it may now, and is counted. */
  waitFor(request: Pick<AccountRequest, 'client' | 'now'>, account: string): number | null;
  readonly cursors: Cursors;
  readonly manifests: Manifests;
  readonly bounds: ExportBounds;
}

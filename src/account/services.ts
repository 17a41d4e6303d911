import { setTimeout as delay } from 'node:timers/promises';
import type { AccountErrorCode } from '../contract/errors.ts';
import { StoreError } from '../store/errors.ts';
import { BudgetSpent, type ClientBudget, type CostBudget } from './budget/budgets.ts';
import { createLookUps, type LookUp } from './budget/look-ups.ts';
import type { Cursors } from './cursor/cursor.ts';
import type { ExportBounds } from './export/exports.ts';
import { type Manifests, rememberManifests } from './export/manifest.ts';
import type { AccountReads } from './reading/reading-child.ts';
import { MemoryRefused, type ReadingPool, StoreBusy, storeFaultOf } from './reading/reading-pool.ts';
import type { AccountRequest } from './route.ts';

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
   * Runs a turn like `read`, repeats it a few times while the store is busy or a standby lags, and waits while the
   * client's allowance is used up. At most `maxWaiting` requests wait for an allowance at the same time. For use after the
   * first turn of a request: a failure would discard the results of the earlier turns. No wait ends more than
   * `maxSilenceMs` after `now`: a proxy closes a connection on which no response begins.
   */
  readPatiently<T>(
    request: Pick<AccountRequest, 'client' | 'gone' | 'now' | 'reserve'>,
    account: string | null,
    work: (store: AccountReads) => Promise<T>,
  ): Promise<T>;
  /**
   * Runs a turn like `readPatiently`, without a limit on the wait and on the number of waiting requests. For use while
   * the response is being sent: a failure would cut it, and its memory can be taken for other responses.
   */
  readWhileSending: AccountServices['read'];
  /** Charges the bytes of a streamed response to the client. Other responses are charged automatically. */
  sent(request: Pick<AccountRequest, 'client'>, bytes: number): void;
  /**
   * Returns null and counts the request if the client may request the account now; otherwise returns the number of
   * seconds to wait.
   */
  waitFor(request: Pick<AccountRequest, 'client' | 'now'>, account: string): number | null;
  readonly lookUp: LookUp;
  readonly cursors: Cursors;
  readonly manifests: Manifests;
  readonly bounds: ExportBounds;
}

/** Options for the services. */
export interface ServiceOptions {
  readonly reading: ReadingPool;
  readonly cursors: Cursors;
  readonly budget: ClientBudget;
  readonly cost: CostBudget;
  readonly bounds: ExportBounds;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Monotonic clock in milliseconds. */
  readonly monotonic: () => number;
  /** Resolves after a number of milliseconds, or when the signal is aborted. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Bytes of memory reserved for a response that reads the store: an export page with its manifest, or an account page.
 */
const reservedBytes = 2 * 1024 * 1024;

/** `Retry-After` in seconds if unsent responses have used up the memory limit. */
const unsentRetrySeconds = 5;

/** Creates the services that all routes share: store reads, budgets, cursors and manifests. */
export function createServices(options: ServiceOptions): AccountServices {
  const { reading, cursors, budget, cost, bounds, clock, monotonic, pause = pauseFor } = options;
  const untilReceived = createBehindWait(monotonic, pause);
  const patiently = createPatience({ maxPauses: maxWaiting, clock, pause });
  const whileSending = createPatience({ maxPauses: Number.POSITIVE_INFINITY, clock, pause });
  const services: AccountServices = {
    async read({ client, gone, reserve }, account, work) {
      if (gone.aborted) throw new StoreBusy('left', 1);
      const wait = cost.waitFor(client, clock());
      if (wait !== null) throw new BudgetSpent(wait);
      const onCost = (readMs: number): void => cost.charge(client, { readMs }, clock());
      const turn = { client, signal: gone, onCost, ...(account === null ? {} : { account }) };
      const run = () =>
        reading.run(turn, (store) => {
          // Reserve memory inside the turn, so that waiting requests hold none, but before the turn reads any data.
          if (!reserve(reservedBytes)) throw new MemoryRefused(unsentRetrySeconds);
          return work(store);
        });
      const found = await untilReceived(run, gone);
      // Do not render a page for a client that has disconnected: rendering costs more than reading the data.
      if (gone.aborted) throw new StoreBusy('left', 1);
      return found;
    },
    readPatiently: (request, account, work) =>
      patiently(() => services.read(request, account, work), request.gone, request.now + maxSilenceMs),
    readWhileSending: (request, account, work) =>
      whileSending(() => services.read(request, account, work), request.gone, Number.POSITIVE_INFINITY),
    sent: ({ client }, bytes) => cost.charge(client, { bytes }, clock()),
    waitFor: ({ client, now }, account) => budget.waitFor(client, account, now),
    lookUp: createLookUps({ cost, clock, monotonic }),
    cursors,
    manifests: rememberManifests(),
    bounds,
  };
  return services;
}

/** Maximum number of attempts for a turn while the store is busy or a standby lags. */
const maxAttempts = 5;
/** Maximum time before a response begins, in milliseconds: less than the 60 s after which nginx closes the connection. */
const maxSilenceMs = 50_000;

/** Options for the repetition of turns. */
interface PatienceOptions {
  /** Maximum number of requests that wait for an allowance at the same time. */
  readonly maxPauses: number;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}

/**
 * Creates a function that runs a turn, up to `maxAttempts` times while the store is busy or a standby lags. A wait for
 * the client's allowance does not count as an attempt, because the allowance refills. The function rejects with the
 * error of the turn after the last attempt, or at once if `maxPauses` requests already wait for an allowance, because a
 * request holds memory for its response meanwhile. It also rejects with this error if the next pause would end after
 * `until`, and with `StoreBusy` if the client disconnects.
 */
function createPatience({ maxPauses, clock, pause }: PatienceOptions) {
  let pausing = 0;
  return async <T>(turn: () => Promise<T>, gone: AbortSignal, until: number): Promise<T> => {
    let attempts = 0;
    for (;;) {
      try {
        return await turn();
      } catch (error) {
        const seconds = pauseSecondsAfter(error);
        const isSpent = error instanceof BudgetSpent;
        if (!isSpent) attempts += 1;
        if (seconds === null || attempts === maxAttempts || (isSpent && pausing >= maxPauses)) throw error;
        if (clock() + seconds * 1000 > until) throw error;
        if (isSpent) pausing += 1;
        try {
          await pause(seconds * 1000, gone);
        } finally {
          if (isSpent) pausing -= 1;
        }
        if (gone.aborted) throw new StoreBusy('left', 1);
      }
    }
  };
}

/** Returns the number of seconds after which a turn that failed may be repeated, or null if it must not be repeated. */
function pauseSecondsAfter(error: unknown): number | null {
  if (error instanceof BudgetSpent || error instanceof StoreBusy) return error.retryAfterSeconds;
  return error instanceof StoreBehind ? behindRetrySeconds : null;
}

/** Maximum time that a request waits for a standby to receive the data up to the requested end, in milliseconds. */
const maxBehindMs = 2_000;
/** Delay before the second attempt, in milliseconds. It doubles with each attempt, up to `maxPauseMs`. */
const firstPauseMs = 50;
/** Maximum delay between two attempts, in milliseconds. */
const maxPauseMs = 400;
/** Maximum number of requests that wait at the same time; fewer than the memory for responses allows. */
const maxWaiting = 16;

/**
 * Creates a function that runs a turn, and repeats it while the store throws `behind`. It rejects with `StoreBehind`
 * after `maxBehindMs`, or at once if `maxWaiting` requests are already waiting. A request waits between turns, so that
 * it does not occupy a reading process. The wait ends with `StoreBusy` if the client disconnects. `monotonic` returns a
 * monotonic clock in milliseconds; `pause` resolves after a number of milliseconds, or when the signal is aborted.
 */
export function createBehindWait(monotonic: () => number, pause = pauseFor) {
  let waiting = 0;

  async function repeated<T>(turn: () => Promise<T>, gone: AbortSignal): Promise<T> {
    const until = monotonic() + maxBehindMs;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      const left = until - monotonic();
      if (left <= 0) throw new StoreBehind();
      await pause(Math.min(pauseMs, left), gone);
      if (gone.aborted) throw new StoreBusy('left', 1);
      try {
        return await turn();
      } catch (error) {
        if (!isBehind(error)) throw error;
      }
    }
  }

  return async <T>(turn: () => Promise<T>, gone: AbortSignal): Promise<T> => {
    try {
      return await turn();
    } catch (error) {
      if (!isBehind(error)) throw error;
    }
    if (waiting >= maxWaiting) throw new StoreBehind();
    waiting += 1;
    try {
      return await repeated(turn, gone);
    } finally {
      waiting -= 1;
    }
  };
}

function isBehind(error: unknown): boolean {
  return error instanceof StoreError && error.code === 'behind';
}

function pauseFor(ms: number, signal: AbortSignal): Promise<void> {
  return delay(ms, undefined, { signal }).catch(() => undefined);
}

/** Error for a request whose data a standby did not receive within the time limit. */
class StoreBehind extends Error {
  constructor() {
    super('the standby has not received all data up to the requested end yet');
    this.name = 'StoreBehind';
  }
}

/** `Retry-After` in seconds if the store cannot be read now, for example because it does not exist yet or is locked. */
const storeRetrySeconds = 5;

/** `Retry-After` in seconds if a standby has not received all data up to the requested end. */
const behindRetrySeconds = 2;

/**
 * Returns the error response for an error of a route. Calls `alarm` with errors that are bugs of this program or need
 * the operator.
 */
export function refusalOf(error: unknown, alarm: (error: unknown) => void): RouteRefusal {
  const refusal = readRefusal(error);
  if (refusal === null || (error instanceof StoreError && error.fatal)) alarm(error);
  return refusal ?? { code: 'internal_error' };
}

/** Error response for a request that failed. */
interface RouteRefusal {
  readonly code: Extract<
    AccountErrorCode,
    'client_budget' | 'store_busy' | 'store_behind' | 'snapshot_expired' | 'export_too_large' | 'internal_error'
  >;
  readonly retryAfterSeconds?: number;
}

/** Returns the error response for an error of a read, or null if the error is a bug in this program. */
function readRefusal(error: unknown): RouteRefusal | null {
  if (error instanceof BudgetSpent) return { code: 'client_budget', retryAfterSeconds: error.retryAfterSeconds };
  if (error instanceof StoreBusy) return { code: 'store_busy', retryAfterSeconds: error.retryAfterSeconds };
  if (error instanceof StoreBehind) return { code: 'store_behind', retryAfterSeconds: behindRetrySeconds };
  if (!(error instanceof StoreError)) return null;
  switch (error.code) {
    case 'out_of_window':
      // The start of the retained window moved between two reads, so the requested rows have been removed.
      return { code: 'snapshot_expired' };
    case 'budget_exceeded':
      return { code: 'export_too_large' };
    default:
      return storeFaultOf(error) === null ? null : { code: 'store_busy', retryAfterSeconds: storeRetrySeconds };
  }
}

import { inputLimits } from '../../input/limits.ts';
import type { AddressPolicy, Resolve } from '../../network/guard/address-policy.ts';
import type { HttpClient, TextAnswer } from '../../network/http/http.ts';
import {
  type DirectoryOperation,
  parseDirectoryExport,
  parseDirectoryOperation,
} from '../../network/identity/did-document.ts';
import { createBackoff } from '../../network/websocket/backoff.ts';
import { ConnectError, type GuardedSocket, openSocket } from '../../network/websocket/websocket.ts';
import { errorFields, type Log } from '../../ops/log.ts';

/** The end of a connection to the directory. */
type SocketEnd = Awaited<GuardedSocket['closed']>;

/** Dependencies of `DirectoryStream`. */
interface DirectoryStreamOptions {
  /** Address of the did:plc directory; only a primary directory has the stream. */
  readonly directory: string;
  readonly policy: AddressPolicy;
  /** User agent that is sent with every handshake. */
  readonly userAgent: string;
  readonly resolve: Resolve;
  /** Client for the paged export, which is read when the position is older than the stream's window. */
  readonly http: Pick<HttpClient, 'getText'>;
  readonly random: () => number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly log: Log;
  readonly onOperation: (operation: DirectoryOperation) => void;
  /** Position at the end of the last run, or null to begin with the next operation. */
  readonly position: number | null;
  /**
   * Maximum numbers of messages and of bytes that are read in one second. The defaults are 1,000 and 4 MB, a hundred
   * times the rate of a busy day.
   */
  readonly maxPerSecond?: { readonly messages: number; readonly bytes: number };
}

/** Reasons in the close frame of a directory that closes the stream. The close code is 1000 for every reason. */
const closeNames = ['FutureCursor', 'OutdatedCursor', 'ConsumerTooSlow'] as const;
/** Number of consecutive export runs without a new operation after which the position is discarded. */
const maxEmptyRuns = 10;
/** Wait before the next request to a host without the stream, such as a replica, in milliseconds. */
const noStreamMs = 3_600_000;
/** Maximum wait that a failed export can request, in milliseconds. */
const maxRetryMs = 3_600_000;
/**
 * Time in milliseconds after which a position is discarded if the export keeps failing. New labelers are then read from
 * the stream; other discovery sources name most of the labelers that were missed.
 */
const maxFailingMs = 6 * 3_600_000;

/** Follower of the export stream of a did:plc directory. */
export class DirectoryStream {
  /** Position to resume from: every operation up to this position was delivered. Null before the first operation. */
  position: number | null;
  readonly #options: DirectoryStreamOptions;
  readonly #maxPerSecond: { readonly messages: number; readonly bytes: number };
  readonly #second = { messages: 0, bytes: 0, isOver: false };
  #socket: GuardedSocket | null = null;
  #hasFailed = false;
  /** Number of export runs without a new operation since the last operation of the export or of the stream. */
  #emptyRuns = 0;
  /** Time that the reader has waited since the first of consecutive failures of the export, in milliseconds. */
  #failingMs = 0;
  /** State of the export, so that the log reports each change once. */
  #export: 'unused' | 'read' | 'failed' = 'unused';

  constructor(options: DirectoryStreamOptions) {
    this.#options = options;
    this.#maxPerSecond = options.maxPerSecond ?? { messages: 1_000, bytes: 4_000_000 };
    this.position = options.position;
  }

  /**
   * Follows the stream until the signal aborts, and reconnects as often as necessary. A failed connection does not
   * reject the promise.
   */
  async run(signal: AbortSignal): Promise<void> {
    const { random, wait, log } = this.#options;
    const patience = createBackoff({ firstMs: 1_000, capMs: 60_000, random });
    while (!signal.aborted) {
      const before = this.position;
      let minMs = 500;
      try {
        minMs = Math.max(minMs, await this.#judgeClose(await this.#readOnce(signal), signal));
        if (this.position !== before) patience.reset();
      } catch (error) {
        if (signal.aborted) return;
        if (!(error instanceof ConnectError)) throw error;
        if (hasNoStream(error)) minMs = noStreamMs;
        log.debug('the event stream of the did:plc directory cannot be read', { why: error.message });
      }
      const waitMs = minMs + patience.next();
      if (this.#export === 'failed') this.#failingMs += waitMs;
      await wait(waitMs, signal);
    }
  }

  /**
   * Reads one message of the stream. Catches all errors, because the callback of a socket must not throw and an
   * invalid message must not affect later messages.
   */
  #read(data: Buffer, signal: AbortSignal): void {
    const second = this.#second;
    second.messages += 1;
    second.bytes += data.length;
    const { messages, bytes } = this.#maxPerSecond;
    if (second.messages >= messages || second.bytes >= bytes) void this.#pause(signal);
    this.#pass(() => parseDirectoryOperation(data, { allowHttp: this.#options.policy.allowLoopback }));
  }

  #pass(parse: () => DirectoryOperation | null): void {
    const { log, onOperation } = this.#options;
    try {
      const operation = parse();
      if (operation === null) return;
      onOperation(operation);
      // Store the last position and not the largest one, so that one implausibly large number does not hide later
      // operations.
      this.position = operation.seq;
      this.#emptyRuns = 0;
    } catch (error) {
      if (!this.#hasFailed) log.warn('an operation of the did:plc directory could not be read', errorFields(error));
      this.#hasFailed = true;
    }
  }

  /**
   * Stops reading for the rest of the second after the maximum number of messages or bytes. A live stream rarely
   * reaches the maximum; a flood does. The directory buffers a few hundred messages for a client, and closes the stream
   * of a client that falls further behind.
   */
  async #pause(signal: AbortSignal): Promise<void> {
    const second = this.#second;
    if (second.isOver) return;
    second.isOver = true;
    this.#socket?.pause();
    await this.#options.wait(1_000, signal);
    Object.assign(second, { messages: 0, bytes: 0, isOver: false });
    this.#socket?.resume();
  }

  /** Reads one connection until it closes, and returns the close code and reason. */
  async #readOnce(signal: AbortSignal): Promise<SocketEnd> {
    const { directory, policy, userAgent, resolve } = this.#options;
    const socket = await openSocket(
      {
        ...{ url: streamUrl(directory, this.position), policy, userAgent, resolve },
        handshakeMs: 20_000,
        closeMs: 2_000,
        closeNames,
        maxFrameBytes: inputLimits.directoryOperation.bytes,
        pingMs: 30_000,
        pongMs: 20_000,
        idleMs: 3_600_000,
        partialMs: 30_000,
        onFrame: (data) => this.#read(data, signal),
      },
      signal,
    );
    this.#socket = socket;
    // Pause if the first messages exceeded the rate before the socket was known.
    if (this.#second.isOver) socket.pause();
    const info = await socket.closed;
    this.#socket = null;
    return info;
  }

  /**
   * Handles the end of a connection: reads the paged export if the position is too old, and discards a position that
   * the directory rejects. Returns the minimum wait before the next connection, in milliseconds.
   */
  async #judgeClose(info: SocketEnd, signal: AbortSignal): Promise<number> {
    const name = info.reason === 'remote_close' ? info.name : undefined;
    if (name === 'OutdatedCursor' && this.position !== null) return this.#catchUp(this.position, signal);
    this.#export = 'unused';
    if (name === 'FutureCursor' || name === 'OutdatedCursor') this.#giveUpPosition(name);
    return 0;
  }

  /**
   * Reads operations that are older than the stream's window from the paged export. The position moves with each
   * operation, so that the next connection or the next process continues from there. The caller tries the stream
   * again after each run. Discards the position if the directory has no export, if 10 consecutive runs return no new
   * operation, or once the export has failed for 6 hours. Returns the wait that the directory requested, at most an
   * hour, in milliseconds.
   */
  async #catchUp(position: number, signal: AbortSignal): Promise<number> {
    const { directory, http, policy, wait, log } = this.#options;
    if (this.#export === 'unused')
      log.info(
        'the stored cursor is too old for the stream of the did:plc directory; its paged export is read instead',
      );
    const onOperation = (operation: DirectoryOperation): void => this.#pass(() => operation);
    const options = { directory, http, allowHttp: policy.allowLoopback, wait, onOperation };
    const result = await readDirectoryExport(options, position, signal);
    if (signal.aborted) return 0;
    if (result.kind === 'failed') {
      const { why, retryAfterMs } = result;
      if (this.#export !== 'failed')
        log.warn('the paged export of the did:plc directory cannot be read; the stored cursor of its stream is kept', {
          why,
        });
      this.#export = 'failed';
      if (this.#failingMs >= maxFailingMs) this.#giveUpPosition(why);
      return Math.min(retryAfterMs ?? 0, maxRetryMs);
    }
    this.#export = 'read';
    this.#failingMs = 0;
    if (this.position === position) this.#emptyRuns += 1;
    if (result.kind === 'absent' || this.#emptyRuns >= maxEmptyRuns) this.#giveUpPosition('OutdatedCursor');
    return 0;
  }

  /** Discards a position that can no longer be resumed; the stream then begins with the next operation. */
  #giveUpPosition(why: string): void {
    this.#options.log.warn(
      "the stored cursor of the did:plc directory's stream was discarded; labelers that were declared after that cursor may be missing",
      { why },
    );
    this.position = null;
    this.#emptyRuns = 0;
    this.#failingMs = 0;
    this.#export = 'unused';
  }
}

function streamUrl(directory: string, position: number | null): string {
  const url = new URL(`${directory.replace(/\/+$/, '')}/export/stream`);
  url.protocol = url.protocol === 'http:' ? 'ws:' : 'wss:';
  if (position !== null) url.searchParams.set('cursor', String(position));
  return url.href;
}

function hasNoStream({ status }: ConnectError): boolean {
  return status !== null && ((status >= 400 && status < 500 && status !== 429) || status === 501 || status === 200);
}

/** Maximum number of operations that the directory serves in one page. */
const maxCount = 1_000;
/** Minimum number of operations per page; a page of this many operations of maximum size is within the byte limit. */
const minCount = 50;
/**
 * Maximum number of pages per run. The reader then tries the stream again, because its position may be within the
 * stream's window by then.
 */
const pagesPerRun = 60;
/**
 * Interval between requests for pages, in milliseconds: at most 1,000 operations a second, the same rate as for the
 * stream.
 */
const intervalMs = 1_000;
const timeoutMs = 30_000;
/** HTTP statuses of a directory that does not serve the export. */
const absentStatuses: ReadonlySet<number> = new Set([404, 405, 410, 501]);

/** Dependencies of `readDirectoryExport`. */
interface DirectoryExportOptions {
  readonly directory: string;
  readonly http: Pick<HttpClient, 'getText'>;
  readonly allowHttp: boolean;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Called for each operation in order. The export can be resumed from the `seq` of the operation. */
  readonly onOperation: (operation: DirectoryOperation) => void;
}

/**
 * Result of a run. `read`: the run read some pages, or all pages up to the newest operation. `failed`: a later run may
 * succeed; `retryAfterMs` is the unbounded wait that the directory requested. `absent`: the directory does not serve
 * these pages.
 */
type ExportRun =
  | { readonly kind: 'read' }
  | { readonly kind: 'failed'; readonly why: string; readonly retryAfterMs: number | null }
  | { readonly kind: 'absent' };

/**
 * Reads the paged export after a position, at a bounded rate, up to the newest operation or the maximum number of
 * pages. Never rejects. Source: did:plc v0.3.0, `GET /export?after=SEQ&count=`.
 */
async function readDirectoryExport(
  options: DirectoryExportOptions,
  position: number,
  signal: AbortSignal,
): Promise<ExportRun> {
  const { http, allowHttp, wait, onOperation } = options;
  let after = position;
  let count = maxCount;
  for (let page = 0; page < pagesPerRun && !signal.aborted; page += 1) {
    if (page > 0) await wait(intervalMs, signal);
    const limits = { maxBytes: inputLimits.directoryExport.bytes, timeoutMs, signal };
    const answer = await http.getText(exportUrl(options.directory, after, count), limits);
    if (answer.kind === 'too_large' && count > minCount) {
      count = Math.max(minCount, Math.floor(count / 4));
      continue;
    }
    if (answer.kind !== 'text') return failureOf(answer);
    const { lines, operations } = parseDirectoryExport(answer.text, { maxLines: count, allowHttp });
    const rising = operations.filter(({ seq }) => seq > after);
    for (const operation of rising) onOperation(operation);
    if (lines < count) return { kind: 'read' };
    const last = rising.at(-1);
    // End the run at a page that does not advance the position, because the next request would return the same page.
    if (last === undefined) return { kind: 'read' };
    after = last.seq;
  }
  return { kind: 'read' };
}

function exportUrl(directory: string, after: number, count: number): string {
  return `${directory.replace(/\/+$/, '')}/export?after=${after}&count=${count}`;
}

/**
 * Converts a response without a page to the result of the run. Counts any status outside `absentStatuses` as a failure,
 * because a cache or a firewall in front of the directory may refuse requests for some time.
 */
function failureOf(answer: Exclude<TextAnswer, { kind: 'text' }>): ExportRun {
  if (answer.kind !== 'status') return { kind: 'failed', why: answer.kind, retryAfterMs: null };
  if (absentStatuses.has(answer.status)) return { kind: 'absent' };
  return { kind: 'failed', why: `status ${answer.status}`, retryAfterMs: answer.retryAfterMs };
}

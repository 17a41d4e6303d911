import { inputLimits } from '../../input/limits.ts';
import type { AddressPolicy, Resolve } from '../../network/guard/address-policy.ts';
import { type DirectoryOperation, parseDirectoryOperation } from '../../network/identity/directory-operation.ts';
import { createBackoff } from '../../network/websocket/backoff.ts';
import { ConnectError } from '../../network/websocket/connect-error.ts';
import { type CloseInfo, type GuardedSocket, openSocket } from '../../network/websocket/websocket.ts';
import { errorFields, type Log } from '../../ops/log.ts';

/** Dependencies of following the directory's export stream. */
export interface DirectoryStreamOptions {
  /** Address of the did:plc directory; only a primary one has the stream. */
  readonly directory: string;
  readonly policy: AddressPolicy;
  /** Sent with every handshake. */
  readonly userAgent: string;
  readonly resolve: Resolve;
  readonly random: () => number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly log: Log;
  readonly onOperation: (operation: DirectoryOperation) => void;
  /** Position at the end of the last run; null to begin with the next operation. */
  readonly position: number | null;
  /** Most messages and bytes that are read in one second; by default 1,000 and 4 MB, a hundred times a busy day's rate. */
  readonly maxPerSecond?: { readonly messages: number; readonly bytes: number };
}

/** Follows the export stream of a did:plc directory. */
export interface DirectoryStream {
  /** Position to resume from: every operation up to it was passed on. Null before the first. */
  readonly position: number | null;
  /** Follows the stream until the signal aborts, and reconnects as often as necessary. Never rejects. */
  run(signal: AbortSignal): Promise<void>;
}

/** Names with which a directory closes the stream; the code is 1000 for each. */
const closeNames = ['FutureCursor', 'OutdatedCursor', 'ConsumerTooSlow'] as const;
/** Wait after a host that has no such stream, as a replica, in milliseconds. */
const noStreamMs = 3_600_000;

/** Makes a follower that is not yet connected. */
export function followDirectory(options: DirectoryStreamOptions): DirectoryStream {
  const { policy, wait, log, onOperation } = options;
  const { maxPerSecond = { messages: 1_000, bytes: 4_000_000 } } = options;
  let { position } = options;
  let hasFailed = false;
  let socket: GuardedSocket | null = null;
  const second = { messages: 0, bytes: 0, isOver: false };

  /** A socket's callback must not throw: the following messages are read whatever this one contains. */
  function read(data: Buffer, signal: AbortSignal): void {
    second.messages += 1;
    second.bytes += data.length;
    if (second.messages >= maxPerSecond.messages || second.bytes >= maxPerSecond.bytes) void pause(signal);
    try {
      const operation = parseDirectoryOperation(data, { allowHttp: policy.allowLoopback });
      if (operation === null) return;
      onOperation(operation);
      // The newest, not the largest: a number that the directory takes back must not hide those that follow.
      position = operation.seq;
    } catch (error) {
      if (!hasFailed) log.warn('an operation of the directory could not be read', errorFields(error));
      hasFailed = true;
    }
  }

  /**
   * Stops reading for a second after so many messages, however long they took: a live stream hardly notices, and a flood
   * is bounded. The directory keeps a few hundred messages, and closes the stream beyond that.
   */
  async function pause(signal: AbortSignal): Promise<void> {
    if (second.isOver) return;
    second.isOver = true;
    socket?.pause();
    await wait(1_000, signal);
    Object.assign(second, { messages: 0, bytes: 0, isOver: false });
    socket?.resume();
  }

  /** Reads one connection to its end. */
  async function readOnce(signal: AbortSignal): Promise<CloseInfo> {
    socket = await openSocket(
      {
        url: streamUrl(options.directory, position),
        policy,
        userAgent: options.userAgent,
        resolve: options.resolve,
        handshakeMs: 20_000,
        closeMs: 2_000,
        closeNames,
        maxFrameBytes: inputLimits.directoryOperation.bytes,
        pingMs: 30_000,
        pongMs: 20_000,
        idleMs: 3_600_000,
        partialMs: 30_000,
        onFrame: (data) => read(data, signal),
      },
      signal,
    );
    // The first messages may have exceeded the rate before there was a socket to pause.
    if (second.isOver) socket.pause();
    const info = await socket.closed;
    socket = null;
    return info;
  }

  /** Gives up a position that the directory does not accept; the stream then begins with the next operation. */
  function judgeClose(info: CloseInfo): void {
    const name = info.reason === 'remote_close' ? info.name : undefined;
    if (name !== 'FutureCursor' && name !== 'OutdatedCursor') return;
    log.warn(
      'the directory does not accept the position in its stream: labelers that it named meanwhile may be missing',
      {
        why: name,
      },
    );
    position = null;
  }

  return {
    get position() {
      return position;
    },
    async run(signal) {
      const patience = createBackoff({ firstMs: 1_000, capMs: 60_000, random: options.random });
      while (!signal.aborted) {
        const before = position;
        let leastMs = 500;
        try {
          judgeClose(await readOnce(signal));
          if (position !== before) patience.reset();
        } catch (error) {
          if (signal.aborted) return;
          if (!(error instanceof ConnectError)) throw error;
          if (hasNoStream(error)) leastMs = noStreamMs;
          log.debug('the stream of the directory cannot be read', { why: error.message });
        }
        await wait(leastMs + patience.next(), signal);
      }
    },
  };
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

import { once } from 'node:events';
import { WebSocket } from 'ws';
import { metricNames } from '../../sim/events/metrics.ts';
import { type ParsedFrame, parseFrame } from '../../sim/events/parsed.ts';
import type { Counts } from '../../sim/truth.ts';

/** Maximum wait for expected frames, in milliseconds. */
const patienceMs = 120_000;

/** A websocket client that stores every frame: of the events as text, and of labels decoded. */
export interface Consumer<F = string> {
  readonly socket: WebSocket;
  readonly frames: F[];
  /** Resolves when the given number of frames has arrived. Rejects if the frames do not arrive within 120 seconds. */
  received(count: number): Promise<void>;
  /** Resolves with the close code once the socket is closed. */
  readonly closed: Promise<number>;
  close(): Promise<void>;
}

/** Opens a subscription of events. Resolves after the handshake. */
export function subscribe(
  url: string,
  query: Record<string, string | readonly string[]> = {},
  protocols: readonly string[] = [],
): Promise<Consumer> {
  const target = new URL(url);
  for (const [name, values] of Object.entries(query)) {
    for (const value of [values].flat()) target.searchParams.append(name, value);
  }
  return consume(target, (data) => data.toString(), protocols);
}

/** Opens a subscription and stores what `read` makes of each frame. Resolves after the handshake. */
export async function consume<F>(
  target: URL,
  read: (data: Buffer) => F,
  protocols: readonly string[] = [],
): Promise<Consumer<F>> {
  const socket = new WebSocket(target, [...protocols], { perMessageDeflate: false, maxPayload: 64 * 1024 * 1024 });
  const frames: F[] = [];
  let heard = (): void => undefined;
  socket.on('message', (data: Buffer) => {
    frames.push(read(data));
    heard();
  });
  socket.on('error', () => undefined);
  // Not `once`, whose promise an error rejects: the caller of a refused handshake has no promise to handle.
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  await once(socket, 'open');
  return {
    socket,
    frames,
    closed,
    received: (count) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(
          () => reject(new Error(`${frames.length} of the ${count} expected frames arrived`)),
          patienceMs,
        );
        heard = () => {
          if (frames.length < count) return;
          clearTimeout(late);
          resolve();
        };
        heard();
      }),
    async close() {
      socket.terminate();
      await closed;
    },
  };
}

/** Opens a subscription that must be refused. Returns the HTTP status. */
export async function refusal(url: string): Promise<number> {
  const socket = new WebSocket(url);
  socket.on('error', () => undefined);
  const [, response] = await once(socket, 'unexpected-response');
  socket.terminate();
  return (response as { statusCode: number }).statusCode;
}

/** Parses each frame completely. */
export function parsed(frames: readonly string[]): ParsedFrame[] {
  return frames.map(parseFrame);
}

/** Returns the `time_us` of each frame. */
export function times(frames: readonly string[]): (number | null)[] {
  return frames.map((frame) => parseFrame(frame).timeUs);
}

/** Counts the events in frames by parsing them completely. The network's record must contain the same counts. */
export function countsOf(frames: readonly string[]): Counts {
  const metrics = Object.fromEntries(metricNames.map((name) => [name, 0])) as Record<
    (typeof metricNames)[number],
    number
  >;
  const outcomes = { event: 0, not_json: 0, no_time: 0, resync: 0 };
  for (const { species } of parsed(frames)) {
    outcomes[species.outcome] += 1;
    for (const name of species.metrics) metrics[name] += 1;
  }
  const { event: events, not_json: notJson, no_time: noTime, resync } = outcomes;
  return { events, notJson, noTime, resync, metrics };
}

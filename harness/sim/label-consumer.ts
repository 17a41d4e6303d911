import { once } from 'node:events';
import { decodeFirst, fromBytes, isBytes } from '@atcute/cbor';
import { WebSocket } from 'ws';
import { manualClock } from '../../sim/clock.ts';
import { createSim, type Sim, type SimAddresses, type SimOptions } from '../../sim/index.ts';
import type { Labeler } from '../../sim/labelers/labeler.ts';

/** Maximum wait for expected data, in milliseconds. */
const patienceMs = 30_000;

/** A label as received by stream or poll, with its signature as bytes. */
export type ReadLabel = Readonly<Record<string, unknown>>;

/** A frame of `subscribeLabels`. A frame that cannot be decoded has the header `unreadable` and an empty body. */
export interface LabelFrame {
  readonly header: unknown;
  readonly body: { readonly seq?: number; readonly labels?: readonly ReadLabel[] } & Record<string, unknown>;
}

/** A client of a labeler's stream that stores every frame. */
export interface LabelConsumer {
  readonly socket: WebSocket;
  readonly frames: LabelFrame[];
  /** Resolves when the given number of frames has arrived. Rejects if the frames do not arrive within 30 seconds. */
  received(count: number): Promise<void>;
  /** Resolves with the close code once the socket is closed. */
  readonly closed: Promise<number>;
  close(): Promise<void>;
}

/** Opens a subscription. Resolves after the handshake. */
export async function subscribeLabels(endpoint: string, cursor?: number): Promise<LabelConsumer> {
  const target = `${endpoint.replace('http', 'ws')}/xrpc/com.atproto.label.subscribeLabels`;
  const socket = new WebSocket(cursor === undefined ? target : `${target}?cursor=${cursor}`, {
    perMessageDeflate: false,
  });
  const frames: LabelFrame[] = [];
  let heard = (): void => undefined;
  socket.on('message', (data: Buffer) => {
    frames.push(readFrame(data));
    heard();
  });
  socket.on('error', () => undefined);
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

/** Returns the labels in stream frames, each with the `seq` of its frame. */
export function labelsOf(frames: readonly LabelFrame[]): { seq: number | undefined; label: ReadLabel }[] {
  return frames.flatMap(({ body }) => (body.labels ?? []).map((label) => ({ seq: body.seq, label })));
}

/** A response to `queryLabels`. */
export interface LabelPage {
  readonly status: number;
  readonly body: { readonly cursor?: string; readonly labels: readonly ReadLabel[] };
}

/** Requests a page of `queryLabels`; returns the response's status and parsed body. */
export async function queryLabels(endpoint: string, params: Record<string, string> = {}): Promise<LabelPage> {
  const query = new URLSearchParams({ uriPatterns: '*', ...params });
  const response = await fetch(`${endpoint}/xrpc/com.atproto.label.queryLabels?${query}`);
  return { status: response.status, body: (await response.json()) as LabelPage['body'] };
}

/**
 * Returns the bytes of a label's signature, whichever transport delivered the label. Throws if the label has no
 * signature.
 */
export function signatureOf(label: ReadLabel): Uint8Array<ArrayBuffer> {
  const { sig } = label;
  if (!isBytes(sig)) throw new Error('the label has no signature');
  return new Uint8Array(fromBytes(sig));
}

function readFrame(data: Buffer): LabelFrame {
  try {
    const [header, rest] = decodeFirst(data);
    const [body] = decodeFirst(rest);
    return { header, body };
  } catch {
    return { header: 'unreadable', body: {} };
  }
}

/** A simulated network whose first two labelers run Ozone and skyware. */
export interface LabelSim {
  readonly sim: Sim;
  readonly addresses: SimAddresses;
  readonly ozone: Labeler;
  readonly skyware: Labeler;
  /** Advances the clock and sends the new data to all consumers. */
  pass(seconds: number): void;
}

/** Start time of every network that `startLabelSim` starts, in milliseconds since 1970. */
export const startMs = Date.UTC(2026, 6, 4);

/** Starts a small network whose clock the test advances. */
export async function startLabelSim(options: SimOptions = {}): Promise<LabelSim> {
  const clock = manualClock(startMs);
  const sim = createSim({
    seed: 7,
    rate: 10,
    historyHours: 1,
    labelers: 2,
    labelRate: 1,
    clock: clock.now,
    ...options,
  });
  const addresses = await sim.start();
  const [ozone, skyware] = sim.labelers.list;
  if (!ozone || !skyware) throw new Error('at least two labelers are required');
  return {
    sim,
    addresses,
    ozone,
    skyware,
    pass(seconds) {
      clock.advance(seconds * 1000);
      sim.pump();
    },
  };
}

/** Reads pages until one is empty or has no cursor. Resolves with all labels. */
export async function readAll(endpoint: string, limit = 250): Promise<ReadLabel[]> {
  const labels: ReadLabel[] = [];
  for (let cursor: string | undefined; ; ) {
    const { body } = await queryLabels(endpoint, { limit: String(limit), ...(cursor ? { cursor } : {}) });
    labels.push(...body.labels);
    if (body.labels.length === 0 || body.cursor === undefined) return labels;
    cursor = body.cursor;
  }
}

import { decodeFirst, fromBytes, isBytes } from '@atcute/cbor';
import { manualClock } from '../../sim/clock.ts';
import { createSim, type Sim, type SimAddresses, type SimOptions } from '../../sim/index.ts';
import type { Labeler } from '../../sim/labelers/labeler.ts';
import { type Consumer, consume } from './consumer.ts';

/** A label as received by stream or poll, with its signature as bytes. */
export type ReadLabel = Readonly<Record<string, unknown>>;

/** A frame of `subscribeLabels`. A frame that cannot be decoded has the header `unreadable` and an empty body. */
interface LabelFrame {
  readonly header: unknown;
  readonly body: { readonly seq?: number; readonly labels?: readonly ReadLabel[] } & Record<string, unknown>;
}

/** Opens a subscription of labels. Resolves after the handshake. */
export function subscribeLabels(endpoint: string, cursor?: number): Promise<Consumer<LabelFrame>> {
  const target = new URL('/xrpc/com.atproto.label.subscribeLabels', endpoint.replace('http', 'ws'));
  if (cursor !== undefined) target.searchParams.set('cursor', String(cursor));
  return consume(target, readFrame);
}

/** Returns the labels in stream frames, each with the `seq` of its frame. */
export function labelsOf(frames: readonly LabelFrame[]): { seq: number | undefined; label: ReadLabel }[] {
  return frames.flatMap(({ body }) => (body.labels ?? []).map((label) => ({ seq: body.seq, label })));
}

/** A response to `queryLabels`. */
interface LabelPage {
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

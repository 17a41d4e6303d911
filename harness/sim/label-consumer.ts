import { once } from 'node:events';
import { decodeFirst, fromBytes, isBytes } from '@atcute/cbor';
import { WebSocket } from 'ws';

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

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { declaration } from '../declarations.ts';

/** Interval at which consumers receive new events, in milliseconds. */
const tickMs = 100;
/** Maximum number of frames per tick. A real network could not send more. */
const maxFramesPerTick = 500;
/** Maximum number of unsent bytes per consumer. Further frames are dropped. */
const waitingBytes = 8 * 1024 * 1024;

const collection = 'app.bsky.labeler.service';

/**
 * A regular Jetstream that carries the records of hostile accounts. It also sends an event every second, so that
 * consumers do not time out.
 */
export class HostileJetstream {
  readonly #now: () => number;
  readonly #announcements: () => readonly string[];
  readonly #server = createServer((_, response) => response.writeHead(404).end());
  readonly #webSockets = new WebSocketServer({ server: this.#server, perMessageDeflate: false });
  readonly #consumers = new Set<WebSocket>();
  readonly #waiting: ((timeUs: number) => string)[] = [];
  #timer: NodeJS.Timeout | null = null;
  #lastUs = 0;

  /** `announcements` returns frames as text that contains `TIME_US` in place of the time. */
  constructor(now: () => number, announcements: () => readonly string[]) {
    this.#now = now;
    this.#announcements = announcements;
  }

  /** Starts listening. Resolves with the address for subscriptions. */
  start(): Promise<string> {
    this.#webSockets.on('connection', (socket) => {
      this.#consumers.add(socket);
      socket.on('error', () => socket.terminate());
      socket.once('close', () => this.#consumers.delete(socket));
    });
    let ticks = 0;
    this.#timer = setInterval(() => {
      const frames = this.#announcements().map((text) => (timeUs: number) => text.replace('TIME_US', String(timeUs)));
      if (ticks++ % 10 === 0) frames.push(accountFrame);
      this.#send([...frames, ...this.#waiting.splice(0, maxFramesPerTick)]);
    }, tickMs);
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(0, '127.0.0.1', () => {
        resolve(`ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/subscribe`);
      });
    });
  }

  /** Queues the declarations of all labelers. Each tick sends several hundred of them. */
  announceAll(dids: readonly string[]): void {
    for (const did of dids) this.#waiting.push((timeUs) => declarationText(did, timeUs));
  }

  /** Ends every connection and stops listening. */
  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    for (const socket of this.#consumers) socket.terminate();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #send(frames: readonly ((timeUs: number) => string)[]): void {
    for (const frame of frames) {
      this.#lastUs = Math.max(this.#lastUs + 1, this.#now() * 1000);
      const text = frame(this.#lastUs);
      for (const consumer of this.#consumers) if (consumer.bufferedAmount < waitingBytes) consumer.send(text);
    }
  }
}

function accountFrame(timeUs: number): string {
  const did = `did:plc:${'n'.repeat(24)}`;
  return `{"did":"${did}","time_us":${timeUs},"kind":"account","account":{"active":true,"did":"${did}","seq":1}}`;
}

function declarationText(did: string, timeUs: number): string {
  return commitText(did, JSON.stringify(declaration({ values: ['spam'] }))).replace('TIME_US', String(timeUs));
}

/** Returns a frame with a labeler's record that contains `TIME_US` in place of the time. */
export function commitText(did: string, record: string): string {
  const commit = `{"rev":"3lzzzzzzzzzzz","operation":"create","collection":"${collection}","rkey":"self","record":${record},"cid":"bafyrei${'a'.repeat(52)}"}`;
  return `{"did":"${did}","time_us":TIME_US,"kind":"commit","commit":${commit}}`;
}

/** Returns a frame with an identity change that contains `TIME_US` in place of the time. */
export function identityFrameText(did: string): string {
  return `{"did":"${did}","time_us":TIME_US,"kind":"identity","identity":{"did":"${did}","seq":1,"time":"2026-01-01T00:00:00Z"}}`;
}

import { createSocket, type Socket } from 'node:dgram';
import { type DnsRecord, readQuestion, responseCodes, writeAnswer } from './message.ts';

/** The response of a name server to queries for one name. */
export type DnsVerdict =
  | { readonly kind: 'answer'; readonly addresses: readonly string[]; readonly ttlSeconds?: number }
  /** Responds with the addresses after `delayMs` milliseconds. */
  | { readonly kind: 'slow'; readonly addresses: readonly string[]; readonly delayMs: number }
  | { readonly kind: 'never' | 'nxdomain' | 'servfail' | 'garbage' };

/** A name server on loopback UDP. Its zone determines the responses. */
export class DnsServer {
  /** Number of queries, by kind of response. */
  readonly fired = new Map<DnsVerdict['kind'], number>();
  readonly #zone: (name: string) => DnsVerdict;
  readonly #timers = new Set<NodeJS.Timeout>();
  #socket: Socket | null = null;

  constructor(zone: (name: string) => DnsVerdict) {
    this.#zone = zone;
  }

  /** Starts listening. Resolves with the port. Rejects with the system's error if the address is unavailable. */
  start(address: string, port = 0): Promise<number> {
    const socket = createSocket('udp4');
    this.#socket = socket;
    socket.on('message', (message, peer) => this.#answer(message, peer.port, peer.address));
    return new Promise((resolve, reject) => {
      socket.once('error', reject);
      socket.bind({ port, address }, () => {
        socket.off('error', reject);
        // Ignore errors: sending to a client that has closed its socket fails.
        socket.on('error', () => undefined);
        resolve(socket.address().port);
      });
    });
  }

  /** Cancels delayed responses and closes the socket. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
    const socket = this.#socket;
    this.#socket = null;
    if (socket) await new Promise<void>((resolve) => socket.close(() => resolve()));
  }

  #answer(message: Buffer, port: number, address: string): void {
    const question = readQuestion(message);
    if (question === null) return;
    const verdict = this.#zone(question.name);
    this.fired.set(verdict.kind, (this.fired.get(verdict.kind) ?? 0) + 1);
    const send = (bytes: Buffer): void => {
      this.#socket?.send(bytes, port, address, () => undefined);
    };
    switch (verdict.kind) {
      case 'answer':
        send(writeAnswer(question, responseCodes.noError, recordsOf(verdict.addresses, verdict.ttlSeconds ?? 60)));
        return;
      case 'slow': {
        const bytes = writeAnswer(question, responseCodes.noError, recordsOf(verdict.addresses, 0));
        const timer = setTimeout(() => {
          this.#timers.delete(timer);
          send(bytes);
        }, verdict.delayMs);
        this.#timers.add(timer);
        return;
      }
      case 'nxdomain':
        send(writeAnswer(question, responseCodes.noSuchName, []));
        return;
      case 'servfail':
        send(writeAnswer(question, responseCodes.serverFailure, []));
        return;
      case 'garbage':
        send(Buffer.concat([message.subarray(0, 2), Buffer.alloc(40, 0xff)]));
        return;
      case 'never':
    }
  }
}

function recordsOf(addresses: readonly string[], ttlSeconds: number): DnsRecord[] {
  return addresses.map((value) => ({ type: 'A', ttlSeconds, value }));
}

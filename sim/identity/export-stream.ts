import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';

/** Path of the paged export on a primary directory. */
export const exportPath = '/export';
/** Maximum number of operations per page. */
const maxPageRows = 1_000;
/** Path of the stream on a primary directory. */
export const exportStreamPath = '/export/stream';

/** An operation in the format of the stream. */
interface SequencedOperation {
  readonly type: 'sequenced_op';
  readonly seq: number;
  readonly did: string;
  readonly createdAt: string;
  readonly operation: unknown;
}

/** Names that the stream's close frames may contain. */
type StreamClose = 'FutureCursor' | 'OutdatedCursor' | 'ConsumerTooSlow';

/**
 * The directory's stream of operations. It sends the operations after a cursor that lies within its window, followed by
 * new operations. The paged export contains every operation.
 */
export class ExportStream {
  /** Cursors with which consumers connected, oldest first; null for a connection without a cursor. */
  readonly cursors: (number | null)[] = [];
  /** Positions from which pages of the export were requested, oldest first. */
  readonly pages: number[] = [];
  /** Number of closed streams, by the name in the close frame. */
  readonly closed = new Map<StreamClose, number>();
  readonly #operations: SequencedOperation[] = [];
  readonly #webSockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: 1_024 });
  /** Lowest position that the stream accepts as a cursor. */
  #floor = 0;
  #seq = 41_000_000;

  /** Sequence number of the newest operation. */
  get seq(): number {
    return this.#seq;
  }

  /** Appends an operation and sends it to every consumer. As in the real directory, some positions remain unused. */
  append(did: string, operation: unknown, atUs: number): void {
    this.#seq += 1 + (this.#operations.length % 3);
    const createdAt = new Date(atUs / 1000).toISOString();
    const made = { type: 'sequenced_op', seq: this.#seq, did, createdAt, operation } as const;
    this.#operations.push(made);
    for (const client of this.#webSockets.clients) client.send(JSON.stringify(made));
  }

  /** Reduces the stream's window to the newest operation, as if a week had passed. Earlier cursors become outdated. */
  forget(): void {
    this.#floor = this.#seq;
  }

  /** Returns a page of the export: the operations after a position as JSON lines, without a final newline. */
  page(after: number, count: number): string {
    this.pages.push(after);
    const rows = this.#operations.filter(({ seq }) => seq > after).slice(0, Math.min(count, maxPageRows));
    return rows.map((row) => JSON.stringify(row)).join('\n');
  }

  /** Closes every stream with the given name in the close frame. */
  close(name: StreamClose): void {
    for (const client of this.#webSockets.clients) this.#close(client, name);
  }

  /**
   * Completes the handshake of a consumer, and sends the operations after its cursor. Closes the stream if the cursor
   * is in the future or outdated.
   */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, target: URL): void {
    this.#webSockets.handleUpgrade(request, socket, head, (client) => {
      client.on('error', () => client.terminate());
      const text = target.searchParams.get('cursor');
      const cursor = text === null ? null : Number(text);
      this.cursors.push(cursor);
      if (cursor === null) return;
      if (cursor > this.#seq) this.#close(client, 'FutureCursor');
      else if (cursor < this.#floor) this.#close(client, 'OutdatedCursor');
      else for (const one of this.#operations) if (one.seq > cursor) client.send(JSON.stringify(one));
    });
  }

  #close(client: WebSocket, name: StreamClose): void {
    this.closed.set(name, (this.closed.get(name) ?? 0) + 1);
    client.close(1000, name);
  }
}

import { connect, createServer, type Socket } from 'node:net';
import { listenForTest } from '../net/listen.ts';
import type { PostgresServer } from './server.ts';

/** Error that is sent in place of the reply to a statement. */
export interface Refusal {
  readonly code: string;
  /** True if the connection ends after the error, as after a FATAL error of PostgreSQL; defaults to false. */
  readonly isFatal?: boolean;
  /**
   * True if the error follows the reply to the statement, together with it, and ends the connection: the server ends
   * connections that wait for their next statement.
   */
  readonly isAfterwards?: boolean;
  readonly message?: string;
  /** Name of the function of PostgreSQL that reports the error. */
  readonly routine?: string;
}

/** Returns the error for a statement, `close` to close the connection without one, or null to pass the statement on. */
export type Refuse = (sql: string) => Refusal | 'close' | null;

/** Argument of `Refuse` for the start of a connection. */
const startOfConnection = '(start)';

/** Returns true for the start of a connection of the store, and for the first statement of the store. */
export function isConnecting(sql: string): boolean {
  return sql === startOfConnection || sql.includes('pg_is_in_recovery() AS standby');
}

/**
 * Starts a server that passes each statement on to a PostgreSQL server, except those that `refuse` refuses. Passes one
 * statement on at a time, so that the replies keep their order. Resolves with its port.
 */
export async function refusingServer(server: PostgresServer, refuse: Refuse): Promise<number> {
  const proxy = createServer((client) => {
    const upstream = connect(`${server.socket}/.s.PGSQL.${server.client.port}`);
    upstream.on('error', () => undefined);
    client.on('close', () => upstream.destroy());
    upstream.on('close', () => client.destroy());
    new Exchange(client, upstream, refuse).start();
  });
  return (await listenForTest(proxy)).port;
}

/** Bytes that are not a complete message yet. */
class Messages {
  #bytes = Buffer.alloc(0);
  /** Size of the type in front of the length: the first message of a client has no type. */
  #typeSize: 0 | 1;

  constructor(typeSize: 0 | 1) {
    this.#typeSize = typeSize;
  }

  *of(bytes: Buffer): Generator<Buffer> {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    for (;;) {
      if (this.#bytes.length < this.#typeSize + 4) return;
      const size = this.#typeSize + this.#bytes.readInt32BE(this.#typeSize);
      if (this.#bytes.length < size) return;
      const message = this.#bytes.subarray(0, size);
      this.#bytes = this.#bytes.subarray(size);
      this.#typeSize = 1;
      yield message;
    }
  }
}

/** The messages between one client and the server. */
class Exchange {
  readonly #client: Socket;
  readonly #upstream: Socket;
  readonly #refuse: Refuse;
  /** Messages of statements that wait for the end of the preceding one. */
  readonly #waiting: Buffer[][] = [];
  /** Messages since the last complete statement. */
  #statement: Buffer[] = [];
  #isRunning = false;
  /** Error that ends the connection after the reply to the statement that is running. */
  #ending: Refusal | null = null;

  constructor(client: Socket, upstream: Socket, refuse: Refuse) {
    this.#client = client;
    this.#upstream = upstream;
    this.#refuse = refuse;
  }

  start(): void {
    const fromClient = new Messages(0);
    const fromServer = new Messages(1);
    let isStart = true;
    this.#client.on('data', (bytes) => {
      for (const message of fromClient.of(bytes)) {
        // The data of a COPY, for which the server waits.
        if (!isStart && 'dcf'.includes(typeOf(message))) {
          this.#upstream.write(message);
          continue;
        }
        this.#statement.push(message);
        // A query, the end of an extended query, and the end of the connection.
        if (!isStart && !'QSX'.includes(typeOf(message))) continue;
        isStart = false;
        this.#waiting.push(this.#statement);
        this.#statement = [];
        this.#next();
      }
    });
    this.#upstream.on('data', (bytes) => {
      const replies = [...fromServer.of(bytes)].filter((message) => typeOf(message) === 'Z');
      if (replies.length > 0 && this.#ending !== null) {
        this.#client.end(Buffer.concat([bytes, errorOf(this.#ending)]));
        this.#upstream.pause();
        return;
      }
      this.#client.write(bytes);
      if (replies.length === 0) return;
      this.#isRunning = false;
      this.#next();
    });
  }

  #next(): void {
    if (this.#isRunning) return;
    const messages = this.#waiting.shift();
    const [first] = messages ?? [];
    if (!messages || !first) return;
    const refused = typeOf(first) === 'X' ? null : this.#refuse(sqlOf(first));
    if (refused === null || (refused !== 'close' && refused.isAfterwards === true)) {
      this.#isRunning = true;
      this.#ending = refused;
      this.#upstream.write(Buffer.concat(messages));
      return;
    }
    if (refused !== 'close') this.#client.write(errorOf(refused));
    if (refused === 'close' || refused.isFatal === true) {
      this.#client.end();
      this.#upstream.destroy();
      return;
    }
    this.#client.write(Buffer.from('Z\0\0\0\u0005I', 'latin1'));
    this.#next();
  }
}

function typeOf(message: Buffer): string {
  return String.fromCharCode(message[0] ?? 0);
}

/** Returns the text of a simple query or of the first message of an extended one. */
function sqlOf(message: Buffer): string {
  const type = typeOf(message);
  if (type !== 'Q' && type !== 'P') return startOfConnection;
  const parts = message.toString('utf8', 5).split('\0');
  return (type === 'Q' ? parts[0] : parts[1]) ?? '';
}

function errorOf({
  code,
  isAfterwards = false,
  isFatal = isAfterwards,
  message = 'refused',
  routine = 'refuse',
}: Refusal): Buffer {
  const severity = isFatal ? 'FATAL' : 'ERROR';
  const fields = [`S${severity}`, `V${severity}`, `C${code}`, `M${message}`, `R${routine}`, ''];
  const body = Buffer.from(`${fields.join('\0')}\0`);
  const head = Buffer.alloc(5, 'E');
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

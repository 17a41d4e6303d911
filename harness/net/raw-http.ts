import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** One response on a connection. */
interface RawAnswer {
  readonly status: number;
  /** Headers by lower-case name. The values of repeated headers are joined. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The response without dates and connection headers, for comparisons. */
  readonly lasting: string;
}

/**
 * Splits received data into responses. `methods` lists the methods of the requests: a HEAD response has no body. Omits
 * interim responses. Throws on truncated or surplus data.
 */
export function answersIn(stream: string, methods: readonly string[] = []): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = stream; rest !== ''; ) {
    const headEnd = rest.indexOf('\r\n\r\n');
    const [line = '', ...fields] = rest.slice(0, headEnd).split('\r\n');
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(line)?.[1]);
    if (headEnd < 0 || !status) throw new Error(`no response starts here: ${JSON.stringify(rest.slice(0, 200))}`);
    const headers: Record<string, string> = {};
    for (const field of fields) {
      const name = field.slice(0, field.indexOf(':')).toLowerCase();
      headers[name] = field.slice(field.indexOf(':') + 1).trim();
    }
    // Expect a body in a response to invalid input even after HEAD, because the server did not parse the method.
    const bodiless = methods[answers.length] === 'HEAD' && !/^\{"error":\{"status":4/.test(rest.slice(headEnd + 4));
    const length = bodiless || status < 200 ? 0 : Number(headers['content-length'] ?? 0);
    const body = rest.slice(headEnd + 4, headEnd + 4 + length);
    if (body.length < length) throw new Error('the last response is truncated');
    rest = rest.slice(headEnd + 4 + length);
    const lasting = [line, ...fields.filter((field) => !/^(?:date|connection|keep-alive):/i.test(field)), body];
    if (status >= 200) answers.push({ status, headers, body, lasting: lasting.join('\n') });
  }
  return answers;
}

/**
 * Opens a connection that remains writable after the peer has ended its sending direction. Rejects if no connection
 * can be made. Errors of the open connection, such as a reset, only close it.
 */
export async function opened(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  await once(socket, 'connect');
  // Without a listener, a reset that the peer sends at any later time would end the test with an uncaught exception.
  socket.on('error', () => undefined);
  socket.setNoDelay(true);
  return socket;
}

/**
 * Sends the pieces in separate turns of the event loop. Then ends the sending direction of the connection, unless
 * `half` is false. Resolves with all received data. Rejects if the connection is reset.
 */
export async function exchange(port: number, pieces: readonly (string | Buffer)[], half = true): Promise<string> {
  const socket = await opened(port);
  const said: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => said.push(chunk));
  const over = new Promise<void>((resolve, reject) => {
    socket
      .once('end', resolve)
      .once('close', () => resolve())
      .once('error', reject);
  });
  for (const [index, piece] of pieces.entries()) {
    if (index > 0) await new Promise((resolve) => setImmediate(resolve));
    if (socket.writable) socket.write(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece);
  }
  if (half) socket.end();
  try {
    await over;
  } finally {
    socket.destroy();
  }
  return Buffer.concat(said).toString('latin1');
}

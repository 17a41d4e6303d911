import { STATUS_CODES } from 'node:http';
import { httpDate } from './headers.ts';
import { httpLimits } from './limits.ts';
import type { Reply } from './reply.ts';

/** Cache of the serialized bytes of each response: the same response may be sent many times per second. */
const written = new WeakMap<Reply, { date: string; bytes: Buffer }>();

/** Serializes a response as an HTTP/1.1 message for a persistent connection. */
export function wireBytes(reply: Reply, now: number): Buffer {
  const date = httpDate(now);
  const known = written.get(reply);
  if (known?.date === date) return known.bytes;
  const bytes = write(reply, date);
  written.set(reply, { date, bytes });
  return bytes;
}

/** Headers of persistent connections, the same as those that node:http sends. */
const persistence = `Connection: keep-alive\r\nKeep-Alive: timeout=${httpLimits.keepAliveTimeoutMs / 1000}\r\n`;

function write({ status, headers, body }: Reply, date: string): Buffer {
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\nDate: ${date}\r\n${persistence}`;
  for (let at = 0; at + 1 < headers.length; at += 2) head += `${headers[at]}: ${headers[at + 1]}\r\n`;
  const start = Buffer.from(`${head}\r\n`, 'latin1');
  return body === null ? start : Buffer.concat([start, body]);
}

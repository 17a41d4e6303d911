import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';

/** A faulty response that a regular host would not send. */
export type FaultyAnswer =
  | { readonly kind: 'status'; readonly status: number; readonly body?: 'json' | 'html' | 'none' }
  | { readonly kind: 'redirect'; readonly to: string; readonly status?: number }
  | { readonly kind: 'html' | 'broken_json' | 'wrong_shape' | 'endless' | 'zip_bomb' | 'hang' | 'reset' }
  | { readonly kind: 'drip'; readonly bytesPerSecond: number };

/** Name of a kind of faulty response. */
type FaultyKind = FaultyAnswer['kind'];

/** Names of all kinds of faulty responses. */
export const faultyKinds: readonly FaultyKind[] = [
  'status',
  'redirect',
  'html',
  'broken_json',
  'wrong_shape',
  'endless',
  'zip_bomb',
  'hang',
  'reset',
  'drip',
];

const page = '<!doctype html><html><head><title>Welcome</title></head><body><h1>It works!</h1></body></html>\n';
const json = { 'Content-Type': 'application/json; charset=utf-8' };
const html = { 'Content-Type': 'text/html; charset=utf-8' };
const errorNames: Readonly<Record<number, string>> = {
  400: 'InvalidRequest',
  401: 'AuthMissing',
  403: 'Forbidden',
  404: 'XRPCNotSupported',
  429: 'RateLimitExceeded',
  501: 'MethodNotImplemented',
};
let bomb: Buffer | null = null;

/**
 * Sends a faulty response. `reset` resets the connection, and `hang` sends nothing. The responses `endless` and `drip`
 * end only with the socket.
 */
export function answerFaultily(fault: FaultyAnswer, response: ServerResponse): void {
  switch (fault.kind) {
    case 'status': {
      const { status, body = 'json' } = fault;
      const name = errorNames[status] ?? 'InternalServerError';
      response.writeHead(status, body === 'html' ? html : json);
      response.end(
        body === 'none'
          ? ''
          : body === 'html'
            ? page
            : JSON.stringify({ error: name, message: `refused with ${status}` }),
      );
      return;
    }
    case 'redirect':
      response.writeHead(fault.status ?? 302, { Location: fault.to });
      response.end();
      return;
    case 'html':
      response.writeHead(200, html);
      response.end(page);
      return;
    case 'broken_json':
      response.writeHead(200, json);
      response.end('{"cursor":"12","labels":[{"src":"did:plc:');
      return;
    case 'wrong_shape':
      response.writeHead(200, json);
      response.end('{"cursor":12,"labels":"none"}');
      return;
    case 'zip_bomb':
      bomb ??= gzipSync(Buffer.alloc(100 * 1024 * 1024, ' '));
      response.writeHead(200, { ...json, 'Content-Encoding': 'gzip' });
      response.end(bomb);
      return;
    case 'endless':
      response.writeHead(200, json);
      response.write('{"labels":[');
      pour(response, Buffer.from('{"src":"did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"},'.repeat(1500)));
      return;
    case 'drip':
      response.writeHead(200, json);
      drip(response, fault.bytesPerSecond);
      return;
    case 'reset':
      response.socket?.resetAndDestroy();
      return;
    case 'hang':
  }
}

function pour(response: ServerResponse, chunk: Buffer): void {
  if (response.destroyed || response.closed) return;
  if (response.write(chunk)) setImmediate(() => pour(response, chunk));
  else response.once('drain', () => pour(response, chunk));
}

function drip(response: ServerResponse, bytesPerSecond: number): void {
  const timer = setInterval(() => response.write(' '), 1000 / bytesPerSecond);
  response.once('close', () => clearInterval(timer));
}

/**
 * Returns the bytes of a faulty response to a websocket handshake, `reset` if the host resets the connection, or null
 * if it stays silent.
 */
export function refusalBytes(fault: FaultyAnswer): string | 'reset' | null {
  switch (fault.kind) {
    case 'hang':
      return null;
    case 'status': {
      const body = JSON.stringify({ error: errorNames[fault.status] ?? 'InternalServerError' });
      return `HTTP/1.1 ${fault.status} Refused\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    }
    case 'redirect':
      return `HTTP/1.1 ${fault.status ?? 302} Found\r\nConnection: close\r\nLocation: ${fault.to}\r\nContent-Length: 0\r\n\r\n`;
    case 'html':
      return `HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/html\r\nContent-Length: ${page.length}\r\n\r\n${page}`;
    default:
      return 'reset';
  }
}

import { createServer } from 'node:net';
import { isObject } from '../../labels/label-fields.ts';
import { codeInWords, systemCode } from '../../ops/errors.ts';
import { type Finding, fail, ok } from './finding.ts';

/** How long a listener on this machine may take to say who it is, in milliseconds. */
const answerMs = 2_000;
/** More than a health answer or the names of some metrics take. */
const maxBytes = 1024 * 1024;

/** A port that a part of the observatory listens on. */
export interface ListenPort {
  readonly check: string;
  readonly host: string;
  readonly port: number;
  /** Where the listener tells who it is, and whether what it tells is what we would. */
  readonly path: string;
  readonly isOurs: (body: string) => boolean;
  readonly flag: string;
}

/** A port of a server, which says at `/health` which service it is. */
export function servicePort(check: string, service: string, at: Pick<ListenPort, 'host' | 'port' | 'flag'>, base = '') {
  return { check, ...at, path: `${base}/health`, isOurs: (body: string) => serviceIn(body) === service };
}

/** A port of metrics. */
export function metricsPort(part: string, port: number): ListenPort {
  const isOurs = (body: string): boolean => body.includes('almanac_process_');
  return { check: `${part} metrics`, host: '127.0.0.1', port, path: '/metrics', isOurs, flag: 'metrics-port' };
}

/** Whether the port is free, or taken by the process that it is for. Listens for an instant. */
export async function checkPort({ check, host, port, path, isOurs, flag }: ListenPort): Promise<Finding> {
  const at = `${host}:${port}`;
  const refusal = await whyNotListen(host, port);
  if (refusal === null) return ok(check, `${at} is free`);
  if (refusal === 'EACCES')
    return fail(check, `this user may not listen on ${at}`, `choose a port above 1023 with --${flag}`);
  if (refusal !== 'EADDRINUSE') {
    return fail(
      check,
      `this machine cannot listen on ${at}: ${codeInWords(refusal)}`,
      'choose another address with --host',
    );
  }
  const body = await ask(host, port, path);
  if (body !== null && isOurs(body)) return ok(check, `${at} is taken by the process that it is for`);
  return fail(check, `${at} is taken by another program`, `stop that one, or choose another with --${flag}`);
}

function whyNotListen(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(systemCode(error) ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

/** What stands there, from this machine to itself: no address of the network is asked. */
async function ask(host: string, port: number, path: string): Promise<string | null> {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  try {
    const response = await fetch(`http://${name}:${port}${path}`, {
      signal: AbortSignal.timeout(answerMs),
      redirect: 'error',
    });
    return response.ok ? await bounded(response) : null;
  } catch {
    return null;
  }
}

async function bounded(response: Response): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function serviceIn(body: string): string | null {
  try {
    const value: unknown = JSON.parse(body);
    return isObject(value) && typeof value.service === 'string' ? value.service : null;
  } catch {
    return null;
  }
}

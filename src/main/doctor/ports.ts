import { createServer } from 'node:net';
import { describeCode, systemCode } from '../../ops/errors.ts';
import { serviceFetch } from '../../ops/service-fetch.ts';
import { type Finding, fail, ok } from './finding.ts';
import { type IsOurs, objectIn } from './whose.ts';

/** Time in milliseconds within which a listener on this machine must identify itself. */
const answerMs = 2_000;
/** Maximum size of a response, in bytes. A health response and the metrics are smaller. */
const maxBytes = 1024 * 1024;

/** A port that a part of the observatory listens on. */
export interface ListenPort {
  readonly check: string;
  readonly host: string;
  readonly port: number;
  /** Path on which the listener identifies itself. */
  readonly path: string;
  readonly isAlmanac: (body: string) => boolean;
  /** Name of the artifacts or the store of this set-up in messages. */
  readonly of: string;
  readonly isOurs: IsOurs;
  readonly flag: string;
}

/** Returns the description of a server's port; `/health` identifies the service. */
export function servicePort(
  check: string,
  service: string,
  at: Pick<ListenPort, 'host' | 'port' | 'flag' | 'of' | 'isOurs'>,
  base = '',
): ListenPort {
  return { check, ...at, path: `${base}/health`, isAlmanac: (body) => objectIn(body)?.service === service };
}

/** Returns the description of a metrics port, which does not identify its process. */
export function metricsPort(part: string, port: number): ListenPort {
  const isAlmanac = (body: string): boolean => body.includes('almanac_process_');
  const at = { host: '127.0.0.1', port, path: '/metrics', flag: 'metrics-port' };
  return { check: `${part} metrics`, ...at, isAlmanac, of: '', isOurs: () => Promise.resolve(null) };
}

/**
 * Checks that a port is free or is used by the expected process, as far as that can be detected. Binds the port
 * briefly.
 */
export async function checkPort({
  check,
  host,
  port,
  path,
  isAlmanac,
  of,
  isOurs,
  flag,
}: ListenPort): Promise<Finding> {
  const at = `${host}:${port}`;
  const refusal = await whyNotListen(host, port);
  if (refusal === null) return ok(check, `${at} is free`);
  if (refusal === 'EACCES')
    return fail(check, `this user is not permitted to listen on ${at}`, `choose a port above 1023 with --${flag}`);
  if (refusal !== 'EADDRINUSE') {
    return fail(
      check,
      `this machine cannot listen on ${at}: ${describeCode(refusal)}`,
      'choose another address with --host',
    );
  }
  const asked = (path: string): Promise<string | null> => ask(host, port, path);
  const body = await asked(path);
  if (body === null || !isAlmanac(body)) {
    return fail(check, `${at} is used by another program`, `stop that program, or choose another port with --${flag}`);
  }
  switch (await isOurs(asked)) {
    case true:
      return ok(check, `${at} is used by the Almanac of ${of}`);
    case false: {
      const todo = `stop that process, choose another port with --${flag}, or check the set-up that it uses`;
      return fail(check, `${at} is used by an Almanac that does not use ${of}`, todo);
    }
    default:
      return ok(check, `${at} is used by an Almanac whose set-up is unknown`);
  }
}

function whyNotListen(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(systemCode(error) ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

/** Requests a path from the listener over loopback. Resolves with null if there is no usable response. */
async function ask(host: string, port: number, path: string): Promise<string | null> {
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '[::1]' : host.includes(':') ? `[${host}]` : host;
  try {
    const response = await serviceFetch(`http://${name}:${port}${path}`, {
      signal: AbortSignal.timeout(answerMs),
      redirect: 'manual',
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

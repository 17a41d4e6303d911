import { createServer } from 'node:net';
import { join } from 'node:path';
import { artifactNames } from '../../artifact/write.ts';
import { readBody } from '../../client/body.ts';
import { accountPaths, paths } from '../../contract/identifiers.ts';
import { parseTimestamp } from '../../contract/timestamp.ts';
import { isObject } from '../../input/json-budget.ts';
import { describeCode, OperatorError, systemCode } from '../../ops/errors.ts';
import { serviceFetch } from '../../ops/service-fetch.ts';
import { untrustedProxyMetric } from '../account/account-metrics.ts';
import { readArtifact } from '../check/check-verdict.ts';
import type { SetUp } from './doctor-settings.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** Time in milliseconds within which a listener on this machine must identify itself. */
const answerMs = 2_000;
/** Maximum size of a response, in bytes. A health response and the metrics are smaller. */
const maxBytes = 1024 * 1024;

/**
 * Checks the ports of both servers, and the metrics ports if they are configured. `generation` is the id of the store's
 * epoch, or null if it is unknown.
 */
export async function checkPorts(setUp: SetUp, generation: string | null): Promise<Finding[]> {
  const { host, port, basePath, accountPort, metricsPort, archive, artifacts, store, maxArtifactBytes } = setUp;
  const isOurFacts = servesArtifacts(artifacts, maxArtifactBytes);
  const facts = { host, port, bases: [basePath], flag: 'port', of: artifacts, isOurs: isOurFacts };
  // Both services read the same variable, but the base path may also be a flag of the facts API alone.
  const bases = [...new Set([basePath, ''])];
  const account = { host, port: accountPort, bases, flag: 'account-port', of: store, isOurs: readsStore(generation) };
  const parts = ['facts', 'weather', 'labels', 'account', ...(archive === null ? [] : ['archive'])];
  const metrics = metricsPort === null ? [] : parts;
  const findings = await Promise.all([
    checkPort(servicePort('facts port', 'almanac-facts', facts)),
    checkPort(servicePort('account port', 'almanac-account', account)),
    ...metrics.map((part, place) => checkPort(metricsListener(part, (metricsPort ?? 0) + place))),
  ]);
  const trust = metricsPort === null ? null : await checkProxyTrust(metricsPort + 3);
  return trust === null ? findings : [...findings, trust];
}

/** A port that a part of the observatory listens on. */
interface ListenPort {
  readonly check: string;
  readonly host: string;
  readonly port: number;
  /** Base paths below which the listener may respond, in the order in which they are tried. */
  readonly bases: readonly string[];
  /** Path below the base path on which the listener identifies itself. */
  readonly path: string;
  readonly isAlmanac: (body: string) => boolean;
  /** Name of the artifacts or the store of this set-up in messages. */
  readonly of: string;
  readonly isOurs: IsOurs;
  readonly flag: string;
}

/** Returns the description of a server's port; `/health` identifies the service. */
function servicePort(
  check: string,
  service: string,
  at: Pick<ListenPort, 'host' | 'port' | 'bases' | 'flag' | 'of' | 'isOurs'>,
): ListenPort {
  return { check, ...at, path: paths.health, isAlmanac: (body) => objectIn(body)?.service === service };
}

/** Returns the description of a metrics port, which does not identify its process. */
function metricsListener(part: string, port: number): ListenPort {
  const isAlmanac = (body: string): boolean => body.includes('almanac_process_');
  const at = { host: '127.0.0.1', port, bases: [''], path: '/metrics', flag: 'metrics-port' };
  return { check: `${part} metrics`, ...at, isAlmanac, of: '', isOurs: () => Promise.resolve(null) };
}

/**
 * Checks that a port is free or is used by the expected process, as far as that can be detected. Binds the port
 * briefly.
 */
async function checkPort(listenPort: ListenPort): Promise<Finding> {
  const { check, host, port, of, isOurs, flag } = listenPort;
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
  const asked = await almanacAt(listenPort);
  if (asked === null) {
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

/** Returns the function that requests paths of the Almanac on a port. Resolves with null if another program responds. */
async function almanacAt({ host, port, bases, path, isAlmanac }: ListenPort): Promise<Ask | null> {
  for (const base of bases) {
    const asked: Ask = (below) => ask(host, port, base + below);
    const body = await asked(path);
    if (body !== null && isAlmanac(body)) return asked;
  }
  return null;
}

function whyNotListen(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(systemCode(error) ?? error.message));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

/** Returns the host part of a URL that reaches a listener on an address of this machine. */
export function hostInUrl(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

/** Requests a path from the listener over loopback. Resolves with null if there is no usable response. */
async function ask(host: string, port: number, path: string): Promise<string | null> {
  try {
    const response = await serviceFetch(`http://${hostInUrl(host)}:${port}${path}`, {
      signal: AbortSignal.timeout(answerMs),
      redirect: 'manual',
    });
    const bytes = response.ok ? await readBody(response, maxBytes) : null;
    return bytes && Buffer.from(bytes.buffer).toString('utf8');
  } catch {
    return null;
  }
}

/** Requests one path below the base path of the listener on a port. Resolves with null if there is no usable response. */
type Ask = (path: string) => Promise<string | null>;

/**
 * Checks whether the Almanac that responds on a port uses the files of this set-up. Resolves with null if that cannot
 * be determined.
 */
type IsOurs = (ask: Ask) => Promise<boolean | null>;

/** A DID that cannot exist, so that looking it up costs the store almost nothing. */
const absentAccount = 'did:web:nobody.invalid';

/** Creates a check that succeeds if the facts API reports the `generated_at` of an artifact in this directory. */
function servesArtifacts(folder: string, maxBytes: number): IsOurs {
  return async (ask) => {
    const before = madeIn(folder, maxBytes);
    const reported = entriesIn(await ask(paths.instruments));
    // Accept the artifact from before or after the request, because the artifact may be replaced during the request.
    const made = [...before, ...madeIn(folder, maxBytes)];
    const both = reported.filter((entry) => made.some(({ instrument }) => instrument === entry.instrument));
    if (both.length === 0) return null;
    return both.some((entry) => made.some(({ instrument, at }) => instrument === entry.instrument && at === entry.at));
  };
}

/** Creates a check that succeeds if the account-view service reports the epoch of this store. */
function readsStore(generation: string | null): IsOurs {
  return async (ask) => {
    const reported = generationIn(
      await ask(`${accountPaths.exports}?${new URLSearchParams({ did: absentAccount, days: '7' })}`),
    );
    return generation === null || reported === null ? null : reported === generation;
  };
}

interface Made {
  readonly instrument: string;
  /** Generation time that the artifact states. */
  readonly at: number;
}

function madeIn(folder: string, maxBytes: number): Made[] {
  return (['labels', 'weather'] as const).flatMap((instrument) => {
    try {
      const reading = readArtifact(join(folder, artifactNames[instrument]), maxBytes);
      if (reading.kind !== 'readable') return [];
      const { artifact } = reading;
      return made(instrument, 'overview' in artifact ? artifact.overview.generated_at : artifact.summary.generated_at);
    } catch (error) {
      // Ignore the error here, because the check of the artifact reports it.
      if (error instanceof OperatorError) return [];
      throw error;
    }
  });
}

function entriesIn(body: string | null): Made[] {
  const index = objectIn(body);
  const entries: unknown[] = Array.isArray(index?.instruments) ? index.instruments : [];
  return entries.flatMap((entry) =>
    isObject(entry) && typeof entry.instrument === 'string' ? made(entry.instrument, entry.generated_at) : [],
  );
}

function made(instrument: string, generatedAt: unknown): Made[] {
  const at = parseTimestamp(generatedAt);
  return at === null ? [] : [{ instrument, at }];
}

function generationIn(body: string | null): string | null {
  const manifest = objectIn(body)?.manifest;
  const acquisition = isObject(manifest) ? manifest.acquisition : null;
  return isObject(acquisition) && typeof acquisition.generation_id === 'string' ? acquisition.generation_id : null;
}

/** Parses a body as one JSON object. Returns null for anything else. */
export function objectIn(body: string | null): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body ?? '');
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/**
 * Reads a metric of the running account surface to check that the surface trusts the proxy in front of it. Resolves
 * with null if no metrics are served or they do not contain this metric.
 */
export async function checkProxyTrust(metricsPort: number): Promise<Finding | null> {
  const metrics = await ask('127.0.0.1', metricsPort, '/metrics');
  const found = new RegExp(`^${untrustedProxyMetric} (\\d+)`, 'm').exec(metrics ?? '')?.[1];
  if (found === undefined) return null;
  const check = 'proxy trust';
  if (found === '0') return ok(check, 'no request reached the account surface through an untrusted proxy');
  return warn(
    check,
    `${found} requests reached the account surface through an untrusted proxy: all clients count as one`,
    'start it with --trust-proxy and the number of proxies',
  );
}

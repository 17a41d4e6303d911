import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { readBody } from '../../client/body.ts';
import { cacheLifetimeMs } from '../../client/headers.ts';
import { describeStaleness, ReceiptJudge, ServiceClock, type Staleness } from '../../client/staleness.ts';
import { paths } from '../../contract/identifiers.ts';
import { isObject } from '../../input/json-budget.ts';
import { describeCode, systemCode } from '../../ops/errors.ts';
import { serviceFetch } from '../../ops/service-fetch.ts';
import { type Finding, fail, ok, warn } from './finding.ts';
import { hostInUrl, objectIn } from './ports.ts';

/**
 * Checks what a proxy or cache in front of the facts API does with its responses, as clients receive them. If the
 * service is stopped, a stand-in takes its place, so that refusals can be tested. Otherwise, the responses of the public
 * address are compared with those of the service.
 */

/** Timeout of a response, in milliseconds. */
const answerMs = 3_000;
/** Maximum size of a response, in bytes. */
const maxBytes = 4 * 1024 * 1024;
/** Lifetime of a response of the stand-in in caches, in milliseconds. */
const trialLifetimeMs = 1_000;
/** Time after which no cache may use the stand-in's response, in milliseconds. Caches count in whole seconds. */
const expiryMs = trialLifetimeMs + 1_200;

/** Maximum number of requests until the first one must reach the stand-in, and the delay between them in milliseconds. */
const [maxFirstTries, firstRetryMs] = [4, 1_500];

const check = 'public address';

/** Settings of well-known proxies that cause or prevent each fault. */
const remedies = {
  revives:
    'serve no expired response (nginx: proxy_cache_use_stale off; Apache: CacheStaleOnError off; Varnish: beresp.grace 0s; Squid: max_stale 0 seconds; CDN: no stale-if-error, no "always online")',
  outdated:
    'serve no expired response while a new one is requested (nginx: proxy_cache_background_update off, no "updating" in proxy_cache_use_stale; Varnish: beresp.grace 0s)',
  keepsRefusals:
    'cache no refusal (nginx: no proxy_cache_valid for 503 or any, no proxy_ignore_headers Cache-Control; Squid: negative_ttl 0; Varnish: beresp.ttl 0s for 503)',
  replaces:
    'pass the error responses of the service on (nginx: proxy_intercept_errors off; Apache: ProxyErrorOverride Off; Caddy: no handle_response; HAProxy: no http-error and errorfile for backend responses)',
  answers:
    'make the proxy forward every path of this address to the facts service, and correct --public-url if it differs',
  validators:
    'pass ETag, Last-Modified and Vary on (nginx: no proxy_hide_header, gzip off; Apache: no Header unset, no mod_deflate for this host; Caddy: no header -ETag, no encode; Varnish: no unset beresp.http.ETag)',
  cacheControl:
    'pass Cache-Control on unchanged (nginx: no expires, no add_header Cache-Control; Apache: no mod_expires, no Header set; Caddy: no header Cache-Control; CDN: respect the existing headers)',
  conditional:
    'pass If-None-Match on, or evaluate it with the ETag of the cached response (nginx: proxy_cache_revalidate on, no proxy_set_header If-None-Match "")',
  fails: 'run this again; if it repeats, read the log of the facts service',
  down: 'send Cache-Control: no-store with the error of an unreachable service, as deploy/nginx and deploy/caddy do',
} as const;

/** Options for the check. */
interface PublicUrlOptions {
  /** Public address of the facts API, without a trailing slash. */
  readonly publicUrl: string;
  /** Address on which the facts service listens, and its base path. */
  readonly service: { readonly host: string; readonly port: number; readonly basePath: string };
  /** Resolves after a number of milliseconds. */
  readonly wait: (milliseconds: number) => Promise<void>;
  /** Returns milliseconds since 1970. */
  readonly clock: () => number;
}

/** Checks the public address. Takes at most 15 s if the address responds. */
export async function checkPublicUrl(options: PublicUrlOptions): Promise<Finding[]> {
  const { publicUrl, service } = options;
  const path = `/v1/doctor-${randomBytes(8).toString('hex')}`;
  const standIn = await StandIn.start(service.host, service.port, path);
  try {
    const findings = standIn ? await tried(options, standIn, path) : await compared(options, path);
    if (findings.length > 0) return findings;
    return [
      standIn
        ? ok(check, `${publicUrl} passes responses, validators and refusals on, and serves nothing that has expired`)
        : ok(
            check,
            `${publicUrl} passes responses and validators on (stop the facts service and run this again to test refusals)`,
          ),
    ];
  } finally {
    await standIn?.stop();
  }
}

/** A response of the public address or of the service; `status` 0 if there was none. */
interface Received {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
  /** Reason why there is no response. */
  readonly why: string;
}

async function ask(url: string, headers: Record<string, string> = {}): Promise<Received> {
  try {
    const signal = AbortSignal.timeout(answerMs);
    const response = await serviceFetch(url, { headers, signal, redirect: 'manual' });
    const bytes = await readBody(response, maxBytes);
    const body = new TextDecoder().decode(bytes ?? undefined);
    return { status: response.status, headers: response.headers, body, why: '' };
  } catch (error) {
    const code = systemCode(error instanceof Error && error.cause instanceof Error ? error.cause : error);
    const why = code === null ? 'it sent no usable response in time' : describeCode(code);
    return { status: 0, headers: new Headers(), body: '', why };
  }
}

function codeOf({ body }: Received): unknown {
  const error = objectIn(body)?.error;
  return isObject(error) ? error.code : null;
}

/** Tests the proxy with the responses of a stand-in. */
async function tried({ publicUrl, wait }: PublicUrlOptions, standIn: StandIn, path: string): Promise<Finding[]> {
  const url = publicUrl + path;
  let first = await ask(url);
  // A proxy may need some seconds to detect that the port responds again.
  for (let tries = 1; tries < maxFirstTries && first.status >= 500 && standIn.requests === 0; tries += 1) {
    await wait(firstRetryMs);
    first = await ask(url);
  }
  if (first.status === 0) return [unreachable(publicUrl, first.why)];
  if (first.status !== 200 || first.body !== standIn.body()) {
    const who = standIn.requests === 0 ? 'no request reached the port of the facts service' : 'another body arrived';
    return [fail(check, `${publicUrl} responds with status ${first.status} itself: ${who}`, remedies.answers)];
  }
  const findings = headerFindings(first.headers, { cacheControl: trialCacheControl, etag: standIn.etag() });
  const conditions = { 'If-None-Match': standIn.etag() };
  let same = await ask(url, conditions);
  // Some caches send the whole response if they have just revalidated it.
  if (same.status === 200) same = await ask(url, conditions);
  if (same.status === 200) findings.push(fail(check, 'If-None-Match has no effect', remedies.conditional));
  await wait(expiryMs);
  standIn.refuse();
  findings.push(...refusalFindings(await ask(url), 'the service refused it'));
  standIn.serve();
  const again = await ask(url);
  if (again.status === 503 && codeOf(again) === trialCode) {
    findings.push(fail(check, 'a refusal is repeated from a cache', remedies.keepsRefusals));
  } else if (again.status === 200 && again.body !== standIn.body()) {
    findings.push(fail(check, 'an expired response was served once more', remedies.outdated));
  }
  await wait(expiryMs);
  await standIn.stop();
  const down = await ask(url);
  if (down.status === 200) findings.push(revived('the service was unreachable'));
  else if (down.status !== 0 && !isUnstored(down)) {
    findings.push(warn(check, `the proxy's own error (${down.status}) may be cached`, remedies.down));
  }
  return findings;
}

/** Compares the responses of the public address with those of the running service. */
async function compared({ publicUrl, service, clock }: PublicUrlOptions, path: string): Promise<Finding[]> {
  const direct = `http://${hostInUrl(service.host)}:${service.port}${service.basePath}`;
  const health = await ask(publicUrl + paths.health);
  if (health.status === 0) return [unreachable(publicUrl, health.why)];
  const unknown = await ask(publicUrl + path);
  if (objectIn(health.body)?.service !== 'almanac-facts' || codeOf(unknown) !== 'not_found') {
    const found = `${publicUrl} responds itself to ${paths.health} (${health.status}) or to an unknown path (${unknown.status})`;
    return [fail(check, found, remedies.answers)];
  }
  const before = await ask(direct + paths.labelsOverview);
  const received = await ask(publicUrl + paths.labelsOverview);
  const after = await ask(direct + paths.labelsOverview);
  // The service may begin or end to refuse the fact during the requests.
  if (before.status !== after.status) return [uncompared(before, after)];
  const stale = expiredIn(received, clock());
  if (after.status === 503 && received.status === 200 && !stale) {
    const found = 'the service refuses a fact of which the public address serves a response that has not expired yet';
    return [warn(check, found, 'run this again in three minutes')];
  }
  if (after.status === 503) return refusalFindings(received, 'the service refuses it', codeOf(after));
  if (after.status !== 200) return [uncompared(after)];
  if (received.status !== 200) {
    const found = `${publicUrl}${paths.labelsOverview} has status ${received.status}, but the service serves it`;
    return [fail(check, found, codeOf(received) === null ? remedies.replaces : remedies.keepsRefusals)];
  }
  const cacheControl = after.headers.get('cache-control') ?? '';
  const findings = headerFindings(received.headers, { cacheControl, etag: null });
  if (findings.length === 0 && !(await revalidates(publicUrl + paths.labelsOverview))) {
    findings.push(fail(check, 'If-None-Match has no effect', remedies.conditional));
  }
  if (stale) findings.push(fail(check, describeStaleness(paths.labelsOverview, stale), remedies.revives));
  return findings;
}

/** Returns the finding for responses of the service that do not permit a comparison. */
function uncompared(...responses: readonly Received[]): Finding {
  const states = responses.map(({ status, why }) =>
    status === 0 ? `does not respond (${why})` : `responds with status ${status}`,
  );
  const found = `the responses could not be compared: the service itself ${states.join(' and then ')}`;
  const isUnknownPath = responses.every(({ status }) => status === 404);
  return warn(check, found, isUnknownPath ? 'correct --base-path' : remedies.fails);
}

/** Returns why a response must have expired at a time; null if caches may still keep it. */
function expiredIn({ body, headers }: Received, now: number): Staleness | null {
  const judge = new ReceiptJudge(new ServiceClock(), false);
  return judge.staleness(objectIn(body) ?? {}, headers, cacheLifetimeMs(headers), now);
}

/** Requests a fact with its own validator, twice because the validator changes every minute. */
async function revalidates(url: string): Promise<boolean> {
  for (let tries = 0; tries < 2; tries += 1) {
    const etag = (await ask(url)).headers.get('etag') ?? '';
    if ((await ask(url, { 'If-None-Match': etag })).status === 304) return true;
  }
  return false;
}

/** Compares the headers of a fact with those that the service sent; `etag` null if another validator may be current. */
function headerFindings(headers: Headers, sent: { cacheControl: string; etag: string | null }): Finding[] {
  const missing = ['ETag', 'Last-Modified'].filter((name) => !headers.has(name));
  if (!/\baccept-encoding\b|\*/i.test(headers.get('vary') ?? '')) missing.push('Vary: Accept-Encoding');
  const findings: Finding[] = [];
  const etag = headers.get('etag');
  if (missing.length > 0) {
    findings.push(fail(check, `responses lack ${missing.join(', ')}`, remedies.validators));
  } else if (etag !== null && sent.etag !== null && etag !== sent.etag) {
    findings.push(fail(check, `the proxy changed the ETag ${sent.etag} to ${etag}`, remedies.validators));
  }
  const cacheControl = headers.get('cache-control') ?? '';
  if (cacheControl !== sent.cacheControl) {
    const found = `the proxy changed Cache-Control from "${sent.cacheControl}" to "${cacheControl}"`;
    findings.push(fail(check, found, remedies.cacheControl));
  }
  return findings;
}

/** Checks the response to a fact that the service refuses. */
function refusalFindings(received: Received, when: string, code: unknown = trialCode): Finding[] {
  if (received.status === 200) return [revived(when)];
  if (codeOf(received) !== code) {
    const found = `a refusal of the service arrives as another response (status ${received.status})`;
    return [fail(check, found, remedies.replaces)];
  }
  return isUnstored(received) ? [] : [fail(check, 'a refusal lost its Cache-Control: no-store', remedies.cacheControl)];
}

function revived(when: string): Finding {
  return fail(check, `an expired response was served although ${when}`, remedies.revives);
}

function unreachable(publicUrl: string, why: string): Finding {
  return fail(check, `${publicUrl} cannot be reached: ${why}`, 'start the proxy, or correct --public-url');
}

function isUnstored({ headers }: Received): boolean {
  return /\bno-store\b/i.test(headers.get('cache-control') ?? '');
}

/** Value of `Cache-Control` of a served response: caches may keep it for one second. */
const trialCacheControl = 'public, max-age=1';

/** Code of the refusal that the stand-in sends. */
const trialCode = 'source_held';

/**
 * Takes the place of the facts service while that is stopped, and responds to one path like the service responds to a
 * fact: with a response that caches may keep for a second, or with a refusal.
 */
class StandIn {
  readonly #path: string;
  readonly #server: Server;
  #version = 1;
  #refuses = false;
  #requests = 0;

  private constructor(path: string) {
    this.#path = path;
    this.#server = createServer((request, response) => {
      const { method = '', url = '', headers } = request;
      if (!url.endsWith(path)) {
        response.writeHead(503, { 'Cache-Control': 'no-store', 'Content-Length': 0 }).end();
        return;
      }
      this.#requests += 1;
      const common = { 'Access-Control-Allow-Origin': '*', 'Content-Type': 'application/json; charset=utf-8' };
      if (this.#refuses) {
        const body = JSON.stringify({ error: { status: 503, code: trialCode, message: 'A test by almanac doctor.' } });
        response.writeHead(503, { ...common, 'Cache-Control': 'no-store' }).end(method === 'HEAD' ? '' : body);
        return;
      }
      const validators = {
        ETag: this.etag(),
        'Last-Modified': new Date(0).toUTCString(),
        'Cache-Control': trialCacheControl,
        Vary: 'Accept-Encoding',
      };
      if (headers['if-none-match'] === this.etag()) response.writeHead(304, { ...common, ...validators }).end();
      else response.writeHead(200, { ...common, ...validators }).end(method === 'HEAD' ? '' : this.body());
    });
  }

  /** Starts a stand-in. Resolves with null if the address is in use. */
  static async start(host: string, port: number, path: string): Promise<StandIn | null> {
    const standIn = new StandIn(path);
    standIn.#server.listen({ host, port, exclusive: true });
    try {
      await once(standIn.#server, 'listening');
      return standIn;
    } catch {
      return null;
    }
  }

  /** Number of requests for the path so far. */
  get requests(): number {
    return this.#requests;
  }

  etag(): string {
    return `W/"${this.#path.slice(-16)}-${this.#version}"`;
  }

  body(): string {
    return JSON.stringify({ contract: this.#path, version: this.#version });
  }

  /** From now on, refuses the path. */
  refuse(): void {
    this.#refuses = true;
  }

  /** From now on, serves a new version of the response. */
  serve(): void {
    this.#refuses = false;
    this.#version += 1;
  }

  /** Stops listening and closes all connections. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

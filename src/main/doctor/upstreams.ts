import { labelerCollection } from '../../labels/roster/relay-list.ts';
import { createNameResolver, systemHostsFile } from '../../network/dns/name-resolver.ts';
import type { AddressPolicy, Resolve } from '../../network/guard/address-policy.ts';
import { createHttpClient, type HttpClient, type JsonAnswer } from '../../network/http/http.ts';
import { ConnectError } from '../../network/websocket/connect-error.ts';
import { openSocket } from '../../network/websocket/websocket.ts';
import { describeCode, OperatorError } from '../../ops/errors.ts';
import { describeHandshakeRefusal, type Endpoint, parseEndpoint, subscribeUrl } from '../../weather/window/endpoint.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** Timeout of every upstream, in milliseconds: the doctor completes within 10 s. */
const patienceMs = 8_000;
/** Maximum size of a response; the requested ones are small. */
const maxBytes = 256 * 1024;

/** The upstreams of both instruments. */
export interface Upstreams {
  readonly jetstream: string;
  readonly relays: readonly string[];
  /** Directories of did:plc, the primary one first. */
  readonly directories: readonly string[];
  /** `User-Agent` of every request and handshake. */
  readonly userAgent: string;
  /** A DID to request from the directory. */
  readonly did: string;
}

/**
 * Difference between our clock and an upstream's: positive if ours is ahead; in milliseconds, though `Date` has whole
 * seconds.
 */
export type Offset = number;

/** Results of contacting the upstreams. */
export interface UpstreamFindings {
  readonly findings: readonly Finding[];
  readonly offsets: readonly Offset[];
}

interface Asked {
  readonly finding: Finding;
  readonly offset: Offset | null;
}

/** Contacts all upstreams concurrently, once each, through the guard that the instruments use. Never rejects. */
export async function checkUpstreams(
  { jetstream, relays, directories, userAgent, did }: Upstreams,
  policy: AddressPolicy,
  clock: () => number,
): Promise<UpstreamFindings> {
  const { resolve } = createNameResolver({ hostsFile: systemHostsFile });
  const http = createHttpClient({ policy, userAgent, resolve });
  try {
    const documents = directories.map((directory) => ask(http, 'directory', directory, `/${did}`, clock));
    const listings = relays.map((relay) =>
      ask(
        http,
        'relay',
        relay,
        `/xrpc/com.atproto.sync.listReposByCollection?collection=${labelerCollection}&limit=1`,
        clock,
      ),
    );
    const stream = jetstream === '' ? [] : [checkStream(jetstream, { policy, userAgent, resolve })];
    const [findings, listed, documented] = await Promise.all([
      Promise.all(stream),
      Promise.all(listings),
      Promise.all(documents),
    ]);
    return {
      findings: [
        ...findings,
        ...orWarnings(listed, 'another relay answers'),
        ...orWarnings(documented, 'another directory answers; only the primary has the stream of new labelers'),
      ],
      offsets: [...listed, ...documented].flatMap(({ offset }) => (offset === null ? [] : [offset])),
    };
  } finally {
    await http.close();
  }
}

/** The findings of hosts that can stand in for each other: if one answers, the failure of another is a warning. */
function orWarnings(asked: readonly Asked[], remedy: string): Finding[] {
  const one = asked.some(({ finding }) => finding.level === 'ok');
  return asked.map(({ finding }) =>
    finding.level === 'fail' && one ? warn(finding.check, finding.found, remedy) : finding,
  );
}

async function ask(http: HttpClient, check: string, origin: string, path: string, clock: () => number): Promise<Asked> {
  const url = URL.parse(path, origin);
  if (!url) return { finding: fail(check, `${origin} is not a URL`, 'correct the setting'), offset: null };
  const before = clock();
  const answer = await http.getJson(url, { maxBytes, timeoutMs: patienceMs, signal: new AbortController().signal });
  const { trouble, remedy } = troubleOf(answer);
  if (trouble !== null) return { finding: fail(check, `${url.origin} ${trouble}`, remedy), offset: null };
  const date = answer.kind === 'json' ? answer.date : null;
  // The peer's `Date` covers one second, sampled between our two clock reads.
  const offset = date === null ? null : (before + clock()) / 2 - (date + 500);
  return { finding: ok(check, `${url.origin} answers`), offset };
}

const reachIt = 'check the network, the resolver and the firewall (outbound TCP 443)';

function troubleOf(answer: JsonAnswer): { trouble: string | null; remedy: string } {
  switch (answer.kind) {
    case 'json':
      return { trouble: null, remedy: '' };
    case 'status':
      // The upstream responds, even if without the requested document: the DID may be gone.
      if (answer.status === 404 || answer.status === 410) return { trouble: null, remedy: '' };
      return { trouble: `responds with status ${answer.status}`, remedy: 'try later, or configure another' };
    case 'not_json':
    case 'too_large':
      return { trouble: 'responds, but not with this protocol', remedy: 'configure another address' };
    case 'bad_url':
    case 'refused_address':
      return { trouble: `was not contacted: ${answer.why}`, remedy: 'configure a public https address' };
    case 'dns':
    case 'connect':
    case 'tls':
      return { trouble: `cannot be reached (${answer.kind}): ${describeCode(answer.code)}`, remedy: reachIt };
    case 'timeout':
      return {
        trouble: `did not respond within ${patienceMs / 1000} s (stuck at ${answer.phase})`,
        remedy: reachIt,
      };
    case 'busy':
    case 'aborted':
      return { trouble: 'was not contacted', remedy: 'try again' };
  }
}

/** Connects like the weather instrument and waits for one frame, because a host may accept and send nothing. */
async function checkStream(
  address: string,
  network: { readonly policy: AddressPolicy; readonly userAgent: string; readonly resolve: Resolve },
): Promise<Finding> {
  const check = 'jetstream';
  const stop = new AbortController();
  const deadline = setTimeout(() => stop.abort(), patienceMs);
  let endpoint: Endpoint | null = null;
  try {
    endpoint = parseEndpoint(address, network.policy);
    const frame = Promise.withResolvers<true>();
    const socket = await openSocket(
      {
        url: subscribeUrl(endpoint, { cursor: null, dictionary: null }),
        ...network,
        handshakeMs: patienceMs - 2_000,
        closeMs: 500,
        maxFrameBytes: 16 * 1024 * 1024,
        pingMs: patienceMs,
        pongMs: patienceMs,
        idleMs: patienceMs,
        onFrame: () => frame.resolve(true),
      },
      stop.signal,
    );
    const came = await Promise.race([frame.promise, socket.closed.then(() => false)]);
    stop.abort();
    await socket.closed;
    if (came) return ok(check, `${endpoint.name} sends events`);
    return fail(
      check,
      `${endpoint.name} accepts connections, but sends no events`,
      'choose another host with --jetstream',
    );
  } catch (error) {
    if (error instanceof OperatorError) return fail(check, error.message, 'correct the setting');
    if (!(error instanceof ConnectError)) throw error;
    const words = endpoint ? describeHandshakeRefusal(endpoint, error.status) : null;
    if (words !== null) return fail(check, words, 'name that address, or another host, with --jetstream');
    return fail(check, error.message, error.kind === 'refused_address' ? 'name a public host' : reachIt);
  } finally {
    clearTimeout(deadline);
    stop.abort();
  }
}

import { labelerCollection } from '../../labels/relay-list.ts';
import type { AddressPolicy, Resolve } from '../../network/address-policy.ts';
import { ConnectError } from '../../network/connect-error.ts';
import { createHttpClient, type HttpClient, type JsonAnswer } from '../../network/http.ts';
import { createNameResolver, systemHostsFile } from '../../network/name-resolver.ts';
import { openSocket } from '../../network/websocket.ts';
import { codeInWords, OperatorError } from '../../ops/errors.ts';
import { type Endpoint, parseEndpoint, refusalWords, subscribeUrl } from '../../weather/endpoint.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** Every wait for an upstream ends after this, in milliseconds: the doctor is done within 10 s. */
const patienceMs = 8_000;
/** The answers that are asked for are small; a larger one is no answer to us. */
const maxBytes = 256 * 1024;

/** The upstreams of both instruments. */
export interface Upstreams {
  readonly jetstream: string;
  readonly relays: readonly string[];
  readonly plc: string;
  /** Sent with every request and handshake. */
  readonly userAgent: string;
  /** A DID that the directory is asked for. */
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

/** Asks every upstream once, all at once, through the guard that the instruments use. Never rejects. */
export async function checkUpstreams(
  { jetstream, relays, plc, userAgent, did }: Upstreams,
  policy: AddressPolicy,
  clock: () => number,
): Promise<UpstreamFindings> {
  const { resolve } = createNameResolver({ hostsFile: systemHostsFile });
  const http = createHttpClient({ policy, userAgent, resolve });
  try {
    const directory = ask(http, 'directory', plc, `/${did}`, clock);
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
    const [findings, answers, directoryAnswer] = await Promise.all([
      Promise.all(stream),
      Promise.all(listings),
      directory,
    ]);
    const one = answers.some(({ finding }) => finding.level === 'ok');
    const relayFindings = answers.map(({ finding }) =>
      finding.level === 'fail' && one ? warn(finding.check, finding.found, 'another relay answers') : finding,
    );
    return {
      findings: [...findings, ...relayFindings, directoryAnswer.finding],
      offsets: [...answers, directoryAnswer].flatMap(({ offset }) => (offset === null ? [] : [offset])),
    };
  } finally {
    await http.close();
  }
}

async function ask(http: HttpClient, check: string, origin: string, path: string, clock: () => number): Promise<Asked> {
  const url = URL.parse(path, origin);
  if (!url) return { finding: fail(check, `${origin} is not a URL`, 'correct the setting'), offset: null };
  const before = clock();
  const answer = await http.getJson(url, { maxBytes, timeoutMs: patienceMs, signal: new AbortController().signal });
  const { trouble, remedy } = troubleOf(answer);
  if (trouble !== null) return { finding: fail(check, `${url.origin} ${trouble}`, remedy), offset: null };
  const date = answer.kind === 'json' ? answer.date : null;
  // The peer's clock lay within its second when it answered, somewhere between our two looks at ours.
  const offset = date === null ? null : (before + clock()) / 2 - (date + 500);
  return { finding: ok(check, `${url.origin} answers`), offset };
}

const reachIt = 'check the network, the resolver and the firewall (outbound TCP 443)';

function troubleOf(answer: JsonAnswer): { trouble: string | null; remedy: string } {
  switch (answer.kind) {
    case 'json':
      return { trouble: null, remedy: '' };
    case 'status':
      // It answers, though not with what was asked for: the DID may be gone.
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
      return { trouble: `cannot be reached (${answer.kind}): ${codeInWords(answer.code)}`, remedy: reachIt };
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

/** Connects as the weather instrument does, and waits for one frame: a host may accept, and send nothing. */
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
    const words = endpoint ? refusalWords(endpoint, error.status) : null;
    if (words !== null) return fail(check, words, 'name that address, or another host, with --jetstream');
    return fail(check, error.message, error.kind === 'refused_address' ? 'name a public host' : reachIt);
  } finally {
    clearTimeout(deadline);
    stop.abort();
  }
}

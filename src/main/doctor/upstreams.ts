import { join } from 'node:path';
import { maxUpstreamDifference } from '../../labels/clock/clock.ts';
import { labelerCollection, readSeeds } from '../../labels/roster/labeler-lists.ts';
import { createNameResolver, systemHostsFile } from '../../network/dns/name-resolver.ts';
import type { AddressPolicy, Resolve } from '../../network/guard/address-policy.ts';
import { createHttpClient, type HttpClient, type JsonAnswer } from '../../network/http/http.ts';
import { ConnectError, openSocket } from '../../network/websocket/websocket.ts';
import { describeCode, OperatorError } from '../../ops/errors.ts';
import { describeHandshakeRefusal, type Endpoint, parseEndpoint, subscribeUrl } from '../../weather/window/endpoint.ts';
import { packageRoot } from '../command.ts';
import { userAgentFor } from '../shared-settings.ts';
import type { SetUp } from './doctor-settings.ts';
import { describeTried, type Finding, fail, hostOf, ok, type TriedHost, warn } from './finding.ts';

/** Default timeout of every upstream, in milliseconds. It lets the doctor complete within 10 s. */
const doctorTimeoutMs = 8_000;
/** Maximum size of a response, in bytes. The requested documents are small. */
const maxBytes = 256 * 1024;

/** Settings that name the upstreams of both instruments. */
type Upstreams = Pick<SetUp, 'jetstream' | 'relay' | 'plc' | 'seeds' | 'contact' | 'allowLoopback'>;

/** Results of contacting the upstreams. */
interface UpstreamFindings {
  readonly findings: readonly Finding[];
  /** Every host that was contacted, and whether it responded. */
  readonly tried: readonly TriedHost[];
}

/**
 * Contacts every upstream once, all of them concurrently, through the same guard as the instruments, and compares the
 * clocks. Rejects with OperatorError if the seeds file is invalid.
 */
export async function checkUpstreams(upstreams: Upstreams, timeoutMs = doctorTimeoutMs): Promise<UpstreamFindings> {
  // The directories know the first DID of the seeds.
  const [did = ''] = await readSeeds(upstreams.seeds ?? join(packageRoot(), 'assets', 'labelers.json'));
  const { resolve } = createNameResolver({ hostsFile: systemHostsFile });
  const network: Network = {
    policy: { allowLoopback: upstreams.allowLoopback },
    userAgent: userAgentFor(upstreams),
    resolve,
  };
  const http = createHttpClient(network);
  const listing = `/xrpc/com.atproto.sync.listReposByCollection?collection=${labelerCollection}&limit=1`;
  const streams = upstreams.jetstream.filter((address) => address !== '');
  try {
    const [streamed, listed, documented] = await Promise.all([
      Promise.all(streams.map((address) => askStream(address, network, timeoutMs))),
      Promise.all(upstreams.relay.map((relay) => ask(http, 'relay', relay, listing, timeoutMs))),
      Promise.all(upstreams.plc.map((directory) => ask(http, 'directory', directory, `/${did}`, timeoutMs))),
    ]);
    const asked = [...streamed, ...listed, ...documented];
    const tried = asked.map((one) => one.tried);
    return {
      findings: [
        ...orWarnings(streamed, 'the other host is published while this one does not respond'),
        ...orWarnings(listed, 'another relay responds'),
        ...orWarnings(documented, 'another directory responds; only the primary has the stream of new labelers'),
        ...networkFindings(tried),
        checkClock(asked.flatMap(({ offset }) => (offset === null ? [] : [offset]))),
      ],
      tried,
    };
  } finally {
    await http.close();
  }
}

interface Asked {
  readonly finding: Finding;
  /**
   * Difference between this machine's clock and the upstream's, in milliseconds: positive if this machine is ahead. The
   * resolution is one second, as in the `Date` header. Null if the upstream did not report the time.
   */
  readonly offset: number | null;
  readonly tried: TriedHost;
}

/** Returns the findings on interchangeable hosts. A host's failure is only a warning if another host responds. */
function orWarnings(asked: readonly Asked[], remedy: string): Finding[] {
  const one = asked.some(({ finding }) => finding.level === 'ok');
  return asked.map(({ finding }) =>
    finding.level === 'fail' && one ? warn(finding.check, finding.found, remedy) : finding,
  );
}

async function ask(
  http: HttpClient,
  check: TriedHost['service'],
  origin: string,
  path: string,
  timeoutMs: number,
): Promise<Asked> {
  const url = URL.parse(path, origin);
  const silent = { service: check, host: url?.host ?? origin, answers: false };
  if (!url)
    return { finding: fail(check, `${origin} is not a URL`, 'correct the setting'), offset: null, tried: silent };
  const before = Date.now();
  const answer = await http.getJson(url, { maxBytes, timeoutMs, signal: new AbortController().signal });
  const tried = { ...silent, answers: ['json', 'status', 'not_json', 'too_large'].includes(answer.kind) };
  const { trouble, remedy } = troubleOf(answer, timeoutMs);
  if (trouble !== null) return { finding: fail(check, `${url.origin} ${trouble}`, remedy), offset: null, tried };
  const date = answer.kind === 'json' ? answer.date : null;
  // Compare the middle of two ranges: `Date` is truncated to the second, and the response was sent between the two
  // reads of this machine's clock.
  const offset = date === null ? null : (before + Date.now()) / 2 - (date + 500);
  return { finding: ok(check, `${url.origin} answers`), offset, tried };
}

const reachIt = 'check the network, the resolver and the firewall (outbound TCP 443)';

/** Returns a failure that names every host that was contacted, or no finding if any of them responded. */
function networkFindings(tried: readonly TriedHost[]): Finding[] {
  if (tried.length === 0 || tried.some(({ answers }) => answers)) return [];
  return [fail('network', describeTried(tried), reachIt)];
}

function troubleOf(answer: JsonAnswer, timeoutMs: number): { trouble: string | null; remedy: string } {
  switch (answer.kind) {
    case 'json':
      return { trouble: null, remedy: '' };
    case 'status':
      // Treat a missing document as a success, because the DID may have been removed.
      if (answer.status === 404 || answer.status === 410) return { trouble: null, remedy: '' };
      return { trouble: `responds with status ${answer.status}`, remedy: 'try later, or configure another address' };
    case 'not_json':
    case 'too_large':
      return { trouble: 'responds, but not in the format of this protocol', remedy: 'configure another address' };
    case 'bad_url':
    case 'refused_address':
      return { trouble: `was not contacted: ${answer.why}`, remedy: 'configure a public https address' };
    case 'dns':
    case 'connect':
    case 'tls':
      return { trouble: `cannot be reached (${answer.kind}): ${describeCode(answer.code)}`, remedy: reachIt };
    case 'timeout':
      return {
        trouble: `did not respond within ${timeoutMs / 1000} s (stuck at ${answer.phase})`,
        remedy: reachIt,
      };
    case 'busy':
    case 'aborted':
      return { trouble: 'was not contacted', remedy: 'try again' };
  }
}

/** Address policy, `User-Agent` and name resolution for the doctor's outbound requests. */
interface Network {
  readonly policy: AddressPolicy;
  readonly userAgent: string;
  readonly resolve: Resolve;
}

async function askStream(address: string, network: Network, timeoutMs: number): Promise<Asked> {
  const { finding, answers } = await checkStream(address, network, timeoutMs);
  return { finding, offset: null, tried: { service: 'jetstream', host: hostOf(address), answers } };
}

/**
 * Connects like the weather instrument and waits for one frame, because a host may accept a connection without sending
 * events.
 */
async function checkStream(
  address: string,
  network: Network,
  timeoutMs: number,
): Promise<{ readonly finding: Finding; readonly answers: boolean }> {
  const check = 'jetstream';
  const stop = new AbortController();
  const deadline = setTimeout(() => stop.abort(), timeoutMs);
  let endpoint: Endpoint | null = null;
  try {
    endpoint = parseEndpoint(address, network.policy);
    const frame = Promise.withResolvers<true>();
    const socket = await openSocket(
      {
        url: subscribeUrl(endpoint, { cursor: null, dictionary: null }),
        ...network,
        handshakeMs: 0.75 * timeoutMs,
        closeMs: 500,
        maxFrameBytes: 16 * 1024 * 1024,
        pingMs: timeoutMs,
        pongMs: timeoutMs,
        idleMs: timeoutMs,
        onFrame: () => frame.resolve(true),
      },
      stop.signal,
    );
    const came = await Promise.race([frame.promise, socket.closed.then(() => false)]);
    stop.abort();
    await socket.closed;
    const finding = came
      ? ok(check, `${endpoint.name} sends events`)
      : fail(
          check,
          `${endpoint.name} accepts connections, but sends no events`,
          'choose another host with --jetstream',
        );
    return { finding, answers: true };
  } catch (error) {
    if (error instanceof OperatorError)
      return { finding: fail(check, error.message, 'correct the setting'), answers: false };
    if (!(error instanceof ConnectError)) throw error;
    const answers = error.status !== null;
    const words = endpoint ? describeHandshakeRefusal(endpoint, error.status) : null;
    const remedy = error.kind === 'refused_address' ? 'configure a public host' : reachIt;
    const finding =
      words === null
        ? fail(check, error.message, remedy)
        : fail(check, words, 'specify that address, or another host, with --jetstream');
    return { finding, answers };
  } finally {
    clearTimeout(deadline);
    stop.abort();
  }
}

/** Smallest offset in milliseconds that is reported; a network delay can cause a smaller offset. */
const noticeableMs = 3_000;

/**
 * Compares this machine's clock with the clocks of the upstreams. Uses the median difference, because the clock of
 * one peer may be wrong.
 */
function checkClock(offsets: readonly number[]): Finding {
  const check = 'clock';
  const middle = offsets.toSorted((a, b) => Math.abs(a) - Math.abs(b))[Math.floor((offsets.length - 1) / 2)];
  if (middle === undefined)
    return warn(check, 'no upstream reported the time', 'make sure that NTP synchronizes the clock');
  const by = `${(Math.abs(middle) / 1000).toFixed(1)} s`;
  const found = `this machine is ${by} ${middle < 0 ? 'behind' : 'ahead of'} the upstreams`;
  const todo = 'set the clock and enable NTP';
  if (Math.abs(middle) > maxUpstreamDifference / 1000) return fail(check, found, `no labels will be accepted: ${todo}`);
  if (Math.abs(middle) > noticeableMs) return warn(check, found, todo);
  return ok(check, `this machine agrees with the upstreams (${offsets.length} responded)`);
}

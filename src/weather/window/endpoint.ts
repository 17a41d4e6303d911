import type { Wire } from '../../contract/vocabulary.ts';
import { publicUrl, socketSchemes } from '../../input/url.ts';
import { type AddressPolicy, type Admission, admitSocketUrl } from '../../network/guard/address-policy.ts';
import { OperatorError } from '../../ops/errors.ts';

/** Path of the method `subscribeEvents`. */
const methodPath = '/xrpc/network.bsky.jetstream.subscribeEvents';
/** Path of the dictionary on hosts that serve `subscribeEvents`. */
const dictionaryPath = '/xrpc/network.bsky.jetstream.getZstdDictionary';
/** Path of the legacy protocol. */
const legacyPath = '/subscribe';

/** An observed host and its protocol. The path of the URL determines the protocol. */
export interface Endpoint {
  readonly wire: Wire;
  /** URL of the connection. */
  readonly url: URL;
  /** Name of the endpoint in the store, the artifact and the log: the URL without credentials and query. */
  readonly name: string;
  /** True if the host is a literal loopback address, which means that it belongs to the simulated network. */
  readonly simulated: boolean;
}

/** Parses the URL of a Jetstream host. Throws OperatorError for a URL that the outbound guard rejects. */
export function parseEndpoint(text: string, policy: AddressPolicy): Endpoint {
  const admission = admitSocketUrl(text, policy);
  if (admission.kind !== 'admitted') throw new OperatorError(describeRefusal(admission));
  const { url, isLoopback } = admission;
  // A host without a path gets the path of `subscribeEvents`. Every other path means the legacy protocol, as it did
  // before `subscribeEvents` existed.
  if (url.pathname === '/') url.pathname = methodPath;
  const wire: Wire = url.pathname.endsWith(methodPath) ? 'jetstream.subscribeEvents' : 'jetstream.legacy';
  return { wire, url, name: publicUrl(url), simulated: isLoopback || url.hostname === 'localhost' };
}

function describeRefusal({ kind, why, url }: Exclude<Admission, { kind: 'admitted' }>): string {
  const isSocket = url !== null && socketSchemes.some((scheme) => scheme === url.protocol);
  if (!isSocket) return '--jetstream requires an address such as wss://HOST or wss://HOST/subscribe';
  const isPlain = kind === 'bad_url' && url.protocol === 'ws:';
  const reason = isPlain ? 'use wss:; ws: is allowed only for loopback, with --allow-loopback' : why;
  return `--jetstream ${publicUrl(url)}: ${reason}`;
}

/**
 * Parses the URLs of one or two hosts. Throws OperatorError for any other number, for two URLs of one host, and for a
 * simulated host together with a live one.
 */
export function parseEndpoints(texts: readonly string[], policy: AddressPolicy): Endpoint[] {
  const endpoints = texts.map((text) => parseEndpoint(text, policy));
  const [first, second, ...more] = endpoints;
  if (!first) throw new OperatorError('--jetstream requires the address of a host');
  if (more.length > 0) throw new OperatorError('--jetstream: at most two hosts can be observed');
  if (second?.url.host === first.url.host) throw new OperatorError('--jetstream: the two hosts must be different');
  if (second && second.simulated !== first.simulated) {
    throw new OperatorError('--jetstream: a simulated host and a live one cannot be observed together');
  }
  return endpoints;
}

/** Parameters of one connection. */
interface Subscription {
  /** Cursor from which the host sends events, or null to begin at the present. */
  readonly cursor: number | null;
  /** Id of the zstd dictionary of the compressed frames, or null for uncompressed frames. */
  readonly dictionary: number | null;
}

/** Returns the URL of one connection. */
export function subscribeUrl({ url, wire }: Endpoint, { cursor, dictionary }: Subscription): string {
  const target = new URL(url);
  target.searchParams.delete('cursor');
  if (dictionary !== null && wire === 'jetstream.legacy') target.searchParams.set('compress', 'true');
  if (dictionary !== null && wire === 'jetstream.subscribeEvents')
    target.searchParams.set('zstdDictionary', String(dictionary));
  if (cursor !== null) target.searchParams.set('cursor', String(cursor));
  return target.href;
}

/** Returns the URL of the dictionary on a host that serves `subscribeEvents`. */
export function dictionaryUrl({ url }: Endpoint): URL {
  const target = new URL(url);
  target.protocol = url.protocol === 'ws:' ? 'http:' : 'https:';
  target.pathname = url.pathname.replace(methodPath, dictionaryPath);
  target.search = '';
  return target;
}

/** Returns the legacy endpoint of the same host, because an older store may contain its series. */
export function legacyEndpoint(endpoint: Endpoint): Endpoint {
  const url = new URL(endpoint.url);
  url.pathname = url.pathname.replace(methodPath, legacyPath);
  url.search = '';
  return { ...endpoint, wire: 'jetstream.legacy', url, name: publicUrl(url) };
}

/** Describes a rejected handshake for the operator, or returns null if the status has no specific meaning. */
export function describeHandshakeRefusal({ wire, name, url }: Endpoint, status: number | null): string | null {
  if (wire !== 'jetstream.subscribeEvents' || status !== 404) return null;
  const legacy = `${url.protocol}//${url.host}${legacyPath}`;
  return `${name} responds with 404: the host does not serve this method; if it serves the legacy protocol, specify ${legacy}`;
}

import type { Wire } from '../../contract/vocabulary.ts';
import { publicUrl, socketSchemes } from '../../input/url.ts';
import type { AddressPolicy } from '../../network/guard/address-policy.ts';
import { type Admission, admitSocketUrl } from '../../network/guard/outbound-url.ts';
import { OperatorError } from '../../ops/errors.ts';

/** Jetstream's present method, and where a host serves it. */
const methodPath = '/xrpc/network.bsky.jetstream.subscribeEvents';
const dictionaryPath = '/xrpc/network.bsky.jetstream.getZstdDictionary';
const legacyPath = '/subscribe';
/** What the method's frames are, as a websocket names it. */
export const methodProtocol = 'xrpc.v1.json';

/** A host that is observed over one wire: the path decides which. */
export interface Endpoint {
  readonly wire: Wire;
  /** As it is connected to. */
  readonly url: URL;
  /** As it is named in the store, the artifact and the log: without credentials or query. */
  readonly name: string;
  /** A literal loopback address: the simulated network. */
  readonly simulated: boolean;
}

/** Parses the URL of a Jetstream host. Throws OperatorError for a URL that the outbound guard refuses. */
export function parseEndpoint(text: string, policy: AddressPolicy): Endpoint {
  const admission = admitSocketUrl(text, policy);
  if (admission.kind !== 'admitted') throw new OperatorError(describeRefusal(admission));
  const { url, isLoopback } = admission;
  // A bare host serves the present method. Every other path is the legacy wire, as it was before the method existed.
  if (url.pathname === '/') url.pathname = methodPath;
  const wire: Wire = url.pathname.endsWith(methodPath) ? 'jetstream.subscribeEvents' : 'jetstream.legacy';
  return { wire, url, name: publicUrl(url), simulated: isLoopback || url.hostname === 'localhost' };
}

function describeRefusal({ kind, why, url }: Exclude<Admission, { kind: 'admitted' }>): string {
  const isSocket = url !== null && socketSchemes.some((scheme) => scheme === url.protocol);
  if (!isSocket) return '--jetstream requires an address such as wss://HOST or wss://HOST/subscribe';
  const isPlain = kind === 'bad_url' && url.protocol === 'ws:';
  const reason = isPlain ? 'use wss:; ws: is for loopback, with --allow-loopback' : why;
  return `--jetstream ${publicUrl(url)}: ${reason}`;
}

/** Reads the addresses of one host or two. Throws OperatorError for others. */
export function parseEndpoints(texts: readonly string[], policy: AddressPolicy): Endpoint[] {
  const endpoints = texts.map((text) => parseEndpoint(text, policy));
  const [first, second, ...more] = endpoints;
  if (!first) throw new OperatorError('--jetstream requires the address of a host');
  if (more.length > 0) throw new OperatorError('--jetstream: at most two hosts are observed');
  if (second?.url.host === first.url.host) throw new OperatorError('--jetstream: the two hosts must be different');
  if (second && second.simulated !== first.simulated) {
    throw new OperatorError('--jetstream: a simulated host and a live one are never observed together');
  }
  return endpoints;
}

/** What one connection asks for. */
export interface Subscription {
  /** Null for what comes now. */
  readonly cursor: number | null;
  /** Number of the zstd dictionary that frames are compressed with; null for frames as they are. */
  readonly dictionary: number | null;
}

/** The address of one connection: from the cursor on, or from now where there is none. */
export function subscribeUrl({ url, wire }: Endpoint, { cursor, dictionary }: Subscription): string {
  const target = new URL(url);
  target.searchParams.delete('cursor');
  if (dictionary !== null && wire === 'jetstream.legacy') target.searchParams.set('compress', 'true');
  if (dictionary !== null && wire === 'jetstream.subscribeEvents')
    target.searchParams.set('zstdDictionary', String(dictionary));
  if (cursor !== null) target.searchParams.set('cursor', String(cursor));
  return target.href;
}

/** Where a host of the method gives its dictionary. */
export function dictionaryUrl({ url }: Endpoint): URL {
  const target = new URL(url);
  target.protocol = url.protocol === 'ws:' ? 'http:' : 'https:';
  target.pathname = url.pathname.replace(methodPath, dictionaryPath);
  target.search = '';
  return target;
}

/** The legacy address of the same host: what a store may hold from before the method was spoken. */
export function legacyEndpoint(endpoint: Endpoint): Endpoint {
  const url = new URL(endpoint.url);
  url.pathname = url.pathname.replace(methodPath, legacyPath);
  url.search = '';
  return { ...endpoint, wire: 'jetstream.legacy', url, name: publicUrl(url) };
}

/** What a refusal means for the operator, where the status says it; null where it does not. */
export function refusalWords({ wire, name, url }: Endpoint, status: number | null): string | null {
  if (wire !== 'jetstream.subscribeEvents' || status !== 404) return null;
  const legacy = `${url.protocol}//${url.host}${legacyPath}`;
  return `${name} answers 404: the host does not serve this method; if it speaks the legacy wire, name it as ${legacy}`;
}

import { isIP } from 'node:net';
import { type AddressPolicy, judgeAddress } from '../network/address-policy.ts';
import { plainUrl } from '../network/connect-error.ts';
import { OperatorError } from '../ops/errors.ts';

/** The one host that is observed. */
export interface Endpoint {
  /** As it is connected to. */
  readonly url: URL;
  /** As it is named in the store, the artifact and the log: without credentials or query. */
  readonly name: string;
  /** A literal loopback address: the simulated network. */
  readonly simulated: boolean;
}

/** Reads the address of a Jetstream host. Throws OperatorError for one that no try could reach. */
export function parseEndpoint(text: string, policy: AddressPolicy): Endpoint {
  const url = URL.parse(text);
  if (!url || (url.protocol !== 'wss:' && url.protocol !== 'ws:')) {
    throw new OperatorError('--jetstream requires a URL such as wss://HOST/subscribe');
  }
  const name = plainUrl(url);
  if (url.protocol === 'ws:' && !policy.allowLoopback) {
    throw new OperatorError(`--jetstream ${name}: use wss:; ws: is for loopback, with --allow-loopback`);
  }
  if (url.hash !== '') throw new OperatorError(`--jetstream ${name}: the address has a fragment`);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) === 0) return { url, name, simulated: host === 'localhost' };
  const verdict = judgeAddress(host, policy);
  if (!verdict.allowed) throw new OperatorError(`--jetstream ${name}: no public address (${verdict.range})`);
  if (url.protocol === 'ws:' && !verdict.loopback) throw new OperatorError(`--jetstream ${name}: use wss:`);
  return { url, name, simulated: verdict.loopback };
}

/** The address of one connection: from the cursor on, or from now where there is none. */
export function subscribeUrl({ url }: Endpoint, cursor: number | null, compressed = false): string {
  const target = new URL(url);
  target.searchParams.delete('cursor');
  if (compressed) target.searchParams.set('compress', 'true');
  if (cursor !== null) target.searchParams.set('cursor', String(cursor));
  return target.href;
}

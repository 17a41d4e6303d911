import { isIP } from 'node:net';
import { bareHost, httpSchemes, parseUrl, type RefusedUrl, socketSchemes } from '../../input/url.ts';
import { type AddressPolicy, judgeAddress } from './address-policy.ts';

/** Verdict on a URL, computed without network access. */
export type Admission =
  | {
      readonly kind: 'admitted';
      readonly url: URL;
      /** True if the connection is not encrypted and therefore must not leave this machine. */
      readonly loopbackOnly: boolean;
      /** True if the host is a literal loopback address. */
      readonly isLoopback: boolean;
    }
  | { readonly kind: 'refused_address'; readonly why: string; readonly url: URL }
  | { readonly kind: 'bad_url'; readonly rule: RefusedUrl['rule']; readonly why: string; readonly url: URL | null };

/**
 * Admits the URL of a request: https, or http to loopback if the policy allows it. The URL may contain neither
 * credentials nor a fragment.
 */
export function admitHttpUrl(text: string, policy: AddressPolicy): Admission {
  return admit(text, { schemes: httpSchemes, admits: [] }, policy);
}

/**
 * Admits the URL of a websocket: wss, or ws to loopback if the policy allows it. The URL may contain credentials, but
 * no fragment.
 */
export function admitSocketUrl(text: string, policy: AddressPolicy): Admission {
  return admit(text, { schemes: socketSchemes, admits: ['credentials'] }, policy);
}

interface Transport {
  readonly schemes: readonly [encrypted: string, plain: string];
  readonly admits: readonly 'credentials'[];
}

function admit(text: string, { schemes, admits }: Transport, policy: AddressPolicy): Admission {
  const [encrypted, plain] = schemes;
  const verdict = parseUrl(text, { schemes: policy.allowLoopback ? schemes : [encrypted], admits });
  if (verdict.kind === 'refused') return { ...verdict, kind: 'bad_url' };
  const { url } = verdict;
  const loopbackOnly = url.protocol === plain;
  // Check a literal address here, because node does not call `lookup` for literal addresses. The URL parser has
  // normalized other notations, such as 0x7f.1.
  const host = bareHost(url);
  if (isIP(host) === 0) return { kind: 'admitted', url, loopbackOnly, isLoopback: false };
  const address = judgeAddress(host, policy);
  if (!address.allowed) return { kind: 'refused_address', why: `no allowed address (${address.range})`, url };
  if (loopbackOnly && !address.loopback) {
    const why = `${plain} is only allowed for loopback; use ${encrypted}`;
    return { kind: 'bad_url', rule: 'scheme', why, url };
  }
  return { kind: 'admitted', url, loopbackOnly, isLoopback: address.loopback };
}

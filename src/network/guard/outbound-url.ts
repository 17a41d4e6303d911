import { isIP } from 'node:net';
import { type AddressPolicy, judgeAddress } from './address-policy.ts';

/** Verdict on a URL without network access. */
export type Admission =
  /** `loopbackOnly`: it is not encrypted, so it may not leave this machine. */
  | { readonly kind: 'admitted'; readonly url: URL; readonly loopbackOnly: boolean }
  | { readonly kind: 'refused_address'; readonly why: string }
  | { readonly kind: 'bad_url'; readonly why: string };

/** Longest address asked, in characters: beyond it servers refuse anyway. */
const maxLength = 8192;

/** Judges an HTTP address: https, or plain http to loopback where the policy allows that; no credentials, no fragment. */
export function admitHttpUrl(text: string, policy: AddressPolicy): Admission {
  if (text.length > maxLength) return { kind: 'bad_url', why: `longer than ${maxLength} characters` };
  const url = URL.parse(text);
  // The text itself is not repeated: what does not parse may hold credentials anywhere.
  if (!url) return { kind: 'bad_url', why: 'not a URL' };
  const loopbackOnly = url.protocol === 'http:';
  if (url.protocol !== 'https:' && !(loopbackOnly && policy.allowLoopback)) {
    return { kind: 'bad_url', why: `${url.protocol} is not allowed, use https:` };
  }
  if (url.username !== '' || url.password !== '') return { kind: 'bad_url', why: 'it contains credentials' };
  if (url.hash !== '') return { kind: 'bad_url', why: 'it has a fragment' };
  // Node asks no lookup for a literal address. Odd spellings (0x7f.1, 2130706433) were made plain by the URL parser.
  const host = bareHost(url);
  if (isIP(host) === 0) return { kind: 'admitted', url, loopbackOnly };
  const verdict = judgeAddress(host, policy);
  if (!verdict.allowed) return { kind: 'refused_address', why: `no public address (${verdict.range})` };
  if (loopbackOnly && !verdict.loopback)
    return { kind: 'bad_url', why: 'http: is only allowed for loopback, use https:' };
  return { kind: 'admitted', url, loopbackOnly };
}

function bareHost(url: URL): string {
  return url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
}

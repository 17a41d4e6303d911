/**
 * Rules for admitting URLs from other parties and from the operator. `src/network/guard/address-policy.ts` adds the address
 * policy for URLs that other parties choose.
 */

/** Schemes of HTTP URLs, the encrypted one first. */
export const httpSchemes = ['https:', 'http:'] as const;

/** Schemes of WebSocket URLs, the encrypted one first. */
export const socketSchemes = ['wss:', 'ws:'] as const;

/** Maximum length of a URL, in characters; many servers reject longer URLs. */
const maxUrlLength = 8192;

/** Name of a rule for URLs. */
type UrlRule = 'length' | 'syntax' | 'scheme' | 'credentials' | 'fragment' | 'path';

/** Result for a string that is not an admitted URL. */
export interface RefusedUrl {
  readonly kind: 'refused';
  readonly rule: UrlRule;
  /**
   * Reason for the refusal. It quotes no part of the string except the scheme, because other parts may contain a
   * secret.
   */
  readonly why: string;
  /** Parsed URL, or null if the string is not a URL. */
  readonly url: URL | null;
}

/** Result of applying the rules to a string. */
type UrlVerdict = { readonly kind: 'url'; readonly url: URL } | RefusedUrl;

/** Rules for one kind of URL. */
export interface UrlRules {
  /** Admitted schemes. The first one is named in the reason of a refusal. */
  readonly schemes: readonly string[];
  /** Maximum length in characters; `maxUrlLength` by default. */
  readonly maxLength?: number;
  /** Parts that are admitted although they are refused by default. */
  readonly admits?: readonly ('credentials' | 'fragment')[];
  /** True for a URL that must be an origin, without a path or a query. */
  readonly isOrigin?: boolean;
}

/** Parses a string as a URL that must satisfy the rules. Never throws. */
export function parseUrl(text: string, rules: UrlRules): UrlVerdict {
  const { schemes, maxLength = maxUrlLength, admits = [], isOrigin = false } = rules;
  const refused = (rule: UrlRule, why: string, url: URL | null): RefusedUrl => ({ kind: 'refused', rule, why, url });
  if (text.length > maxLength) return refused('length', `longer than ${maxLength} characters`, null);
  const url = URL.parse(text);
  if (!url) return refused('syntax', 'not a URL', null);
  if (!schemes.includes(url.protocol)) {
    return refused('scheme', `${url.protocol} is not allowed; use ${schemes[0]}`, url);
  }
  if ((url.username !== '' || url.password !== '') && !admits.includes('credentials')) {
    return refused('credentials', 'it contains credentials', url);
  }
  // The delimiter of an empty fragment or query is present only in `href`.
  if (url.hash !== '' && !admits.includes('fragment')) return refused('fragment', 'it has a fragment', url);
  if (isOrigin && url.href !== `${url.origin}/`) return refused('path', 'it has a path or a query', url);
  return { kind: 'url', url };
}

/** Returns the host of a URL in the form that `net.isIP` and `judgeAddress` expect: an IPv6 address has no brackets. */
export function bareHost({ hostname }: URL): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/** Formats a URL for logs, pages and artifacts: scheme, host, port and path, without credentials, query or fragment. */
export function publicUrl({ protocol, host, pathname }: URL): string {
  return `${protocol}//${host}${pathname}`;
}

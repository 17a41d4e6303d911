/** Maximum lifetime of a response and default maximum delay before a retry, in seconds, regardless of the headers. */
const maxSeconds = 3600;
/** Lifetime in caches of a response of the contract, in seconds. */
const defaultSeconds = 60;
/** Maximum length of a validator in characters: servers refuse a request whose headers are too long. */
export const maxValidator = 1024;

/**
 * Returns the time for which a response may be reused without a request, in milliseconds: `max-age`, but at most an
 * hour, less the response's `Age`. Returns 0 for a response with `no-store` or `no-cache`, or without `max-age`.
 */
export function maxAgeMs(headers: Headers): number {
  const seconds = lifetimes(headers)['max-age'] ?? 0;
  const age = wholeSeconds(headers.get('age')) ?? 0;
  return Math.max(0, Math.min(seconds, maxSeconds) - age) * 1000;
}

/**
 * Returns the time for which caches may keep a response, in milliseconds: the longer of `max-age` and `s-maxage`, but at
 * most an hour. Returns 0 for a response with `no-store` or `no-cache`, and the contract's minute without a lifetime.
 */
export function cacheLifetimeMs(headers: Headers): number {
  const stated = Object.values(lifetimes(headers));
  return Math.min(stated.length === 0 ? defaultSeconds : Math.max(...stated), maxSeconds) * 1000;
}

/** Returns the lifetimes that `Cache-Control` states, in seconds. */
function lifetimes(headers: Headers): Partial<Record<'max-age' | 's-maxage', number>> {
  const directives = (headers.get('cache-control') ?? '')
    .toLowerCase()
    .split(',')
    .map((part) => part.trim());
  if (directives.includes('no-store') || directives.includes('no-cache')) return { 'max-age': 0 };
  const stated: Partial<Record<'max-age' | 's-maxage', number>> = {};
  for (const name of ['max-age', 's-maxage'] as const) {
    const first = directives.find((part) => part.startsWith(`${name}=`));
    const seconds = wholeSeconds(first?.slice(name.length + 1) ?? null);
    if (seconds !== null) stated[name] = seconds;
  }
  return stated;
}

/**
 * Returns the delay in seconds from a `Retry-After` header in either of its formats, limited to between 0 and
 * `maxDelaySeconds`; null if the header is absent or invalid. `now` is in milliseconds since 1970.
 */
export function retryAfterSeconds(headers: Headers, now: number, maxDelaySeconds = maxSeconds): number | null {
  const text = headers.get('retry-after');
  if (text === null) return null;
  // HTTP dates begin with a day of the week. `Date.parse` also accepts other texts, such as `-3`.
  const date = /^\s*[A-Z]/i.test(text) ? Date.parse(text) : Number.NaN;
  const seconds = wholeSeconds(text) ?? Math.ceil((date - now) / 1000);
  return Number.isNaN(seconds) ? null : Math.min(Math.max(seconds, 0), maxDelaySeconds);
}

function wholeSeconds(text: string | null): number | null {
  const digits = /^\s*(\d{1,12})\s*$/.exec(text ?? '')?.[1];
  return digits === undefined ? null : Number(digits);
}

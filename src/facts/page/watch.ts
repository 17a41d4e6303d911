import { cacheSeconds } from '../../contract/limits.ts';

/** Requests the page again, so that its script can show current facts. */
interface PageWatch {
  /** Requests the page. Never rejects. */
  ask(): Promise<Answer>;
  /** Returns true if the page should be requested now: it has expired, or the clock was set back. */
  isDue(): boolean;
  /**
   * Returns true if the page shown last is too old to stay until a request has its response, as after a sleep; false once
   * a request had no current page.
   */
  isOld(): boolean;
}

/** Response to a request for the page: its HTML, or the reason in words why there is no current page. */
type Answer = { readonly kind: 'served'; readonly html: string } | { readonly kind: 'unreached'; readonly why: string };

/** Functions on which a watch depends, provided by the browser or by a test. */
interface WatchContext {
  readonly fetch: typeof globalThis.fetch;
  /** Returns milliseconds since 1970. */
  readonly clock: () => number;
}

/** Timeout of a request, in milliseconds. */
const timeoutMs = 10_000;
/** Maximum length of the page, in characters. */
const maxCharacters = 4 * 1024 * 1024;
/** Delay before the next request after a request without a current page, in milliseconds. */
const retryMs = 15_000;
/** Time for which a page is current, in milliseconds; then it is requested again. */
const lifetimeMs = cacheSeconds * 1000;
/**
 * Maximum age of a page on its arrival, in milliseconds: the service sends a page for a minute, its facts may be a minute
 * old, and two clocks may differ by a minute.
 */
const maxAgeMs = 3 * 60_000;

/** Maximum age of a page that is shown, in milliseconds: it expires, and the response to the next request is awaited. */
const maxShownAgeMs = maxAgeMs + lifetimeMs + timeoutMs;

/**
 * Creates a watch of the page at `url`. A page is shown only if it was built recently: a page that a cache repeats
 * although it has expired, or since a fact was refused, counts as no response, and so does any other document. `loaded`
 * is the HTML of the page as the browser loaded it.
 */
export function watchPage(url: string, { fetch, clock }: WatchContext, loaded: string): PageWatch {
  let newest = { builtAt: 0, at: 0 };
  let shownBuiltAt = 0;
  let refusedAt = 0;
  let due = 0;
  take(loaded);

  function take(html: string): void {
    shownBuiltAt = builtAtIn(html);
    if (html.includes(' data-refused="')) refusedAt = shownBuiltAt;
  }

  async function answer(): Promise<Answer> {
    // Credentials are sent as the browser did for the page, because a proxy in front of the service may require them.
    const response = await fetch(url, { signal: AbortSignal.timeout(timeoutMs), cache: 'no-store' });
    const html = await response.text();
    const builtAt = builtAtIn(html);
    if (!response.ok || builtAt === 0 || html.length > maxCharacters) {
      return { kind: 'unreached', why: 'The response is not this page.' };
    }
    const ageMs = ageOf(builtAt);
    if (builtAt < refusedAt) {
      return { kind: 'unreached', why: 'The response is older than the last refusal: a cache repeats it.' };
    }
    if (ageMs > maxAgeMs) {
      const age = Math.floor(ageMs / 1000);
      const why = `The page was built ${age} s ago: a cache repeats it, or the clock of this computer is ahead.`;
      return { kind: 'unreached', why };
    }
    take(html);
    return { kind: 'served', html };
  }

  /** Returns the age of a page: by this clock, and by the newest page and the time since its arrival. */
  function ageOf(builtAt: number): number {
    const now = clock();
    if (builtAt > newest.builtAt) newest = { builtAt, at: now };
    // A clock that is behind does not hide the age.
    return Math.max(now - builtAt, newest.builtAt - builtAt + now - newest.at);
  }

  return {
    async ask() {
      const asked = clock();
      // The network failed, or the request timed out.
      const found = await answer().catch(() => ({ kind: 'unreached', why: 'The service did not respond.' }) as const);
      due = asked + lifetimeMs;
      if (found.kind === 'served') return found;
      due = clock() + retryMs;
      shownBuiltAt = Number.NaN;
      return found;
    },
    isDue: () => clock() >= due || due - clock() > lifetimeMs,
    isOld: () => ageOf(shownBuiltAt) > maxShownAgeMs,
  };
}

/** Returns the time at which the server built the page, in milliseconds since 1970; 0 if it is not this page. */
function builtAtIn(html: string): number {
  return Date.parse(/<div class="intro" data-built="([^"]+)"/.exec(html)?.[1] ?? '') || 0;
}

/** Names of the facts, by the name of their refusal (`data-refused`). */
const names = {
  conditions: 'The weather conditions',
  metrics: 'Rates and totals',
  labels: 'The label overview',
} as const;

/**
 * Describes the facts that are refused now and were shown before, or the reverse. Screen readers announce this
 * description. Both arguments are the names of the refused facts; `everything` means that no page arrived.
 */
export function describeChanges(before: ReadonlySet<string>, now: ReadonlySet<string>): string {
  const isMissing = (refused: ReadonlySet<string>, name: string) => refused.has('everything') || refused.has(name);
  if (now.has('everything'))
    return before.has('everything') ? '' : 'No response from the service; the numbers were removed.';
  return Object.entries(names)
    .filter(([name]) => isMissing(before, name) !== isMissing(now, name))
    .map(([name, words]) => `${words}: ${now.has(name) ? 'now refused; the numbers were removed' : 'shown again'}.`)
    .join(' ');
}

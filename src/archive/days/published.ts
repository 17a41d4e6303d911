import { parseTimestamp } from '../../contract/timestamp.ts';

/**
 * Extracts the parts of archived bodies that the gap manifest uses. A body with an unexpected shape yields no parts.
 */

interface StatedGap {
  readonly start: string;
  readonly end: string;
  readonly reason: string;
}

/** Interval of a published weather window, with its unobserved time in seconds. */
interface StatedWindow {
  readonly start: string;
  readonly end: string;
  readonly unobservedSeconds: number;
}

/** Returns the gaps and the warm-up period that a label overview states. Ignores entries with an unexpected shape. */
export function observedIn(text: string): StatedGap[] {
  const coverage = at(parsed(text), ['facts', 'coverage']);
  const gaps = at(coverage, ['gaps']);
  const stated: unknown[] = Array.isArray(gaps) ? gaps : [];
  return [at(coverage, ['warmup']), ...stated].flatMap((gap) => {
    const [start, end, reason] = [at(gap, ['start']), at(gap, ['end']), at(gap, ['reason'])];
    return isTime(start) && isTime(end) && typeof reason === 'string' ? [{ start, end, reason }] : [];
  });
}

/** Returns the window of published weather metrics; null if the body states no window. */
export function weatherWindow(text: string): StatedWindow | null {
  const window = at(parsed(text), ['facts', 'window']);
  const [start, end] = [at(window, ['start']), at(window, ['end'])];
  const [span, observed] = [at(window, ['span_seconds']), at(window, ['observed_seconds'])];
  if (!isTime(start) || !isTime(end) || typeof span !== 'number' || typeof observed !== 'number') return null;
  // Round to microseconds: subtracting decimal fractions adds digits that no fact states.
  return { start, end, unobservedSeconds: Math.round((span - observed) * 1e6) / 1e6 };
}

function isTime(value: unknown): value is string {
  return parseTimestamp(value) !== null;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function at(value: unknown, keys: readonly string[]): unknown {
  let found = value;
  for (const key of keys) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Readonly<Record<string, unknown>>)[key];
  }
  return found;
}

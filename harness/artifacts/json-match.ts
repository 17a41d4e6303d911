import { parseTimestamp } from '../../src/contract/timestamp.ts';

/**
 * Returns the JSON pointers at which a value does not match a pattern, or an empty list if the value matches. Objects
 * and lists may have additional members. Throws for an unknown placeholder.
 */
export function mismatches(pattern: unknown, value: unknown, pointer = ''): string[] {
  if (typeof pattern === 'string' && pattern.startsWith('~')) {
    return holds(pattern, value) ? [] : [`${pointer}: expected ${pattern}, got ${JSON.stringify(value)}`];
  }
  if (Array.isArray(pattern)) {
    if (!Array.isArray(value)) return [`${pointer}: expected a list, got ${JSON.stringify(value)}`];
    return pattern.flatMap((member, index) => mismatches(member, value[index], `${pointer}/${index}`));
  }
  if (typeof pattern === 'object' && pattern !== null) {
    if (typeof value !== 'object' || value === null)
      return [`${pointer}: expected an object, got ${JSON.stringify(value)}`];
    const members = value as Record<string, unknown>;
    return Object.entries(pattern).flatMap(([key, member]) => mismatches(member, members[key], `${pointer}/${key}`));
  }
  return Object.is(pattern, value)
    ? []
    : [`${pointer}: expected ${JSON.stringify(pattern)}, got ${JSON.stringify(value)}`];
}

function holds(kind: string, value: unknown): boolean {
  switch (kind) {
    case '~number':
      return typeof value === 'number';
    case '~negative':
      return typeof value === 'number' && value < 0;
    case '~string':
      return typeof value === 'string' && value !== '';
    case '~instant':
      return parseTimestamp(value) !== null;
    case '~absent':
      return value === undefined;
    default:
      throw new Error(`unknown placeholder ${kind}`);
  }
}

const units = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Replaces placeholders such as `"@-30s"` with timestamps relative to `now` (milliseconds since 1970). */
export function resolveTimes(text: string, now: number): string {
  return text.replaceAll(/@([+-]\d+)([smhd])/g, (_all, count: string, unit: keyof typeof units) =>
    new Date(now + Number(count) * units[unit]).toISOString(),
  );
}

/** Deep-merges changes into an object. The value `"~remove"` removes a property. Lists are replaced as a whole. */
export function merged(base: unknown, changes: unknown): unknown {
  if (!isPlain(base) || !isPlain(changes)) return changes;
  const result: Record<string, unknown> = { ...base };
  for (const [key, change] of Object.entries(changes)) {
    if (change === '~remove') delete result[key];
    else result[key] = merged(result[key], change);
  }
  return result;
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

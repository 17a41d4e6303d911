import { type Bin, type Hole, observedParts } from '../../web/chart/series.ts';

const hourMs = 3_600_000;

/** Reason of a hole that the hours file does not list. */
export const unlistedReason = 'reason not recorded';

/** One hour of a file, with the seconds in which it was observed. */
export interface CountedHour {
  /** Start in milliseconds since 1970. */
  readonly start: number;
  readonly seconds: number;
}

/** Returns the period, the observed share and the reasons of an hour. */
export function binOf({
  start,
  seconds,
  through,
  holes,
}: CountedHour & { readonly through: number; readonly holes: readonly Hole[] }): Omit<Bin, 'value'> {
  const end = start + hourMs;
  const passed = Math.max(0, Math.min(end, through) - start);
  const observed = passed === 0 ? 1 : Math.min(1, (seconds * 1000) / passed);
  const reasons = new Set(
    holes.filter((hole) => hole.start < Math.min(end, through) && hole.end > start).map(({ reason }) => reason),
  );
  return { start, end, observed, reason: observed >= 1 || reasons.size === 0 ? null : [...reasons].join(', ') };
}

/**
 * Adds a hole for every hour without any observed second that the listed holes do not cover, so that no such hour looks
 * observed. Joins adjoining holes that it adds.
 */
export function withUnlistedHoles(hours: readonly CountedHour[], listed: readonly Hole[], through: number): Hole[] {
  const added: { start: number; end: number; reason: string }[] = [];
  for (const { start, seconds } of hours) {
    if (seconds > 0) continue;
    for (const part of observedParts({ start, end: start + hourMs }, { holes: listed, through })) {
      const last = added.at(-1);
      if (last?.end === part.start) last.end = part.end;
      else added.push({ ...part, reason: unlistedReason });
    }
  }
  return [...listed, ...added].sort((a, b) => a.start - b.start);
}

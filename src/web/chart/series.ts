/**
 * Data of a chart over time, made of equal periods (hours or days). All times are in UTC milliseconds since 1970; starts
 * are inclusive, ends exclusive.
 */

/** A period in which nothing was observed, with the reason in words. */
export interface Hole {
  readonly start: number;
  readonly end: number;
  readonly reason: string;
}

/** Range in which the value of a period usually lies. */
export interface UsualRange {
  readonly low: number;
  readonly high: number;
}

/** One hour or one day of a chart. */
export interface Bin {
  readonly start: number;
  readonly end: number;
  /** Value of the observed time; null if it is unknown. An unknown value is never drawn as 0. */
  readonly value: number | null;
  /** Second value with the same unit, drawn below the zero line of a bar chart; absent if the chart has none. */
  readonly below?: number | null;
  /**
   * Additional count that is drawn apart from `value` and never added to it, such as labels that were read later. Absent
   * if the chart has none.
   */
  readonly apart?: number | null;
  /** Observed share (0 to 1) of the part of the period that has passed. */
  readonly observed: number;
  /** Usual range of `value`; null if the period cannot be compared, absent if the chart has no ranges. */
  readonly usual?: UsualRange | null;
  /** Reasons why the period was not observed entirely, in words; null if it was. */
  readonly reason: string | null;
}

/** A chart: one value per period, or one above and one below the zero line. */
export interface TimeSeries {
  /** Name of the chart, unique on its page: letters, digits and hyphens. */
  readonly id: string;
  /** A line for rates, bars for counts. */
  readonly shape: 'line' | 'bars';
  /** CSS class that sets the colour of the line. */
  readonly paint: 'weather' | 'labels';
  /** Consecutive periods of equal length, oldest first. */
  readonly bins: readonly Bin[];
  readonly holes: readonly Hole[];
  /** End of the time about which the data can say anything. Later time is left blank, because it is not a hole. */
  readonly through: number;
}

/**
 * Returns the parts of a period that lie before `through` and outside all holes, oldest first. Holes may overlap.
 */
export function observedParts(
  { start, end }: { readonly start: number; readonly end: number },
  { holes, through }: Pick<TimeSeries, 'holes' | 'through'>,
): { start: number; end: number }[] {
  const last = Math.min(end, through);
  const parts: { start: number; end: number }[] = [];
  let from = start;
  const own = holes.filter((hole) => hole.end > start && hole.start < last);
  for (const hole of own.sort((a, b) => a.start - b.start)) {
    if (hole.end <= from) continue;
    if (hole.start > from) parts.push({ start: from, end: hole.start });
    from = Math.max(from, hole.end);
  }
  if (from < last) parts.push({ start: from, end: last });
  return parts;
}

/**
 * Returns on which side of its usual range the value of a period lies. Returns null if either is unknown, or if the period
 * has not ended by `through` or was not observed entirely, because the range is that of whole periods.
 */
export function sideOf({ end, observed, value, usual }: Bin, through: number): 'above' | 'below' | 'within' | null {
  if (value === null || !usual || observed < 1 || end > through) return null;
  return value > usual.high ? 'above' : value < usual.low ? 'below' : 'within';
}

/** Returns the period with the highest value, the earlier of equal ones; null if no value is above zero. */
export function peakOf({ bins }: Pick<TimeSeries, 'bins'>): Bin | null {
  const known = bins.filter(({ value }) => (value ?? 0) > 0);
  return known.reduce<Bin | null>((most, bin) => ((bin.value ?? 0) > (most?.value ?? 0) ? bin : most), null);
}

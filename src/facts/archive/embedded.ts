import type { ChartDay, HourGap } from './model.ts';

/** The newest gaps of a period, with the number of all its gaps. */
export interface NewestGaps {
  readonly newest: readonly HourGap[];
  readonly count: number;
}

/** The last month of the archive, as the observatory page shows it. */
export interface RecentArchive {
  /** Newest day of the archive. It may be before that month. */
  readonly newest: string;
  /** Consecutive days. */
  readonly days: readonly ChartDay[];
  readonly gaps: NewestGaps;
  readonly weatherGaps: NewestGaps;
  /** Number of known issues that affect these days. */
  readonly issues: number;
  /** False if the label overview was refused when the data was read; the data then contains no labels. */
  readonly areLabelsShown: boolean;
}

/** Flags of a day, as the bits of one number. */
const bits = { isArchived: 1, isClosed: 2, isWeatherPartial: 4, isLabelsPartial: 8 } as const;

/** A day without its date: events per second, labels per hour, and flags. */
type EmbeddedDay = readonly [number | null, number | null, number];

interface Embedded extends Omit<RecentArchive, 'days'> {
  /** First day; null if there are no days. */
  readonly first: string | null;
  readonly days: readonly EmbeddedDay[];
}

const dayMs = 86_400_000;

/**
 * Encodes the archive data for an attribute of the page, from which the page's script restores it. Days are encoded
 * without names, because the escaped quotation marks of thirty days would be a sixth of the page.
 */
export function embeddedArchive(recent: RecentArchive): string {
  const days = recent.days.map((day): EmbeddedDay => {
    const flags =
      (day.isArchived ? bits.isArchived : 0) |
      (day.isClosed ? bits.isClosed : 0) |
      (day.isWeatherPartial ? bits.isWeatherPartial : 0) |
      (day.isLabelsPartial ? bits.isLabelsPartial : 0);
    return [day.eventsPerSecond, day.labelsPerHour, flags];
  });
  return JSON.stringify({ ...recent, first: recent.days[0]?.day ?? null, days } satisfies Embedded);
}

/** Returns the archive data embedded in a server-rendered page; null if the page has none. */
export function recentArchiveOf(page: ParentNode): RecentArchive | null {
  const text = page.querySelector('[data-archive]')?.getAttribute('data-archive');
  return typeof text === 'string' ? parseEmbedded(text) : null;
}

/** Restores archive data from the text that `embeddedArchive` returned. */
export function parseEmbedded(text: string): RecentArchive {
  const { first, days, ...others } = JSON.parse(text) as Embedded;
  const start = first === null ? Number.NaN : Date.parse(first);
  return {
    ...others,
    days: days.map(([eventsPerSecond, labelsPerHour, flags], at) => ({
      ...{ day: new Date(start + at * dayMs).toISOString().slice(0, 10), eventsPerSecond, labelsPerHour },
      isArchived: (flags & bits.isArchived) !== 0,
      isClosed: (flags & bits.isClosed) !== 0,
      isWeatherPartial: (flags & bits.isWeatherPartial) !== 0,
      isLabelsPartial: (flags & bits.isLabelsPartial) !== 0,
    })),
  };
}

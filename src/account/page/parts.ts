import type { AccountTally } from '../../store/port.ts';
import type { Interval } from '../../store/time.ts';

/** A part of an interval that one download holds. */
export interface DownloadPart extends Interval {
  /** The account's rows in it, regardless of the filters. */
  readonly rows: number;
}

/**
 * Cuts an interval at midnights into parts of at most `most` rows, adjacent and covering it. Null when a day was not
 * counted or holds more by itself: finer intervals are found when the export is asked for.
 */
export function downloadParts({ days }: Pick<AccountTally, 'days'>, most: number): DownloadPart[] | null {
  const parts: DownloadPart[] = [];
  for (const { start, end, counts } of days) {
    if (counts === null || counts.rows > most) return null;
    const last = parts.at(-1);
    if (last && last.rows + counts.rows <= most) {
      parts[parts.length - 1] = { start: last.start, end, rows: last.rows + counts.rows };
    } else {
      parts.push({ start, end, rows: counts.rows });
    }
  }
  return parts;
}

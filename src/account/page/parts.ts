import type { AccountTally } from '../../store/account-counts.ts';
import type { Interval } from '../../store/time.ts';

/** A part of an interval that fits into one download. */
export interface DownloadPart extends Interval {
  /** Number of the account's rows in the part, before the filters are applied. */
  readonly rows: number;
}

/**
 * Splits an interval at midnights into adjacent parts with at most `maxRows` rows each. Returns null if a day was not
 * counted or has more than `maxRows` rows; a client can then request an export, whose error response lists shorter
 * intervals.
 */
export function downloadParts({ days }: Pick<AccountTally, 'days'>, maxRows: number): DownloadPart[] | null {
  const parts: DownloadPart[] = [];
  for (const { start, end, counts } of days) {
    if (counts === null || counts.rows > maxRows) return null;
    const last = parts.at(-1);
    if (last && last.rows + counts.rows <= maxRows) {
      parts[parts.length - 1] = { start: last.start, end, rows: last.rows + counts.rows };
    } else {
      parts.push({ start, end, rows: counts.rows });
    }
  }
  return parts;
}

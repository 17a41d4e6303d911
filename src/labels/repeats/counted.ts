import type { LabelerCount } from '../../store/account-counts.ts';
import type { Position } from '../../store/port.ts';
import type { Purge } from '../../store/removals.ts';
import type { Interval } from '../../store/time.ts';
import { burstsIn, type Repeats, readRepeats, repeatsName } from './repeat-log.ts';

/** Stored repeats by the DID of the labeler. */
export type RepeatsByLabeler = ReadonlyMap<string, readonly Repeats[]>;

/** Returns the stored repeats by labeler, without repeats whose rows a purge removed. */
export function repeatsOf(positions: readonly Position[], purges: readonly Purge[]): RepeatsByLabeler {
  const removedAt = new Map(purges.map(({ source, requestedAt }) => [source, requestedAt]));
  const found = new Map<string, readonly Repeats[]>();
  for (const { source, endpoint, value } of positions) {
    if (endpoint !== repeatsName) continue;
    const since = (removedAt.get(source) ?? 0) / 60_000_000;
    found.set(
      source,
      readRepeats(value).filter(({ minute }) => minute >= since),
    );
  }
  return found;
}

/** Number of events of a labeler in an interval. */
export interface LabelerEvents {
  readonly labeler: string;
  readonly events: number;
}

/** Counts of an interval without bursts of repeats, and the number of excluded rows. */
export interface Counted {
  /** Counts in the order of the store: largest first, then by DID. A labeler that only has excluded rows is omitted. */
  readonly counts: readonly LabelerEvents[];
  readonly leftOut: number;
  /** Number of labelers with a burst in the interval. */
  readonly labelers: number;
}

/** Subtracts the bursts of an interval from its counts, because rows that repeat known labels are not new events. */
export function withoutBursts(counts: readonly LabelerCount[], repeats: RepeatsByLabeler, interval: Interval): Counted {
  let leftOut = 0;
  let labelers = 0;
  const counted = counts.map(({ labeler, applied, removed }) => {
    const rows = applied + removed;
    const bursts = Math.min(rows, burstsIn(repeats.get(labeler) ?? [], interval));
    leftOut += bursts;
    if (bursts > 0) labelers += 1;
    return { labeler, events: rows - bursts };
  });
  const sorted = counted
    .filter(({ events }) => events > 0)
    .sort((a, b) => b.events - a.events || (a.labeler < b.labeler ? -1 : 1));
  return { counts: sorted, leftOut, labelers };
}

/** Returns the caveat with the number of rows that are stored and not counted; null if there are no such rows. */
export function repeatsCaveat({ leftOut, labelers }: Pick<Counted, 'leftOut' | 'labelers'>): string | null {
  if (leftOut === 0) return null;
  const rows = `${leftOut} ${leftOut === 1 ? 'row' : 'rows'} of the window`;
  const whose = `${labelers} ${labelers === 1 ? 'labeler that changed its key' : 'labelers that changed their keys'}`;
  return `${rows}, from ${whose}, repeat known labels with a new date: they are stored, but not counted as new events.`;
}

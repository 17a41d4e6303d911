import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Position } from '../../store/port.ts';
import type { Purge } from '../../store/removals.ts';
import { minute as minuteUs } from '../../store/time.ts';
import { burstsOf, type Repeats, readRepeats, repeatsName } from './repeat-log.ts';

/** Number of stored strings that are parsed in one turn of the event loop. */
const textsAtOnce = 20;

/** Bursts of repeats by labeler, in order of their minutes. */
export type BurstsByLabeler = ReadonlyMap<string, readonly Repeats[]>;

/** Finds bursts among the stored repeats. Omits repeats from before a purge of the labeler's rows. */
export async function burstsByLabeler(
  positions: readonly Position[],
  purges: readonly Purge[],
): Promise<BurstsByLabeler> {
  const removedAt = new Map(purges.map(({ source, requestedAt }) => [source, requestedAt]));
  const found = new Map<string, readonly Repeats[]>();
  let read = 0;
  for (const { source, endpoint, value } of positions) {
    if (endpoint !== repeatsName) continue;
    const since = (removedAt.get(source) ?? 0) / minuteUs;
    const bursts = burstsOf(readRepeats(value).filter(({ minute }) => minute >= since));
    if (bursts.length > 0) found.set(source, bursts);
    read += 1;
    if (read % textsAtOnce === 0) await nextTurn();
  }
  return found;
}

/** A labeler, and the number of its events that count in an interval. */
export interface LabelerEvents {
  readonly labeler: string;
  readonly events: number;
}

/** Counts without bursts of repeats, and the number of omitted rows. */
export interface Counted {
  /** Labelers in descending order of their counts, then by DID. Labelers whose rows are all repeats are omitted. */
  readonly counts: readonly LabelerEvents[];
  /** Number of rows that are omitted because they repeat known labels. */
  readonly leftOut: number;
  /** Number of labelers with a burst in the interval. */
  readonly labelers: number;
}

/** Returns the caveat with the number of rows that are stored and not counted, or null if there are no such rows. */
export function repeatsCaveat({ leftOut, labelers }: Pick<Counted, 'leftOut' | 'labelers'>): string | null {
  if (leftOut === 0) return null;
  const rows = `${leftOut} ${leftOut === 1 ? 'row' : 'rows'} of the window`;
  const whose = `${labelers} ${labelers === 1 ? 'labeler that changed its key' : 'labelers that changed their keys'}`;
  return `${rows}, from ${whose}, repeat known labels with a new date: they are stored, but not counted as new events.`;
}

import { formatTimestamp } from '../../contract/timestamp.ts';
import { type CollectionName, collectionNames } from '../../contract/vocabulary.ts';
import type { Minute } from '../window/minute.ts';
import type { Silence } from '../window/silence-store.ts';
import { windowFlag, windowUs } from '../window/window.ts';

/**
 * Documented interval, in hours, at which hosts compact their history. A shorter actual interval cannot be detected.
 */
export const compactionHours = 4;

/**
 * Returns the caveats about compacted history, repeated rows and missing event numbers, each with the affected amount.
 */
export function weatherCaveats(minutes: readonly Minute[]): string[] {
  return [compaction(minutes), resync(minutes), leftOut(minutes)].filter((caveat) => caveat !== null);
}

/** Returns one sentence, with the time of the silence, for each collection that was silent while others continued. */
export function silenceCaveats(minutes: readonly Minute[], silences: readonly Silence[]): string[] {
  const newest = minutes.at(-1);
  if (!newest) return [];
  const endUs = newest.startUs + windowUs;
  return collectionNames.flatMap((collection) => {
    const own = silences.filter((silence) => silence.collection === collection);
    const last = own.at(-1);
    if (!last) return [];
    const span = last.to >= endUs ? `since ${instant(last.from)}` : `from ${instant(last.from)} to ${instant(last.to)}`;
    const others = own.length - 1;
    const earlier = others === 0 ? '' : `, and at ${others} other ${others === 1 ? 'time' : 'times'} before`;
    return [
      `The host sent no ${collection} events ${span}${earlier}, while it sent others: that time counts as not observed for this ` +
        'collection. The window and the total of all events include it.',
    ];
  });
}

/** Collections that are not counted in all minutes, or for which the series has no event. */
export interface CountingLimits {
  readonly countedSince: ReadonlyMap<CollectionName, number>;
  readonly unseen: ReadonlySet<CollectionName>;
}

/**
 * Returns the caveats for collections that were not counted from the beginning, or for which the host has sent no
 * event.
 */
export function countingCaveats(minutes: readonly Minute[], { countedSince, unseen }: CountingLimits): string[] {
  const startUs = minutes[0]?.startUs ?? 0;
  const late = [...countedSince].filter(([, sinceUs]) => sinceUs > startUs);
  return [
    ...late.map(
      ([collection, sinceUs]) =>
        `${collection} events have been counted since ${instant(sinceUs)}: earlier time counts as not observed for this collection.`,
    ),
    ...(unseen.size === 0
      ? []
      : [
          `No event of these collections was received since the observation of this host began: ${[...unseen].join(', ')}. They ` +
            'are not published as zero, because the host may omit them.',
        ]),
  ];
}

/**
 * Returns the caveat for counts from compacted history, or null if there are no such counts. Compacted history lacks
 * creates and updates that were later deleted or superseded.
 */
function compaction(minutes: readonly Minute[]): string | null {
  const watched = sum(minutes, ({ observedUs }) => observedUs);
  const old = sum(minutes, ({ observedUs, flags }) => ((flags & windowFlag.compacted) === 0 ? 0 : observedUs));
  if (old === 0) return null;
  const percent = Math.max(0.1, (old / watched) * 100).toFixed(1);
  return (
    `${percent} % of the observed time was read from history older than ${compactionHours} hours, which hosts compact: ` +
    'creates and updates that were deleted or superseded since are missing from the counts of that time.'
  );
}

function resync(minutes: readonly Minute[]): string | null {
  const rows = sum(minutes, (minute) => minute.resync);
  if (rows === 0) return null;
  return (
    `${rows} rows that repeat records after a repository was synchronised again are not counted: they are not actions of an account. They are ` +
    'detected only by their account and time.'
  );
}

function leftOut(minutes: readonly Minute[]): string | null {
  const numbers = sum(minutes, (minute) => minute.leftOut);
  if (numbers === 0) return null;
  return (
    `The host left out ${numbers} of its event numbers while it was observed live: events were lost, or the numbers ` +
    'were never used.'
  );
}

function sum(minutes: readonly Minute[], of: (minute: Minute) => number): number {
  return minutes.reduce((total, minute) => total + of(minute), 0);
}

function instant(us: number): string {
  return formatTimestamp(Math.floor(us / 1000));
}

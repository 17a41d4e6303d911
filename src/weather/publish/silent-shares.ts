import { minRateSeconds } from '../../contract/limits.ts';
import { type CollectionName, collectionNames } from '../../contract/vocabulary.ts';
import { type CollectionTime, silenceRule } from '../silence/silence.ts';
import type { Usual, UsualCounts } from '../silence/usual.ts';
import type { Silence } from '../window/store-schema.ts';
import { isWithin, type Minute } from '../window/window.ts';

/** Collections that count as interactions. Their rate determines the conditions. */
export const interactions: readonly CollectionName[] = [
  'post.create.reply',
  'post.create.quote',
  'repost.create',
  'like.create',
];

/** Maximum share of silent collections: of the interactions for conditions, of all events for a usual rate. */
export const bearable = 0.05;

/** Each collection's share of the interactions, from 0 to 1. */
export interface Shares {
  of(collection: CollectionName): number;
  /** Returns true if the conditions cannot be determined without the collections. */
  exceedBearable(collections: readonly CollectionName[]): boolean;
}

/**
 * Computes the shares from each collection's rate during its observed time. If a collection counts as interactions
 * but was not observed for long enough for a rate, its share is the usual one, by the usual counts per minute `p50` in
 * the order of `collectionNames`; without them it is 1. If a collection does not count as interactions, its share is 0.
 */
export function interactionShares(times: readonly CollectionTime[], p50: UsualCounts['p50']): Shares {
  const rateOf = (collection: CollectionName): number | null => {
    const time = times[collectionNames.indexOf(collection)];
    return time && time.observedUs >= minRateSeconds * 1_000_000 ? time.total / time.observedUs : null;
  };
  const all = interactions.reduce((sum, collection) => sum + (rateOf(collection) ?? 0), 0);
  const of = (collection: CollectionName): number => {
    if (!interactions.includes(collection)) return 0;
    const rate = rateOf(collection);
    if (rate === null) return usualShare(collection, p50);
    return all > 0 ? rate / all : 0;
  };
  return {
    of,
    exceedBearable: (collections) => collections.reduce((sum, collection) => sum + of(collection), 0) > bearable,
  };
}

/** Returns the share of a collection in the usual interactions, or 1 if it is not known. */
function usualShare(collection: CollectionName, p50: UsualCounts['p50']): number {
  const usualOf = (name: CollectionName): number => p50[collectionNames.indexOf(name)] ?? Number.NaN;
  const share = usualOf(collection) / interactions.reduce((sum, name) => sum + usualOf(name), 0);
  return Number.isNaN(share) ? 1 : share;
}

/** Creates the functions that determine the part of the interactions that is missing because collections are silent. */
export function silentShares(silences: readonly Silence[], shares: Shares, usual: Usual) {
  const inMinute = (collection: CollectionName, minute: Minute): boolean => {
    const own = silences.filter((silence) => silence.collection === collection);
    if (isWithin(minute, own)) return true;
    const { startUs, counts } = minute;
    // The silence is not proven yet, but events may already be missing from the minute.
    const place = collectionNames.indexOf(collection);
    return (counts[place] ?? 0) === 0 && (usual.hour(startUs).p05[place] ?? 0) >= silenceRule.frequentRate;
  };
  return {
    /**
     * Returns true if more than 5 % of the interactions may be missing from the minute, because collections are silent or
     * frequent collections have no event.
     */
    isSilent: (minute: Minute): boolean =>
      shares.exceedBearable(interactions.filter((collection) => inMinute(collection, minute))),
    /**
     * Returns the time from which the silences that last until `endUs` together make up more than 5 % of the
     * interactions, or null if they do not.
     */
    since: (endUs: number): number | null => {
      let missing = 0;
      for (const { collection, from } of silences.filter(({ to }) => to >= endUs).sort((a, b) => a.from - b.from)) {
        missing += shares.of(collection);
        if (missing > bearable) return from;
      }
      return null;
    },
    /**
     * Returns the latest end of silences that together made up more than 5 % of the interactions, or null if there is
     * none.
     */
    until: (): number | null => {
      const own = silences.filter(({ collection }) => interactions.includes(collection)).sort((a, b) => b.to - a.to);
      const last = own.find(({ to: endUs }) => {
        const ended = own.filter(({ from, to }) => from < endUs && to >= endUs);
        return shares.exceedBearable(ended.map(({ collection }) => collection));
      });
      return last?.to ?? null;
    },
  };
}

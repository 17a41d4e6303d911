import { type CollectionName, collectionNames } from '../../contract/vocabulary.ts';
import { isWithin } from '../window/earlier-days.ts';
import type { Minute } from '../window/minute.ts';
import type { Silence } from '../window/silence-store.ts';
import type { CollectionTime } from './collection-time.ts';
import { frequentRate, type Usual } from './silence.ts';

/** Collections that count as interactions. Their rate determines the conditions. */
export const interactions: readonly CollectionName[] = [
  'post.create.reply',
  'post.create.quote',
  'repost.create',
  'like.create',
];

/** Maximum share of the interactions that silent collections may have while conditions are still published. */
export const bearable = 0.05;

/** Each collection's share of the interactions, from 0 to 1. */
export interface Shares {
  of(collection: CollectionName): number;
  /** Returns true if the conditions cannot be determined without the silent collection. */
  readonly matters: (silence: Silence) => boolean;
}

/**
 * Computes the shares from each collection's rate during its observed time. If a collection counts as interactions
 * but was never observed, its share is 1. If a collection does not count as interactions, its share is 0.
 */
export function interactionShares(times: readonly CollectionTime[]): Shares {
  const rateOf = (collection: CollectionName): number => {
    const time = times[collectionNames.indexOf(collection)];
    return time && time.observedUs > 0 ? time.total / time.observedUs : Number.NaN;
  };
  const all = interactions.map(rateOf).reduce((sum, rate) => sum + (Number.isNaN(rate) ? 0 : rate), 0);
  const of = (collection: CollectionName): number => {
    if (!interactions.includes(collection)) return 0;
    const rate = rateOf(collection);
    if (Number.isNaN(rate)) return 1;
    return all > 0 ? rate / all : 0;
  };
  return { of, matters: ({ collection }) => of(collection) > bearable };
}

/** Determines which part of the interactions is missing because collections are silent. */
export interface SilentShares {
  /**
   * Returns true if more than 5 % of the interactions may be missing from the minute, because collections are silent or
   * frequent collections have no event.
   */
  isSilent(minute: Minute): boolean;
  /**
   * Returns the time from which the silences that last until `endUs` together make up more than 5 % of the
   * interactions, or null if they do not.
   */
  since(endUs: number): number | null;
}

/** Input for determining the silent part of the interactions. */
export interface SilentInput {
  readonly silences: readonly Silence[];
  readonly shares: Shares;
  readonly usual: Usual;
}

/** Creates the functions that determine the silent part of the interactions. */
export function silentShares({ silences, shares, usual }: SilentInput): SilentShares {
  const inMinute = (collection: CollectionName, minute: Minute): boolean => {
    const own = silences.filter((silence) => silence.collection === collection);
    if (isWithin(minute, own)) return true;
    const { startUs, counts } = minute;
    // The silence is not proven yet, but events may already be missing from the minute.
    const place = collectionNames.indexOf(collection);
    return (counts[place] ?? 0) === 0 && (usual.hour(startUs).p05[place] ?? 0) >= frequentRate;
  };
  return {
    isSilent: (minute) => {
      const missing = interactions.filter((collection) => inMinute(collection, minute));
      return missing.reduce((sum, collection) => sum + shares.of(collection), 0) > bearable;
    },
    since: (endUs) => {
      let missing = 0;
      for (const { collection, from } of silences.filter(({ to }) => to >= endUs).sort((a, b) => a.from - b.from)) {
        missing += shares.of(collection);
        if (missing > bearable) return from;
      }
      return null;
    },
  };
}

import type { LabelerSet } from '../../artifact/labeler-set.ts';
import type { LabelerLine } from '../../artifact/labelers.ts';
import type { Preparation } from '../../artifact/labelers-source.ts';
import type { SliceEnd } from '../../artifact/slices.ts';
import { type LabelerState, labelerStates } from '../../contract/labeler-vocabulary.ts';
import type { LabelerSummary } from '../../contract/labelers.ts';
import { describeLeak, findLeakExcept, type IdentityPlaces } from '../privacy.ts';
import { listConclusion } from './conclusion.ts';
import { projectSummary } from './project-labeler.ts';

/** Orders in which the page lists labelers. */
export const sortKeys = ['events', 'name', 'state', 'since', 'read'] as const;
/** An order in which the page lists labelers. */
export type SortKey = (typeof sortKeys)[number];

/** The list of all labelers, prepared once per artifact, so that a request only selects from it. */
export interface Catalogue {
  /** Entries in the order of the artifact, which is that of the JSON. */
  readonly entries: readonly LabelerSummary[];
  /** For each order, indices of the entries. */
  readonly orders: Readonly<Record<SortKey, Uint16Array>>;
  /** For each entry, the text that a search looks at, in lower case. */
  readonly searchTexts: readonly string[];
  readonly states: Readonly<Record<LabelerState, number>>;
  readonly conclusion: string;
  /** All entries as one serialized JSON array. */
  readonly json: Buffer;
}

/** Places of identities in `/labelers.json`. */
export const listPlaces: IdentityPlaces = {
  dids: /^\/facts\/labelers\/\d+\/did$/,
  handles: /^\/facts\/labelers\/\d+\/handle\/name$/,
};

/**
 * Creates the preparation of a catalogue. If the privacy scan finds an identity in an entry, the handle of that entry
 * is withheld. `alarm` is called with the location and never with the content.
 */
export function prepareCatalogue(alarm: (leak: string) => void): Preparation<Catalogue> {
  const entries: LabelerSummary[] = [];
  const pieces: string[] = [];

  return {
    visit(line) {
      const entry = scanned(line, entries.length, alarm);
      entries.push(entry);
      pieces.push(JSON.stringify(entry));
    },
    async finish(_set: LabelerSet, sliceEnd: SliceEnd): Promise<Catalogue> {
      const pause = async (): Promise<void> => {
        const ended = sliceEnd();
        if (ended) await ended;
      };
      await pause();
      const json = Buffer.from(`[${pieces.join(',')}]`);
      await pause();
      const names = entries.map(nameOf);
      const searchTexts = entries.map(({ did }, index) => `${names[index]}\n${did}`.toLowerCase());
      const orders: Partial<Record<SortKey, Uint16Array>> = {};
      for (const key of sortKeys) {
        await pause();
        orders[key] = orderBy(key, entries, names);
      }
      const states = Object.fromEntries(labelerStates.map((state) => [state, 0])) as Record<LabelerState, number>;
      for (const { state } of entries) states[state] += 1;
      const complete = entries.filter(isComplete).length;
      const conclusion = listConclusion({ enrolled: entries.filter(({ enrolled }) => enrolled).length, complete });
      return { entries, orders: orders as Record<SortKey, Uint16Array>, searchTexts, states, conclusion, json };
    },
  };
}

function isComplete({ enrolled, state, unread_days_7d: unread }: LabelerSummary): boolean {
  return enrolled && state === 'established' && unread === 0;
}

function scanned(line: LabelerLine, index: number, alarm: (leak: string) => void): LabelerSummary {
  const entry = projectSummary(line);
  const leak = findLeakExcept(listPlaces, entry, `/facts/labelers/${index}`);
  if (leak === null) return entry;
  alarm(describeLeak(leak));
  return { ...entry, handle: null, handle_withheld: 'privacy' };
}

/** Returns the name under which a labeler is listed: its handle, or its DID if it has no handle. */
export function nameOf({ handle, did }: Pick<LabelerSummary, 'handle' | 'did'>): string {
  return handle === null ? did : handle.name.toLowerCase();
}

const stateRank: ReadonlyMap<string, number> = new Map(labelerStates.map((state, rank) => [state, rank]));

/** Returns the indices of the entries in an order. Entries that are equal in that order stay sorted by DID. */
function orderBy(key: SortKey, entries: readonly LabelerSummary[], names: readonly string[]): Uint16Array {
  const keys = entries.map((entry, index): string | number => sortValue(key, entry, names[index] ?? ''));
  const indices = Uint16Array.from(entries, (_, index) => index);
  return indices.sort((a, b) => {
    const [left, right] = [keys[a] ?? '', keys[b] ?? ''];
    return left < right ? -1 : left > right ? 1 : a - b;
  });
}

/** Returns the value by which an entry is sorted, the smallest first. */
function sortValue(key: SortKey, entry: LabelerSummary, name: string): string | number {
  switch (key) {
    case 'events':
      return -entry.events.week;
    case 'name':
      // Sort labelers without a handle after labelers with a handle.
      return `${entry.handle === null ? 1 : 0}${name}`;
    case 'state':
      return stateRank.get(entry.state) ?? labelerStates.length;
    case 'since':
      return -Date.parse(entry.state_since);
    case 'read':
      return entry.last_answered === null ? Number.POSITIVE_INFINITY : -Date.parse(entry.last_answered);
  }
}

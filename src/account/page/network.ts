import type { Micros } from '../../contract/timestamp.ts';
import { removalSentence } from '../../store/removals.ts';
import { type LabelerHandle, labelerAnswered, labelerHandle } from '../../store/roster.ts';
import type { AccountStore } from '../account-store.ts';
import { kept } from './kept.ts';

/** What is known of the labelers, the same for every account. */
export interface Labelers {
  /** Enrolled ones and how each is read. */
  readonly states: ReadonlyMap<string, string>;
  /** Known ones that are not enrolled. */
  readonly notEnrolled: ReadonlySet<string>;
  /** What their documents call those that are named; a name that nobody confirmed is a claim. */
  readonly names: ReadonlyMap<string, LabelerHandle>;
  /** When each was last asked successfully. */
  readonly lastAsked: ReadonlyMap<string, Micros>;
  /** That rows were removed at the operator's request, and when; null where none were. */
  readonly removed: string | null;
}

/** As much of it as one page shows. */
export interface NetworkView extends Pick<Labelers, 'names' | 'removed'> {
  /** How many known ones are not enrolled. */
  readonly notEnrolled: number;
  /** How many enrolled ones are read in each way. */
  readonly byState: ReadonlyMap<string, number>;
}

/** What a page shows of it, with the names of the labelers that stand on the page. */
export function networkView({ states, notEnrolled, names, removed }: Labelers, shown: Iterable<string>): NetworkView {
  const byState = new Map<string, number>();
  for (const state of states.values()) byState.set(state, (byState.get(state) ?? 0) + 1);
  const named = [...new Set(shown)].flatMap((did): [string, LabelerHandle][] => {
    const name = names.get(did);
    return name ? [[did, name]] : [];
  });
  return { byState, notEnrolled: notEnrolled.size, names: new Map(named), removed };
}

/** How long it is kept, in milliseconds: a page's "last asked" is at most so much too early. */
const keptMs = 5_000;

/** Reads it, and keeps it between pages. `monotonic` gives milliseconds. */
export function labelersOf(monotonic: () => number): (store: AccountStore) => Promise<Labelers> {
  return kept({ ms: keptMs, monotonic }, read);
}

async function read(store: AccountStore): Promise<Labelers> {
  const [roster, positions, purges] = await Promise.all([store.roster(), store.positions(), store.purges()]);
  const lastAsked = new Map<string, Micros>();
  const answered = (did: string, at: Micros): void => {
    if (at > (lastAsked.get(did) ?? -1)) lastAsked.set(did, at);
  };
  for (const { source, acceptedAt } of positions) answered(source, acceptedAt);
  // A source whose position was forgotten has answered all the same; of one that is read on, the position is newer.
  for (const row of roster) {
    const at = labelerAnswered(row);
    if (at !== null) answered(row.did, at);
  }
  const enrolled = roster.filter((row) => row.enrolled);
  return {
    states: new Map(enrolled.map(({ did, state }) => [did, state])),
    names: new Map(
      roster.flatMap((row) => {
        const handle = labelerHandle(row);
        return handle === null ? [] : [[row.did, handle]];
      }),
    ),
    notEnrolled: new Set(roster.filter((row) => !row.enrolled).map(({ did }) => did)),
    lastAsked,
    removed: removalSentence(purges),
  };
}

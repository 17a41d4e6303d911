import type { Micros } from '../../contract/timestamp.ts';
import { StoreError } from '../../store/errors.ts';
import { identityOf } from '../../store/identity.ts';
import type { ReceivedLabel } from '../../store/label.ts';
import {
  duplicateHorizon,
  type Frontier,
  type NewObservation,
  type Observation,
  type StoreReader,
} from '../../store/port.ts';
import type { LabelerKey } from '../../store/roster.ts';
import { splitUri } from '../../store/subject.ts';
import { day, micros } from '../../store/time.ts';
import { type LookUpOptions, LookUps } from './look-ups.ts';

/** Time after an observed change of a key within which repeats are looked for. */
const watchedAfterChange = 7 * day;
/** Maximum rows of an account that one look-up reads, the newest ones; a repeat of an older row counts as an act. */
const maxRows = 100;

/** Finds the rows of a page that repeat labels which the store has with another time. */
export interface RepeatFinder {
  /**
   * Returns how many of the rows that the store does not have yet repeat the newest row of their label (src, uri, cid, val)
   * with the same `neg` and another `cts` or `exp`; 0 unless the labeler changed its key within 7 days. Rows are judged in
   * order, so an earlier row of the page may be the newest one. A look-up that fails finds no repeat. Never rejects.
   */
  count(did: string, observations: readonly NewObservation[]): Promise<number>;
}

/** Dependencies of the finder. */
export interface RepeatFinderOptions extends LookUpOptions {
  readonly store: Pick<StoreReader, 'keys' | 'frontier' | 'readAccount'>;
}

/** Creates a finder. It keeps no label in memory: the known labels are the rows of the store. */
export function createRepeatFinder({ store, ...options }: RepeatFinderOptions): RepeatFinder {
  const { clock } = options;
  const lookUps = new LookUps(options);
  return {
    async count(did, observations) {
      if (observations.length === 0) return 0;
      try {
        const changedAt = lastKeyChange(await store.keys(did));
        if (changedAt === null || clock() - changedAt > watchedAfterChange) return 0;
        const { floor, end } = await store.frontier();
        if (end <= floor) return 0;
        const labels = new Map(observations.map(({ label }) => [identityOf(label).toString('latin1'), label]));
        const judge = new PageJudge();
        let repeats = 0;
        for (const label of labels.values()) {
          const stored = await lookUps.run(did, () => lookUp(store, label.uri, { floor, end, now: clock() }));
          if (stored === null) break;
          if (stored.isComplete && judge.isRepeat(label, stored.rows)) repeats += 1;
        }
        return repeats;
      } catch (error) {
        // An expired or damaged day: the rows count as acts, and the source is read.
        if (error instanceof StoreError) return 0;
        throw error;
      }
    },
  };
}

/**
 * Returns when a labeler was first seen with its newest key, if it had another one before, or when it was last seen with a
 * later key than its present ones: it returned to an earlier key after that. Null if neither.
 */
export function lastKeyChange(keys: readonly LabelerKey[]): Micros | null {
  const [first, ...later] = keys.map(({ firstSeen }) => firstSeen).sort((a, b) => a - b);
  const newest = later.at(-1);
  if (first === undefined || newest === undefined || first === newest) return null;
  const lastSeen = Math.max(...keys.map((one) => one.lastSeen));
  const present = keys.filter((one) => one.lastSeen === lastSeen);
  if (present.some(({ firstSeen }) => firstSeen === newest)) return newest;
  return micros(Math.max(newest, ...keys.filter((one) => one.lastSeen < lastSeen).map((one) => one.lastSeen)));
}

/** Rows of an account; complete unless a duplicate, which would be a repeat each time it comes, may be among the others. */
interface NewestRows {
  readonly rows: readonly Observation[];
  readonly isComplete: boolean;
}

/** Returns the newest rows of the account of a uri, newest first. */
async function lookUp(
  store: Pick<StoreReader, 'readAccount'>,
  uri: string,
  { floor: start, end, now }: Pick<Frontier, 'floor' | 'end'> & { readonly now: Micros },
): Promise<NewestRows> {
  const account = splitUri(uri)?.did;
  if (account === undefined) return { rows: [], isComplete: false };
  const query = { account, start, end, order: 'newest', after: null, limit: maxRows } as const;
  const { rows, next } = await store.readAccount(query);
  return { rows, isComplete: next === null || next < now - duplicateHorizon };
}

/** Judges the labels of a page in order. A label whose act is not known to be stored is the newest state after it. */
class PageJudge {
  readonly #newest = new Map<string, boolean>();

  /** Returns true if a row repeats the newest state of its label; `stored` are rows of its account, newest first. */
  isRepeat(label: ReceivedLabel, stored: readonly Observation[]): boolean {
    const { src, uri, cid, val, neg = false } = label;
    const same = stored.filter(
      ({ label: one }) => one.uri === uri && one.src === src && one.val === val && one.cid === cid,
    );
    // A stored row that comes again is a duplicate, and was judged when it came first.
    if (same.some(({ label: one }) => isSameRow(one, label))) return false;
    const name = JSON.stringify([src, uri, cid ?? null, val]);
    const [newest] = same;
    const before = this.#newest.get(name) ?? (newest && newest.label.neg === true);
    this.#newest.set(name, neg);
    return before === neg;
  }
}

function isSameRow(a: ReceivedLabel, b: ReceivedLabel): boolean {
  return a.cts === b.cts && a.exp === b.exp && (a.neg === true) === (b.neg === true);
}

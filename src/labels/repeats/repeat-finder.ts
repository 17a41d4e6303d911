import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Micros } from '../../contract/timestamp.ts';
import { StoreError } from '../../store/errors.ts';
import { identityOf } from '../../store/identity.ts';
import type { ReceivedLabel } from '../../store/label.ts';
import { type Frontier, maxChunkRows, type NewObservation, type StoreReader } from '../../store/port.ts';
import type { LabelerKey } from '../../store/roster.ts';
import { splitUri } from '../../store/subject.ts';
import { day } from '../../store/time.ts';

/** Time after an observed change of a key within which repeats are detected, in microseconds: 7 days. */
const watchedAfterChange = 7 * day;
/** Maximum rows of an account that one look-up reads; a repeat of a row beyond the maximum counts as a new event. */
const maxPasses = 500;
/** Maximum concurrent look-ups, after which the event loop continues with other work. */
const lookUpsAtOnce = 8;

/** Finds the rows of a page that repeat a stored label with another time. */
export interface RepeatFinder {
  /**
   * Returns the number of rows, among those not yet stored, that repeat a stored row (src, uri, cid, val, neg) with
   * another `cts` or `exp`; 0 unless the labeler changed its key within 7 days. A look-up that fails finds no repeat.
   * Never rejects.
   */
  count(did: string, observations: readonly NewObservation[]): Promise<number>;
}

/** Dependencies of finding repeats. */
export interface RepeatFinderOptions {
  readonly store: Pick<StoreReader, 'keys' | 'frontier' | 'readAccount'>;
  readonly clock: () => Micros;
}

/** Creates a finder. The finder keeps no labels in memory: it reads the rows of the store. */
export function createRepeatFinder({ store, clock }: RepeatFinderOptions): RepeatFinder {
  return {
    async count(did, observations) {
      if (observations.length === 0) return 0;
      try {
        const changedAt = lastKeyChange(await store.keys(did));
        if (changedAt === null || clock() - changedAt > watchedAfterChange) return 0;
        const { floor, end, ...rest } = await store.frontier();
        if (end <= floor) return 0;
        const labels = new Map(observations.map(({ label }) => [identityOf(label).toString('latin1'), label]));
        let repeats = 0;
        let lookUps = 0;
        for (const label of labels.values()) {
          if (await isRepeat(store, label, { floor, end, ...rest })) repeats += 1;
          lookUps += 1;
          if (lookUps % lookUpsAtOnce === 0) await nextTurn();
        }
        return repeats;
      } catch (error) {
        // A look-up fails for an expired or damaged day. The rows then count as new events, and reading continues.
        if (error instanceof StoreError) return 0;
        throw error;
      }
    },
  };
}

/** Returns the time at which a labeler's newest key was first observed; null if the labeler had no earlier key. */
export function lastKeyChange(keys: readonly LabelerKey[]): Micros | null {
  const times = keys.map(({ firstSeen }) => firstSeen).sort((a, b) => a - b);
  const [first] = times;
  const last = times.at(-1);
  return first === undefined || last === undefined || first === last ? null : last;
}

async function isRepeat(
  store: Pick<StoreReader, 'readAccount'>,
  label: ReceivedLabel,
  { floor: start, end }: Pick<Frontier, 'floor' | 'end'>,
): Promise<boolean> {
  const account = splitUri(label.uri)?.did;
  if (account === undefined) return false;
  const { rows } = await store.readAccount({
    ...{ account, start, end, order: 'oldest', after: null, limit: maxChunkRows, passes: maxPasses },
    filter: { labeler: label.src, value: label.val, removed: label.neg === true },
  });
  const same = rows.filter((row) => row.label.uri === label.uri && row.label.cid === label.cid);
  // A row that is already stored is a duplicate, and was judged when it arrived first.
  return same.length > 0 && !same.some((row) => row.label.cts === label.cts && row.label.exp === label.exp);
}

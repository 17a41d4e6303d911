import { setImmediate as nextTurn } from 'node:timers/promises';
import { IdentitySet, type KnownIdentities } from '../../common/identity-set.ts';
import { duplicateHorizon } from '../../port.ts';
import { dayOf, dayStart, micros } from '../../time.ts';
import type { Days } from '../read/days.ts';
import type { Catalog } from '../state/state-read.ts';

/** Maximum number of rows per read. A longer read would block the event loop and the writer's checkpoints. */
const chunkRows = 20_000;

/** Queries of the state file that `follow` needs. */
interface FollowedState {
  catalog(): Catalog;
  revision(): number;
}

/** Identities of the rows in a store that another process writes, kept up to date by `follow`. */
export class StoredIdentities {
  readonly #state: FollowedState;
  readonly #days: Days;
  #identities = new IdentitySet(duplicateHorizon);
  #through = -1;
  #revision: number | null = null;

  constructor(state: FollowedState, days: Days) {
    this.#state = state;
    this.#days = days;
  }

  /** Identities read so far, for the writer that replaces the followed writer. */
  get known(): KnownIdentities {
    return { identities: this.#identities, through: this.#through };
  }

  has(identity: string): boolean {
    return this.#identities.has(Buffer.from(identity, 'latin1'));
  }

  /**
   * Reads the identities of new rows, or of all rows within the duplicate horizon if the revision has changed since the
   * last call, and calls `stored` for each.
   */
  async follow(stored: (identity: string) => void = () => undefined): Promise<void> {
    const revision = this.#state.revision();
    if (this.#revision !== revision) {
      this.#revision = revision;
      this.#identities = new IdentitySet(duplicateHorizon);
      this.#through = -1;
    }
    while (this.#readChunk(stored) >= chunkRows) await nextTurn();
  }

  /**
   * Reads the next rows of the oldest day with unread rows. Returns their number, or `chunkRows` if later days may
   * have unread rows.
   */
  #readChunk(stored: (identity: string) => void): number {
    const { days, floor } = this.#state.catalog();
    const newest = days.at(-1);
    if (newest === undefined) return 0;
    if (this.#through < 0) this.#through = Math.max(floor, dayStart(newest.day) - duplicateHorizon) - 1;
    for (const { day, sealed } of days) {
      if (sealed === 1 || day < dayOf(micros(Math.max(0, this.#through)))) continue;
      const interval = { start: micros(Math.max(floor, dayStart(day))), end: dayStart(day + 1) };
      const rows = this.#days.over(interval, ({ days: [reader] }) => {
        let count = 0;
        if (reader?.form !== 'open') return count;
        for (const [id, identity] of reader.identities(this.#through + 1)) {
          this.#identities.add(identity, id);
          this.#through = id;
          stored(identity.toString('latin1'));
          count += 1;
          if (count >= chunkRows) break;
        }
        return count;
      });
      if (rows > 0) return rows >= chunkRows ? rows : this.#hasLater(day, days) ? chunkRows : rows;
    }
    return 0;
  }

  #hasLater(day: number, days: Catalog['days']): boolean {
    return days.some((later) => later.day > day && later.sealed === 0);
  }
}

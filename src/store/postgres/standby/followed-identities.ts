import { IdentitySet, type KnownIdentities } from '../../common/identity-set.ts';
import { StoreError } from '../../errors.ts';
import { duplicateHorizon } from '../../port.ts';
import { type Limits, longLimits, type Queries, type Session } from '../base/session.ts';
import { readIdentities } from '../read/identities.ts';

interface Ends {
  readonly last: number | null;
  readonly floor: number;
  readonly revision: number;
}

/** Identities of the rows in a store that another process writes, kept up to date by `follow`. */
export class FollowedIdentities {
  readonly #session: Session;
  #identities = new IdentitySet(duplicateHorizon);
  /** Stamp and identity of the last row read. */
  #newest: { readonly at: number; readonly identity: Buffer } | null = null;
  #revision: number | null = null;

  constructor(session: Session) {
    this.#session = session;
  }

  /** Identities read so far, for the writer that replaces the followed writer. */
  get known(): KnownIdentities {
    return { identities: this.#identities, through: this.#newest?.at ?? -1 };
  }

  has(identity: string): boolean {
    return this.#identities.has(Buffer.from(identity, 'latin1'));
  }

  /**
   * Reads the identities of new rows, or of all rows within the duplicate horizon if the revision has changed since the
   * last call, and calls `stored` for each. Throws `commits_lost` if the last row that was read is missing or the
   * revision has decreased: the database has lost commits that this process has already seen, and may have lost others.
   */
  async follow(stored: (identity: string) => void): Promise<void> {
    // Not repeated, because another server may lack rows that this one has read.
    const limits: Limits = { ...longLimits, repeats: 'unbegun' };
    await this.#session.read((queries) => this.#read(queries, stored), { locked: 'observation', limits });
  }

  async #read(queries: Queries, stored: (identity: string) => void): Promise<void> {
    const [ends] = await queries.rows<Ends>('SELECT last_stamp AS last, floor, revision FROM store');
    if (!ends) throw new StoreError('damaged', 'the table "store" has no row');
    const { last, floor, revision } = ends;
    if (this.#revision !== null && revision < this.#revision) this.#commitsLost();
    if (this.#newest !== null && (last === null || last < this.#newest.at)) this.#commitsLost();
    if (this.#revision !== revision) {
      this.#identities = new IdentitySet(duplicateHorizon);
      this.#newest = null;
    }
    this.#revision = revision;
    if (last === null) return;
    let newest = this.#newest;
    const since = newest !== null && newest.at >= floor ? newest.at : Math.max(floor, last - duplicateHorizon);
    let isKnown = newest === null || newest.at < floor;
    await readIdentities(queries, since, (at, identity) => {
      if (!isKnown) {
        if (newest?.at !== at || !newest.identity.equals(identity)) this.#commitsLost();
        isKnown = true;
        return;
      }
      this.#identities.add(identity, at);
      newest = { at, identity };
      this.#newest = newest;
      stored(identity.toString('latin1'));
    });
    if (!isKnown) this.#commitsLost();
  }

  #commitsLost(): never {
    throw new StoreError(
      'commits_lost',
      `${this.#session.name} lost commits that it had confirmed, for example in a failover; restart the standby`,
    );
  }
}

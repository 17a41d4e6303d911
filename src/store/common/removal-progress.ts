import type { Micros } from '../../contract/timestamp.ts';

/** Days that a removal has processed since the store was opened. */
export interface RemovalDays {
  /** Days from which all rows were removed. */
  readonly done: Set<number>;
  /** Damaged sealed days, which were left unchanged. The removal tries them again after the store is next opened. */
  readonly damaged: Set<number>;
}

/** A request to purge a labeler. */
interface PurgeRequest {
  readonly source: string;
  readonly requestedAt: Micros;
}

/** Days that the removals of a store have processed since it was opened. */
export class RemovalProgress {
  readonly spaces: RemovalDays = { done: new Set(), damaged: new Set() };
  readonly #purges = new Map<string, RemovalDays & { readonly requestedAt: Micros }>();

  /** Returns the days of a purge. A repeated request starts with no days. */
  daysOf({ source, requestedAt }: PurgeRequest): RemovalDays {
    const known = this.#purges.get(source);
    if (known?.requestedAt === requestedAt) return known;
    const days = { requestedAt, done: new Set<number>(), damaged: new Set<number>() };
    this.#purges.set(source, days);
    return days;
  }

  forget({ source }: Pick<PurgeRequest, 'source'>): void {
    this.#purges.delete(source);
  }
}

import type { Sim } from '../../sim/index.ts';
import type { Labeler } from '../../sim/labelers/labeler.ts';
import { verdict } from '../../sim/labelers/truth.ts';

/** Counts of one labeler's labels so far. */
interface Counted {
  /** Number of accepted labels up to each label, indexed by the label's number. */
  readonly acceptedThrough: number[];
  applied: number;
  removed: number;
}

/**
 * Counts the labels that a network has emitted and an instrument must store or refuse. The counts are incremental,
 * because a full count would keep the network, which runs in the same process, from serving labels. Suitable only for
 * networks without duplicates.
 */
export class EmittedLabels {
  readonly #sim: Sim;
  readonly #epochUs: number;
  readonly #labelers = new Map<string, Counted>();
  readonly #refused: Record<string, number> = {};

  constructor(sim: Sim, epochUs: number) {
    this.#sim = sim;
    this.#epochUs = epochUs;
  }

  /** Counts the labels that were emitted since the last call. Returns the number of labels examined. */
  update(): number {
    let examined = 0;
    for (const labeler of this.#sim.labelers.list) examined += this.#count(labeler);
    return examined;
  }

  /** Number of labels that an instrument can accept. */
  get accepted(): number {
    return [...this.#labelers.values()].reduce((sum, { applied, removed }) => sum + applied + removed, 0);
  }

  /** Number of acceptable labels by labeler and action. Omits labelers without acceptable labels. */
  get byAction(): ReadonlyMap<string, { readonly applied: number; readonly removed: number }> {
    const all = [...this.#labelers].map(([did, { applied, removed }]) => [did, { applied, removed }] as const);
    return new Map(all.filter(([, { applied, removed }]) => applied + removed > 0));
  }

  /** Number of labels that an instrument must refuse, by the store's refusal reasons. */
  get refused(): Readonly<Record<string, number>> {
    return this.#refused;
  }

  /** Returns the number of acceptable labels of a labeler up to the given label number. */
  acceptedThrough(did: string, n: number): number {
    const known = this.#labelers.get(did)?.acceptedThrough ?? [];
    return known[Math.min(n, known.length - 1)] ?? 0;
  }

  #count({ did, log, edge }: Labeler): number {
    const counted = this.#labelers.get(did) ?? { acceptedThrough: [0], applied: 0, removed: 0 };
    this.#labelers.set(did, counted);
    const { acceptedThrough } = counted;
    const first = acceptedThrough.length;
    for (let n = first; n <= edge; n += 1) {
      const emitted = log.label(n);
      const reason = verdict(emitted, this.#epochUs, emitted.emittedUs);
      if (reason === null) counted[isRemoval(emitted.label) ? 'removed' : 'applied'] += 1;
      else {
        const name = reason === 'foreign' ? 'foreign_src' : reason;
        this.#refused[name] = (this.#refused[name] ?? 0) + 1;
      }
      acceptedThrough.push(counted.applied + counted.removed);
    }
    return acceptedThrough.length - first;
  }
}

function isRemoval(label: unknown): boolean {
  return typeof label === 'object' && label !== null && 'neg' in label && label.neg === true;
}

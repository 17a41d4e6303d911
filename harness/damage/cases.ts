import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fractions } from '../../sim/random.ts';
import { type DamageKind, damageKinds } from './damage.ts';
import type { Judged } from './judge-store.ts';
import { FileWorld, StoreWorld } from './world.ts';

/** A damaged file and its effect. */
export interface Case extends Judged {
  readonly number: number;
  /** Kind of file, for example `sealed day`. */
  readonly file: string;
  readonly damage: DamageKind;
  readonly how: string;
}

interface Target {
  readonly name: string;
  damaged(kind: DamageKind, random: () => number): Promise<Judged & { readonly how: string }>;
}

/** A sequence of cases that damage each kind of file in turn. The seed and the case number determine a case. */
export class DamageCases {
  readonly #targets: readonly Target[];
  readonly #seed: number;

  private constructor(targets: readonly Target[], seed: number) {
    this.#targets = targets;
    this.#seed = seed;
  }

  static async make(folder: string, seed: number): Promise<DamageCases> {
    const targets: Target[] = [];
    for (const closes of [false, true]) {
      const place = join(folder, closes ? 'closed' : 'crashed');
      mkdirSync(place);
      const world = await StoreWorld.make(place, closes);
      for (const file of world.files.filter((name) => isFilled(name, closes))) {
        targets.push({ name: nameOf(file), damaged: (kind, random) => world.damaged(file, kind, random) });
      }
    }
    mkdirSync(join(folder, 'files'));
    const world = await FileWorld.make(join(folder, 'files'));
    for (const file of world.files) {
      targets.push({ name: file, damaged: (kind, random) => world.damaged(file, kind, random) });
    }
    return new DamageCases(targets, seed);
  }

  async run(number: number): Promise<Case> {
    const target = this.#targets[number % this.#targets.length];
    const kind = damageKinds[Math.floor(number / this.#targets.length) % damageKinds.length];
    if (!target || !kind) throw new Error('the case does not exist');
    const judged = await target.damaged(kind, fractions(this.#seed * 1_000_003 + number));
    return { number, file: target.name, damage: kind, ...judged };
  }
}

/**
 * Returns true if the file has content that can be damaged. Logs and locks have content only after a power loss; other
 * files are complete only after the store was closed.
 */
function isFilled(file: string, closes: boolean): boolean {
  return closes ? file.endsWith('.sqlite') : file.endsWith('-wal') || file.endsWith('.lock');
}

function nameOf(file: string): string {
  return file.replace(/^days\/\d{4}-\d{2}-\d{2}\.(open|sealed)\.sqlite/, '$1 day');
}

/**
 * Kinds of damage that cannot always be detected, by file. These files have no checksums over their content, and SQLite
 * and JSON validate only their structure. `docs/testing.md` has the detection rates.
 */
const limits: Readonly<Record<string, readonly DamageKind[]>> = {
  'open day': ['torn sectors', 'lost sectors', 'bit flips'],
  'state.sqlite': ['torn sectors', 'lost sectors', 'bit flips'],
  'weather.sqlite': ['torn sectors', 'lost sectors', 'bit flips'],
  'labels-overview.json': ['torn sectors', 'bit flips'],
  'weather-summary.json': ['torn sectors', 'bit flips'],
  'labels-denied.json': ['torn sectors', 'bit flips'],
};

/** Returns true if the damaged file led to a wrong result without an error. */
function isWrong({ verdict }: Case): boolean {
  return verdict === 'silent' || verdict === 'found by verify';
}

/** Returns true if a case violates the guarantees for its kind of file. */
export function isBroken(one: Case): boolean {
  return isWrong(one) && limits[one.file]?.includes(one.damage) !== true;
}

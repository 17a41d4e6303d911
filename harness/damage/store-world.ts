import { cpSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type DamageKind, damage, type Random } from './damage.ts';
import { type Judged, judgeStore, type StoreTruth, storeTruth } from './judge-store.ts';
import { makeStores } from './world.ts';

/** A store to damage. Each case damages one file in a copy of the same initial state. */
export class StoreWorld {
  readonly #folder: string;
  readonly #count: number;
  readonly #truths: readonly StoreTruth[];
  /** All files except log indexes, which SQLite rebuilds. */
  readonly files: readonly string[];

  private constructor(folder: string, count: number, truths: readonly StoreTruth[]) {
    this.#folder = folder;
    this.#count = count;
    this.#truths = truths;
    const names = readdirSync(this.#version(count - 1), { recursive: true, encoding: 'utf8' });
    this.files = names.filter((name) => name !== 'days' && !name.endsWith('-shm')).sort();
  }

  static async make(folder: string, closes: boolean): Promise<StoreWorld> {
    const count = await makeStores(folder, closes);
    const truths: StoreTruth[] = [];
    for (let n = 0; n < count; n++) {
      const copy = join(folder, 'truth');
      rmSync(copy, { recursive: true, force: true });
      cpSync(join(folder, String(n)), copy, { recursive: true });
      truths.push(await storeTruth(copy));
    }
    return new StoreWorld(folder, count, truths);
  }

  /** Damages one file of a copy and judges the effect on the store. */
  async damaged(file: string, kind: DamageKind, random: Random): Promise<Judged & { readonly how: string }> {
    const place = join(this.#folder, 'place');
    rmSync(place, { recursive: true, force: true });
    cpSync(this.#version(this.#count - 1), place, { recursive: true });
    const earlier = join(this.#version(Math.floor(random() * (this.#count - 1))), file);
    const how = damage(join(place, file), kind, random, existsSync(earlier) ? readFileSync(earlier) : Buffer.alloc(0));
    const truth = this.#truths.at(-1);
    if (!truth) throw new Error('the undamaged store has no results');
    return { ...(await judgeStore(place, truth, this.#truths)), how };
  }

  #version(n: number): string {
    return join(this.#folder, String(n));
  }
}

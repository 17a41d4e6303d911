import { StoreError } from '../errors.ts';
import { dayName } from '../time.ts';
import { DayCopy } from './day-copy.ts';
import type { CopyOptions } from './options.ts';
import type { DayProgress, SourceLook } from './parts.ts';

/** Maximum rows of a pass after which the copy counts as being close to a source that is written. */
const fewRows = 10_000;
/** Attempts after an error that another attempt may not have, without any progress between them. */
const maxAttempts = 30;

/**
 * Copies a store: complete days first, then the day that grows, again and again until no process writes the source.
 * The source is then frozen, the last rows and everything else are copied, and the source is retired before the copy
 * becomes a store. Returns false if the source is still written and `once` is set. After an interruption at any instant,
 * another call continues.
 */
export async function copyStore(options: CopyOptions): Promise<boolean> {
  const { source, target, report, once } = options;
  const passes = new Passes(options);
  await passes.begin();
  for (let attempts = 0; ; ) {
    const moved = await passes.run(false);
    if (moved >= fewRows) continue;
    await options.beforeFreeze?.(attempts);
    if (await source.freeze()) break;
    if (once) return false;
    if (attempts++ === 0) report({ kind: 'following' });
    await options.wait();
  }
  await passes.run(true);
  const look = await source.look();
  const content = await source.content();
  await options.beforeComplete?.();
  // If the copy ends between these steps, neither store can be opened for writing, and the next call completes it.
  await source.retire();
  await target.complete(look, content);
  return true;
}

/** Passes over the days of the source. */
class Passes {
  readonly #options: CopyOptions;
  readonly #days: DayCopy;
  #attempts = 0;

  constructor(options: CopyOptions) {
    this.#options = options;
    this.#days = new DayCopy(options);
  }

  /** Reports the size of the work. */
  async begin(): Promise<void> {
    const { source, target, report } = this.#options;
    const { days } = await source.look();
    const progress = new Map((await target.progress()).map((one) => [one.day, one]));
    let [rows, copied] = [0, 0];
    for (const { day, revision } of days) {
      const known = progress.get(day);
      rows += await source.rowsIn(day);
      copied += known?.revision === revision ? known.rows : 0;
    }
    report({ kind: 'begun', rows, copied });
  }

  /** Copies what is missing; returns the number of copied rows. After `isFinal`, every day is complete and verified. */
  async run(isFinal: boolean): Promise<number> {
    for (;;) {
      try {
        const moved = await this.#run(isFinal);
        this.#attempts = 0;
        return moved;
      } catch (error) {
        this.#assertAnother(error, isFinal);
        this.#options.report({ kind: 'retrying', why: error instanceof Error ? error.message : String(error) });
        await this.#options.wait();
      }
    }
  }

  async #run(isFinal: boolean): Promise<number> {
    const { source, target } = this.#options;
    const look = await source.look();
    const progress = new Map((await target.progress()).map((one) => [one.day, one]));
    await this.#dropExpired(look, progress);
    const newest = look.days.at(-1)?.day;
    let moved = 0;
    for (const found of look.days) {
      // A removal that a killed process left unfinished continues in the copy, with the rows that it has left.
      if (found.isChanging && !isFinal) continue;
      const known = progress.get(found.day);
      const isKnown = known?.revision === found.revision && !found.isChanging;
      if (known?.isVerified === true && isKnown) continue;
      if (known && !isKnown) this.#options.report({ kind: 'again', day: dayName(found.day) });
      const isLast = found.day === newest;
      moved += await this.#days.copy(found, isKnown ? known : null, { isComplete: isFinal || !isLast, isLast });
      this.#attempts = 0;
    }
    return moved;
  }

  async #dropExpired({ days }: SourceLook, progress: ReadonlyMap<number, DayProgress>): Promise<void> {
    const kept = new Set(days.map(({ day }) => day));
    for (const day of progress.keys()) {
      if (kept.has(day)) continue;
      await this.#options.target.dropDay(day);
      this.#days.forget(day);
      this.#options.report({ kind: 'dropped', day: dayName(day) });
    }
  }

  /** Throws the error unless another attempt may succeed: a day expired or is being purged, or a server is slow. */
  #assertAnother(error: unknown, isFinal: boolean): void {
    this.#attempts += 1;
    const isTransient = error instanceof StoreError && (error.retry || (error.code === 'out_of_window' && !isFinal));
    if (!isTransient || this.#attempts >= maxAttempts) throw error;
  }
}

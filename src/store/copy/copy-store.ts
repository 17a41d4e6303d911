import { StoreError } from '../errors.ts';
import { dayName } from '../time.ts';
import { DayCopy } from './day-copy.ts';
import type { CopyOptions } from './options.ts';
import type { DayProgress, SourceLook } from './parts.ts';

/**
 * A pass that copies fewer rows than this number has caught up with the source. The copy then tries to freeze the
 * source.
 */
const fewRows = 10_000;
/** Maximum number of consecutive failed attempts without progress in between. */
const maxAttempts = 30;

/**
 * Copies a store. Passes copy the complete days first and then the newest day, and repeat until no process writes to
 * the source. The source is then frozen, the last rows and all other data are copied, and the source is retired
 * before the copy becomes a store. Returns false if another process still writes to the source and `once` is set. A
 * call after an interruption continues where the previous call stopped.
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
  // If the process ends between these steps, neither store can be opened for writing until the next call completes the
  // copy.
  await source.retire();
  await target.complete(look, content);
  return true;
}

/** Runs passes over the days of the source. */
class Passes {
  readonly #options: CopyOptions;
  readonly #days: DayCopy;
  #attempts = 0;

  constructor(options: CopyOptions) {
    this.#options = options;
    this.#days = new DayCopy(options);
  }

  /** Reports how many rows the source has and how many of them are already copied. */
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

  /**
   * Copies the rows that are missing in the target, and returns their number. Repeats the pass after a transient error.
   * Skips days from which rows are being removed, unless the pass is final. After a final pass, every day is complete
   * and verified.
   */
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
      // Skip a day while rows are being removed from it. In the final pass no process is removing rows, so the day is
      // copied with the rows that an interrupted removal has left, and the writer of the copy continues the removal.
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

  /**
   * Returns if the error is transient and attempts remain; otherwise rethrows the error. An error is transient if the
   * same call may succeed later, for example after a purge of the day, or if a day has expired before the final pass.
   */
  #assertAnother(error: unknown, isFinal: boolean): void {
    this.#attempts += 1;
    const isTransient = error instanceof StoreError && (error.retry || (error.code === 'out_of_window' && !isFinal));
    if (!isTransient || this.#attempts >= maxAttempts) throw error;
  }
}

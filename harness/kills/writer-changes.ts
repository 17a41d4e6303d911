import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { dice } from '../../sim/random.ts';
import { storeProcesses } from '../../src/store/open.ts';
import { type LabelsProcess, spawnLabels } from '../labels/labels-process.ts';
import { temporaryFolder } from '../process/at-exit.ts';
import { until } from '../process/until.ts';
import { reading, wholeSpan } from '../store/scan.ts';
import { StoreComparison, storedOnce } from './compare-store.ts';
import { labelsArgs, sixLabelers } from './six-labelers.ts';

/** Way in which the active instrument stops writing. */
export type WriterChange = 'hand_over' | 'terminate' | 'kill' | 'suspend';

interface WriterChangesReport {
  readonly stored: number;
  readonly emitted: number;
  readonly refused: number;
  /**
   * Longest time from the kill or suspension of a writer, or from the start of the hand-over command, until the standby
   * became active, in milliseconds.
   */
  readonly slowestMs: number;
  /** Duration of each change in milliseconds, in order. */
  readonly changeMs: readonly number[];
  /** Number of rows that a standby stored when it took over, because the previous writer had not stored them. */
  readonly saved: number;
  readonly problems: readonly string[];
}

interface WriterChangesOptions {
  /** Kinds of changes, in the order in which they happen. */
  readonly changes: readonly WriterChange[];
  readonly seed: number;
  /** Labels per second for each of the six labelers. */
  readonly rate?: number;
  /** Time after which a suspended writer is resumed, in milliseconds. */
  readonly suspendedMs?: number;
  /** URL of an empty store; defaults to a new directory. */
  readonly url?: string;
}

/**
 * Runs the real command and a standby against labelers that emit continuously, ends the active instrument in each of
 * the given ways, and starts a new standby after each change. Afterwards every label must be stored exactly once,
 * without any gap.
 */
export async function changeWriters({
  changes,
  seed,
  rate = 10,
  suspendedMs = 30_000,
  url: given,
}: WriterChangesOptions): Promise<WriterChangesReport> {
  // Start without traffic until the first instrument is observing: a reader may skip labels from before its epoch.
  const sim = sixLabelers(seed, rate, 0);
  const addresses = await sim.start();
  const { folder, remove } = temporaryFolder('writer-changes');
  const artifacts = join(folder, 'artifacts');
  const url = given ?? `sqlite:${join(folder, 'store')}`;
  const args = ['--standby', ...labelsArgs(addresses, url, artifacts), '--state', join(folder, 'state')];
  const chance = dice(seed);
  const problems: string[] = [];
  const woken: Promise<void>[] = [];
  const started: LabelsProcess[] = [];
  const start = (): LabelsProcess => {
    const one = spawnLabels(args);
    started.push(one);
    return one;
  };
  const changeMs: number[] = [];
  const comparison = new StoreComparison(sim, url);
  let saved = 0;
  try {
    let active = start();
    await active.observing;
    for (const { faults } of sim.labelers.list) faults.setRate(rate);
    for (const [i, how] of changes.entries()) {
      const standby = start();
      await isReady(standby, url);
      await wait(chance.below(700));
      const begun = Date.now();
      await end(active, how, url);
      await standby.observing;
      changeMs.push(activeAt(standby) - begun);
      saved += rowsSaved(standby);
      if (how === 'suspend') woken.push(wake(active, suspendedMs, problems));
      else {
        const { code } = await active.ended;
        if (code !== (how === 'kill' ? null : 0))
          problems.push(`change ${i + 1}: after ${how}, the writer exited with ${code}`);
      }
      active = standby;
      // Skip the verification here: every row is verified once, at the end.
      const found = await comparison.compare({ verified: false });
      problems.push(...found.problems.map((problem) => `after change ${i + 1} (${how}): ${problem}`));
    }
    await Promise.all(woken);
    for (const { faults } of sim.labelers.list) faults.setRate(0);
    problems.push(...(await comparison.untilWhole()));
    problems.push(...(await gapsIn(url, artifacts)));
    active.process.kill('SIGTERM');
    const { code } = await active.ended;
    if (code !== 0) problems.push(`the last instrument exited with ${code}`);
    const rest = await comparison.compare();
    if (!rest.whole) problems.push(`the counts differ: ${JSON.stringify(rest.refused)}`, ...rest.missing);
    problems.push(...rest.problems, ...(await storedOnce(sim, url)));
    const refused = Object.values(rest.refused).reduce((sum, count) => sum + count, 0);
    const { rows: stored, emitted } = rest;
    const slowestMs = Math.max(...changeMs);
    return { stored, emitted, refused, slowestMs, changeMs, saved, problems };
  } finally {
    for (const { process } of started) process.kill('SIGKILL');
    await sim.stop();
    remove();
  }
}

/** Waits until a standby is ready. Rejects with the standby's log if the standby exits or is not ready in time. */
async function isReady({ process, ended, log }: LabelsProcess, url: string): Promise<void> {
  const ready = async (): Promise<boolean> =>
    process.exitCode !== null || (await storeProcesses(url)).standby?.state === 'ready';
  const detail = (): string =>
    log()
      .map((line) => JSON.stringify(line))
      .join('\n');
  await until('the standby is ready', ready, 120_000).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${detail()}`);
  });
  if (process.exitCode === null) return;
  const { code, stderr } = await ended;
  throw new Error(`the standby exited with ${code}: ${stderr.join(' ')}\n${detail()}`);
}

/** Ends or suspends the active instrument in the given way. */
async function end({ process }: LabelsProcess, how: WriterChange, url: string): Promise<void> {
  if (how === 'hand_over') {
    const { code, stderr } = await spawnLabels(['hand-over', '--store', url]).ended;
    if (code !== 0) throw new Error(`the hand-over failed: ${stderr.join('\n')}`);
    return;
  }
  process.kill(how === 'kill' ? 'SIGKILL' : how === 'suspend' ? 'SIGSTOP' : 'SIGTERM');
}

/**
 * Resumes a suspended writer and checks that it exits: the standby has killed the writer of a directory, and the
 * writer of a database exits with an explanation. Later comparisons detect rows that the resumed writer stored.
 */
async function wake({ process, ended }: LabelsProcess, afterMs: number, problems: string[]): Promise<void> {
  await wait(afterMs);
  process.kill('SIGCONT');
  const { code, stderr } = await ended;
  const isExplained = stderr.some((line) => line.includes('another process has become the writer'));
  if (code !== null && !(code === 1 && isExplained)) {
    problems.push(`a resumed writer exited with ${code}: ${stderr.join(' ') || 'without a reason'}`);
  }
}

/** Returns the log line with which a standby reported that it became active; an empty object without such a line. */
function activation({ log }: LabelsProcess): Record<string, unknown> {
  return log().find(({ msg }) => msg === 'this instrument is now active') ?? {};
}

/** Returns the time at which a standby became the active instrument, in milliseconds. */
function activeAt(standby: LabelsProcess): number {
  return Date.parse(String(activation(standby).time));
}

/** Returns the number of rows that a standby stored when it took over. */
function rowsSaved(standby: LabelsProcess): number {
  const { rows } = activation(standby);
  return typeof rows === 'number' ? rows : 0;
}

/** Returns a problem for each gap in the store and in the overview. There must not be any. */
function gapsIn(url: string, artifacts: string): Promise<string[]> {
  return reading(url, async (store) => {
    const gaps = await store.gaps(await wholeSpan(store));
    const overview = JSON.parse(await readFile(join(artifacts, 'labels-overview.json'), 'utf8')) as {
      coverage: { gaps: unknown[] };
    };
    return [
      ...gaps.map((gap) => `a gap was recorded although an instrument was reading: ${JSON.stringify(gap)}`),
      ...overview.coverage.gaps.map((gap) => `the overview has a gap: ${JSON.stringify(gap)}`),
    ];
  });
}

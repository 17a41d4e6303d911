import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { dice } from '../../sim/random.ts';
import { spawnLabels } from '../labels/labels-process.ts';
import { temporaryFolder } from '../process/at-exit.ts';
import { reading, wholeSpan } from '../store/scan.ts';
import { StoreComparison } from './compare-store.ts';
import { labelsArgs, sixLabelers } from './six-labelers.ts';

interface LabelKillReport {
  /** Number of stored rows. */
  readonly stored: number;
  /** Number of acceptable labels emitted since the epoch. */
  readonly emitted: number;
  /** Number of rows counted as refused. */
  readonly refused: number;
  /** Number of kills after which more rows were stored than after the previous kill. */
  readonly moved: number;
  /** Number of kills for which the test did not wait until the instrument was observing. */
  readonly early: number;
  /** Problems that the comparison detected. */
  readonly problems: readonly string[];
}

/** An interval without a running instrument, measured by the machine's clock. */
interface Missed {
  readonly from: number;
  readonly to: number;
}

/**
 * Maximum time in milliseconds for which a process runs once it is observing. On a slow machine, this time is
 * increased in steps of the same length.
 */
const maxRun = 700;

/**
 * Runs the real command against labelers that emit continuously, kills it at random times during startup and operation,
 * and lets the last process finish. No labeler replaces rows, so every emitted label can be read later and must be
 * stored in the end.
 */
export async function killLabels({ kills, seed }: { kills: number; seed: number }): Promise<LabelKillReport> {
  const sim = sixLabelers(seed, 10);
  const addresses = await sim.start();
  const { folder, remove } = temporaryFolder('label-kills');
  const store = `sqlite:${join(folder, 'store')}`;
  const args = labelsArgs(addresses, store, join(folder, 'artifacts'));
  const chance = dice(seed);
  const comparison = new StoreComparison(sim, store);
  const problems: string[] = [];
  const missed: Missed[] = [];
  let killedAt: number | null = null;
  let [rows, moved, early] = [0, 0, 0];
  let longest = maxRun;
  try {
    for (let kill = 0; kill < kills; kill += 1) {
      if (killedAt !== null) missed.push({ from: killedAt, to: Date.now() * 1000 });
      const labels = spawnLabels(args);
      const atStart = kill > 0 && chance.chance(0.25);
      if (!atStart) await labels.observing;
      // Lengthen the runs on a slow machine until half of them store rows.
      longest = moved * 2 < kill ? longest + maxRun : maxRun;
      await wait(chance.below(longest));
      labels.process.kill('SIGKILL');
      // Start the interval at the kill: until then the instrument may have been observing.
      killedAt = Date.now() * 1000;
      await labels.ended;
      const found = await comparison.compare();
      problems.push(...found.problems.map((problem) => `after kill ${kill + 1}: ${problem}`));
      if (found.rows < rows)
        problems.push(`after kill ${kill + 1}: ${rows} rows were stored, but only ${found.rows} remain`);
      if (found.rows > rows) moved += 1;
      if (atStart) early += 1;
      rows = found.rows;
    }
    if (killedAt !== null) missed.push({ from: killedAt, to: Date.now() * 1000 });
    const last = spawnLabels(args);
    await last.observing;
    for (const { faults } of sim.labelers.list) faults.setRate(0);
    problems.push(...(await comparison.untilWhole()));
    last.process.kill('SIGTERM');
    const { code } = await last.ended;
    if (code !== 0) problems.push(`the instrument exited with ${code}`);
    const rest = await comparison.compare();
    if (!rest.whole) problems.push(`the counts of refused labels differ: ${JSON.stringify(rest.refused)}`);
    problems.push(...rest.problems, ...(await uncovered(store, missed)));
    const verified = await spawnLabels(['verify', ...args.slice(0, 4)]).ended;
    if (verified.stdout.at(-1) !== 'every counter matches its rows') problems.push(...verified.stdout);
    const refused = Object.values(rest.refused).reduce((sum, count) => sum + count, 0);
    return { stored: rest.rows, emitted: rest.emitted, refused, moved, early, problems };
  } finally {
    await sim.stop();
    remove();
  }
}

/**
 * Returns a problem for each interval without a running instrument that no gap of the instrument covers, and for each
 * gap of an individual source. No source has a gap, because none lost a label.
 */
function uncovered(url: string, missed: readonly Missed[]): Promise<string[]> {
  return reading(url, async (store) => {
    const gaps = await store.gaps(await wholeSpan(store));
    const own = gaps.filter(({ source }) => source === null);
    return [
      ...missed
        .filter(({ from, to }) => !own.some(({ start, end }) => start <= from && to <= end))
        .map(({ from, to }) => `no instrument ran from ${from} to ${to}, and no gap covers this time`),
      ...gaps
        .filter(({ source }) => source !== null)
        .map((gap) => `a gap was recorded although nothing was missed: ${JSON.stringify(gap)}`),
    ];
  });
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { createSim, type Sim } from '../../sim/index.ts';
import { type Expected, verdict } from '../../sim/labelers/truth.ts';
import { dice } from '../../sim/random.ts';
import { readPosition } from '../../src/labels/label/position.ts';
import { openSqliteReader } from '../../src/store/sqlite/read/reader.ts';
import { type Interval, micros } from '../../src/store/time.ts';
import { spawnLabels } from '../labels/labels-process.ts';
import { until } from '../process/until.ts';

/** Result of killing an instrument repeatedly. */
export interface LabelKillReport {
  readonly kills: number;
  /** Number of stored rows, and number of rows that were emitted since the epoch. */
  readonly stored: number;
  readonly emitted: number;
  /** Number of rows counted as refused. */
  readonly refused: number;
  /** Number of kills after which more rows were stored than after the previous one. */
  readonly moved: number;
  /** Number of kills before the store was open. */
  readonly early: number;
  /** Problems that the comparison detected. */
  readonly problems: readonly string[];
}

/** An interval without a running instrument, by this machine's clock. */
interface Missed {
  readonly from: number;
  readonly to: number;
}

/**
 * Maximum time in milliseconds that a process runs after it has started to observe. On a slow machine, this is also the
 * increment of that time.
 */
const maxRun = 700;

/**
 * Runs the real command against labelers that emit continuously, kills it at random times during its start and its run,
 * and lets the last process complete. No labeler replaces rows, so every emitted label can be read later and must be
 * stored in the end.
 */
export async function killLabels({ kills, seed }: { kills: number; seed: number }): Promise<LabelKillReport> {
  const sim = createSim({
    ...{ seed, labelers: 6, labelRate: 60, rate: 1, historyHours: 0 },
    shapeLabeler: ({ index }) => ({
      software: 'skyware',
      rate: 10,
      // Emit rows that are refused, because each must be counted once even if it is read repeatedly.
      ...{ oddShare: 0.04, oddKinds: ['undated', 'future', 'foreign', 'late'] },
      // One labeler can be read only by pages.
      ailment: index === 5 ? 'no_stream' : 'none',
    }),
  });
  const { seeds, plc, jetstream } = await sim.start();
  const folder = mkdtempSync(join(tmpdir(), 'almanac-label-kills-'));
  const store = join(folder, 'store');
  const args = [
    ...['--store', `sqlite:${store}`, '--artifacts', join(folder, 'artifacts'), '--plc', plc ?? ''],
    ...['--jetstream', jetstream, '--seeds', seeds ?? '', '--relay', plc ?? '', '--allow-loopback'],
    ...['--publish-seconds', '1', '--min-free-megabytes', '0'],
  ];
  const chance = dice(seed);
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
      // Begin the interval at the kill, because the time until the last commit is covered.
      killedAt = Date.now() * 1000;
      await labels.ended;
      const found = await look(sim, store);
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
    await until('all labels are stored', async () => (await look(sim, store)).whole, 90_000).catch((error: unknown) =>
      problems.push(String(error)),
    );
    last.process.kill('SIGTERM');
    const { code } = await last.ended;
    if (code !== 0) problems.push(`the instrument exited with ${code}`);
    const rest = await look(sim, store);
    if (!rest.whole) problems.push(`the counts of refused labels differ: ${JSON.stringify(rest.refused)}`);
    problems.push(...rest.problems, ...(await uncovered(store, missed)));
    const verified = await spawnLabels(['verify', ...args.slice(0, 4)]).ended;
    if (verified.stdout.at(-1) !== 'every counter matches its rows') problems.push(...verified.stdout);
    const refused = Object.values(rest.refused).reduce((sum, count) => sum + count, 0);
    return { kills, stored: rest.rows, emitted: rest.emitted, refused, moved, early, problems };
  } finally {
    await sim.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Compares the store of a killed process with the labels emitted so far. */
async function look(sim: Sim, folder: string) {
  const store = openSqliteReader(folder);
  const problems: string[] = [];
  try {
    const { startedAt } = await store.epoch();
    const span: Interval = { start: startedAt, end: micros(Date.now() * 1000 + 3_600_000_000) };
    const counts = new Map((await store.countsByLabeler(span)).map(({ labeler, ...actions }) => [labeler, actions]));
    const wanted = sim.labelers.truth.expected({ epochUs: startedAt, which: 'emitted' });
    for (const { source, value } of await store.positions()) {
      const position = readPosition(value);
      // An entry without a position stores which refused rows were counted.
      if (position === null) continue;
      // Live labels are read before earlier missing ones, so a number becomes a position only when all labels before it
      // are stored.
      const through = Math.max(position.seq ?? 0, position.cursor ?? 0);
      // The seq numbers of this labeler are the labels' own numbers.
      const due = [...sim.labelers.truth.emitted(startedAt - 1_000_000, Number.POSITIVE_INFINITY, source)].filter(
        (label) => label.n <= through && verdict(label, startedAt, label.emittedUs) === null,
      ).length;
      const { applied = 0, removed = 0 } = counts.get(source) ?? {};
      if (applied + removed < due) problems.push(`the position of ${source} is ${due - applied - removed} rows ahead`);
    }
    for (const [labeler, { applied, removed }] of counts) {
      const { applied: most = 0, removed: emittedRemoved = 0 } = wanted.byAction.get(labeler) ?? {};
      if (applied > most || removed > emittedRemoved)
        problems.push(`more rows of ${labeler} are stored than it emitted`);
    }
    const refused: Record<string, number> = {};
    for (const { reason, count } of await store.refusals(span)) {
      if (reason !== 'duplicate') refused[reason] = (refused[reason] ?? 0) + count;
    }
    const due = refusedOf(wanted);
    for (const [reason, count] of Object.entries(refused)) {
      if (count > (due[reason] ?? 0))
        problems.push(`${count} refusals as ${reason} were counted, but only ${due[reason] ?? 0} are expected`);
    }
    for await (const day of store.verify()) problems.push(...day.problems);
    const rows = [...counts.values()].reduce((sum, { applied, removed }) => sum + applied + removed, 0);
    const whole = isDeepStrictEqual(counts, wanted.byAction) && isDeepStrictEqual(refused, due);
    return { rows, refused, emitted: wanted.accepted, whole, problems };
  } finally {
    await store.close();
  }
}

/**
 * Returns the expected refusals by the store's reasons. Omits duplicates, because their number depends on how labels
 * were read.
 */
function refusedOf({ refused: { foreign, duplicate: _, ...others } }: Expected): Record<string, number> {
  return Object.fromEntries(Object.entries({ foreign_src: foreign, ...others }).filter(([, count]) => count > 0));
}

/**
 * Returns the intervals without a running instrument that no gap of the instrument covers. Also returns the gaps of
 * sources, because no source lost a label.
 */
async function uncovered(folder: string, missed: readonly Missed[]): Promise<string[]> {
  const store = openSqliteReader(folder);
  try {
    const { startedAt } = await store.epoch();
    const gaps = await store.gaps({ start: startedAt, end: micros(Date.now() * 1000 + 3_600_000_000) });
    const own = gaps.filter(({ source }) => source === null);
    return [
      ...missed
        .filter(({ from, to }) => !own.some(({ start, end }) => start <= from && to <= end))
        .map(({ from, to }) => `no instrument ran from ${from} to ${to}, and no gap covers that`),
      ...gaps
        .filter(({ source }) => source !== null)
        .map((gap) => `a gap where nothing was missed: ${JSON.stringify(gap)}`),
    ];
  } finally {
    await store.close();
  }
}

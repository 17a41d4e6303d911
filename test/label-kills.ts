import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { createSim, type Sim } from '../sim/index.ts';
import { type Expected, verdict } from '../sim/labelers/truth.ts';
import { dice } from '../sim/random.ts';
import { readPosition } from '../src/labels/position.ts';
import { openSqliteReader } from '../src/store/sqlite/reader.ts';
import { type Interval, micros } from '../src/store/time.ts';
import { until } from './support/label-station.ts';
import { spawnLabels } from './support/labels-process.ts';

/** What came of an instrument that was killed again and again. */
export interface LabelKillReport {
  readonly kills: number;
  /** Rows that are stored, and that were emitted since the epoch. */
  readonly stored: number;
  readonly emitted: number;
  /** Rows that are counted as refused. */
  readonly refused: number;
  /** Kills after which more was stored than after the kill before, and those before the store was open. */
  readonly moved: number;
  readonly early: number;
  /** Everything that is not as it should be. */
  readonly problems: readonly string[];
}

/** A stretch in which nobody ran, by our clock. */
interface Missed {
  readonly from: number;
  readonly to: number;
}

/** Longest that a process runs after it has said that it observes, in milliseconds; and by how much longer on a slow machine. */
const longestRun = 700;

/**
 * Runs the real command against labelers that never stop emitting, kills it without warning at random moments of its
 * start and its run, and lets the last one come to rest. Nobody replaces rows: what was emitted can be read later, and
 * so all of it must be there in the end.
 */
export async function killLabels({ kills, seed }: { kills: number; seed: number }): Promise<LabelKillReport> {
  const sim = createSim({
    ...{ seed, labelers: 6, labelRate: 60, rate: 1, historyHours: 0 },
    shapeLabeler: ({ index }) => ({
      software: 'skyware',
      rate: 10,
      // Rows that are refused are counted once, whenever they are read.
      ...{ oddShare: 0.04, oddKinds: ['undated', 'future', 'foreign', 'late'] },
      // One is read by pages alone.
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
  let longest = longestRun;
  try {
    for (let kill = 0; kill < kills; kill += 1) {
      if (killedAt !== null) missed.push({ from: killedAt, to: Date.now() * 1000 });
      const labels = spawnLabels(args);
      const atStart = kill > 0 && chance.chance(0.25);
      if (!atStart) await labels.observing;
      // On a slow machine longer and longer runs, until half of them get something stored.
      longest = moved * 2 < kill ? longest + longestRun : longestRun;
      await wait(chance.below(longest));
      labels.process.kill('SIGKILL');
      // Not before: what it commits till then is no time in which nobody ran.
      killedAt = Date.now() * 1000;
      await labels.ended;
      const found = await look(sim, store);
      problems.push(...found.problems.map((problem) => `after kill ${kill + 1}: ${problem}`));
      if (found.rows < rows) problems.push(`after kill ${kill + 1}: ${rows} rows were stored, ${found.rows} are left`);
      if (found.rows > rows) moved += 1;
      if (atStart) early += 1;
      rows = found.rows;
    }
    if (killedAt !== null) missed.push({ from: killedAt, to: Date.now() * 1000 });
    const last = spawnLabels(args);
    await last.observing;
    for (const { faults } of sim.labelers.list) faults.setRate(0);
    await until('all is stored', async () => (await look(sim, store)).whole, 90_000).catch((error: unknown) =>
      problems.push(String(error)),
    );
    last.process.kill('SIGTERM');
    const { code } = await last.ended;
    if (code !== 0) problems.push(`it ended with ${code}`);
    const rest = await look(sim, store);
    if (!rest.whole) problems.push(`counted as refused: ${JSON.stringify(rest.refused)}`);
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

/** What stands in the store of a process that is gone, against what was emitted by now. */
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
      // What is remembered of refused rows stands beside the positions.
      if (position === null) continue;
      // Live comes first, and what was before is filled in: a number is a position only once all before it is stored.
      const through = Math.max(position.seq ?? 0, position.cursor ?? 0);
      // Its numbers are the labels' own.
      const due = [...sim.labelers.truth.emitted(startedAt - 1_000_000, Number.POSITIVE_INFINITY, source)].filter(
        (label) => label.n <= through && verdict(label, startedAt, label.emittedUs) === null,
      ).length;
      const { applied = 0, removed = 0 } = counts.get(source) ?? {};
      if (applied + removed < due) problems.push(`the position of ${source} is ${due - applied - removed} rows ahead`);
    }
    for (const [labeler, { applied, removed }] of counts) {
      const { applied: most = 0, removed: mostRemoved = 0 } = wanted.byAction.get(labeler) ?? {};
      if (applied > most || removed > mostRemoved) problems.push(`more rows of ${labeler} than it emitted`);
    }
    const refused: Record<string, number> = {};
    for (const { reason, count } of await store.refusals(span)) {
      if (reason !== 'duplicate') refused[reason] = (refused[reason] ?? 0) + count;
    }
    const due = refusedOf(wanted);
    for (const [reason, count] of Object.entries(refused)) {
      if (count > (due[reason] ?? 0)) problems.push(`${count} ${reason} counted, ${due[reason] ?? 0} emitted`);
    }
    for await (const day of store.verify()) problems.push(...day.problems);
    const rows = [...counts.values()].reduce((sum, { applied, removed }) => sum + applied + removed, 0);
    const whole = isDeepStrictEqual(counts, wanted.byAction) && isDeepStrictEqual(refused, due);
    return { rows, refused, emitted: wanted.accepted, whole, problems };
  } finally {
    await store.close();
  }
}

/** What has to be refused, by the words of the store; how often a known row was met depends on how it was read. */
function refusedOf({ refused: { foreign, duplicate: _, ...others } }: Expected): Record<string, number> {
  return Object.fromEntries(Object.entries({ foreign_src: foreign, ...others }).filter(([, count]) => count > 0));
}

/** Stretches in which nobody ran, and that are not in a gap of ours; and gaps of sources, which all were only late. */
async function uncovered(folder: string, missed: readonly Missed[]): Promise<string[]> {
  const store = openSqliteReader(folder);
  try {
    const { startedAt } = await store.epoch();
    const gaps = await store.gaps({ start: startedAt, end: micros(Date.now() * 1000 + 3_600_000_000) });
    const own = gaps.filter(({ source }) => source === null);
    return [
      ...missed
        .filter(({ from, to }) => !own.some(({ start, end }) => start <= from && to <= end))
        .map(({ from, to }) => `nobody ran from ${from} to ${to}, which is in no gap`),
      ...gaps
        .filter(({ source }) => source !== null)
        .map((gap) => `a gap where nothing was missed: ${JSON.stringify(gap)}`),
    ];
  } finally {
    await store.close();
  }
}

/**
 * Makes the standby replace the active label instrument repeatedly at 500 labels a second: 100 times by hand-over, 100
 * times by a kill and 20 times by suspension. `npm run test:hand-overs -- [--times N] [--store sqlite|postgres]
 * [--record FILE]` sets N hand-overs, N kills, and a fifth of N suspensions. Each round of at most 10 changes has its
 * own store. With `--record`, the results of the rounds are appended to a file, and a repeated run continues after
 * them.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { changeWriters, type WriterChange } from '../harness/kills/writer-changes.ts';
import { startPostgres } from '../harness/postgres/server.ts';

const roundChanges = 10;

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '100' },
    store: { type: 'string', default: 'sqlite' },
    record: { type: 'string' },
  },
});
const times = Number(values.times);
const plan: readonly (readonly [WriterChange, number])[] = [
  ['hand_over', times],
  ['kill', times],
  ['suspend', Math.ceil(times / 5)],
];

interface Round {
  readonly store: string;
  readonly how: WriterChange;
  readonly changes: number;
  readonly [figure: string]: unknown;
}

/** Results of the rounds that an earlier run completed. */
const earlier =
  values.record !== undefined && existsSync(values.record)
    ? readFileSync(values.record, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Round)
    : [];

const server = values.store === 'postgres' ? await startPostgres({ durable: true }) : null;
try {
  const done = new Map<WriterChange, number>();
  for (const { store, how, changes } of earlier)
    if (store === values.store) done.set(how, (done.get(how) ?? 0) + changes);
  // Alternate between the kinds of change, so that an interrupted run has results for each kind.
  for (let isLeft = true; isLeft; ) {
    isLeft = false;
    for (const [index, [how, count]] of plan.entries()) {
      const before = done.get(how) ?? 0;
      const changes = Math.min(roundChanges, count - before);
      if (changes <= 0) continue;
      isLeft = true;
      await round(how, changes, 1_000 * (index + 1) + before);
      done.set(how, before + changes);
    }
  }
} finally {
  await server?.stop();
}

/** Runs one round of changes and reports it. */
async function round(how: WriterChange, changes: number, seed: number): Promise<void> {
  const url = server?.url(`changes_${how}_${seed}`);
  const began = performance.now();
  const report = await changeWriters({
    ...{ changes: Array.from({ length: changes }, () => how), seed, rate: 84 },
    ...(url !== undefined && { url }),
  });
  const { stored, emitted, slowestMs, changeMs, saved, problems } = report;
  const seconds = Math.round((performance.now() - began) / 1000);
  const load = loadavg()[0] ?? 0;
  const result = problems.length === 0 ? 'no label lost or stored twice, no gap' : 'WRONG';
  console.log(
    `${values.store}, ${how}: ${changes} changes in ${seconds} s, ${stored} of ${emitted} labels, ${saved} of them from standbys, at most ${slowestMs} ms, at a load of ${load.toFixed(1)}: ${result}`,
  );
  for (const problem of problems) console.log(`  ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
  if (values.record === undefined) return;
  const line = {
    store: values.store,
    how,
    changes,
    stored,
    emitted,
    saved,
    slowestMs,
    changeMs,
    seconds,
    load,
    problems,
  };
  appendFileSync(values.record, `${JSON.stringify(line)}\n`);
}

/**
 * Makes the standby replace the active label instrument repeatedly at 500 labels a second: 100 times by hand-over, 100
 * times by a kill and 20 times by suspension. `npm run test:hand-overs -- [--times N] [--store sqlite|postgres]` sets N
 * hand-overs, N kills, and a fifth of N suspensions. Each round of at most 10 changes has its own store. `--state FILE`
 * runs only the next round that has no result in the file, and adds its result; call the script once per round.
 */
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { changeWriters } from '../harness/kills/writer-changes.ts';
import { type PostgresServer, startPostgres } from '../harness/postgres/server.ts';
import {
  nextRound,
  type Round,
  type RoundResult,
  resultsIn,
  type StoreKind,
  summary,
} from './writer-changes/rounds.ts';

const { values } = parseArgs({
  options: {
    times: { type: 'string', default: '100' },
    store: { type: 'string', default: 'sqlite' },
    state: { type: 'string' },
  },
});
const times = Number(values.times);
const store: StoreKind = values.store === 'postgres' ? 'postgres' : 'sqlite';
const path = values.state ?? null;

const results = path !== null && existsSync(path) ? [...resultsIn(readFileSync(path, 'utf8'), store)] : [];
let next = nextRound(results, times);
const server = store === 'postgres' && next !== null ? await startPostgres({ durable: true }) : null;
try {
  while (next !== null) {
    const result = await run(next, server);
    results.push(result);
    if (path !== null) appendFileSync(path, `${JSON.stringify(result)}\n`);
    next = path === null ? nextRound(results, times) : null;
  }
} finally {
  await server?.stop();
}
for (const line of summary(results, times)) console.log(`${store}, ${line}`);

/** Runs one round of changes, prints its result and returns it. */
async function run({ how, changes, seed }: Round, database: PostgresServer | null): Promise<RoundResult> {
  const url = database?.url(`changes_${how}_${seed}`);
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
    `${store}, ${how}: ${changes} changes in ${seconds} s, ${stored} of ${emitted} labels, ${saved} of them from standbys, at most ${slowestMs} ms, at a load of ${load.toFixed(1)}: ${result}`,
  );
  for (const problem of problems) console.log(`  ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
  return { store, how, changes, stored, emitted, saved, slowestMs, changeMs, seconds, load, problems };
}

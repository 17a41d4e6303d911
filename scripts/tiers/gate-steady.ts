/**
 * `npm run gate:steady -- --runs N [--loops 0,1,2] [--state FILE] [--once]`: runs the tests of the gate (`npm test`, then the proof
 * tier) N times each with 0, 1 and 2 busy loops, and prints how often each file failed. Each run adds a line to the
 * state file, and the same command continues an interrupted series. With `--once`, a call makes only the next run.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { type LedgerRun, ledgerTables, nextLoops, runsIn } from './ledger.ts';
import { runFiles } from './run-files.ts';
import { runProofs } from './run-proofs.ts';
import { proofTier } from './tiers.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '10' },
    loops: { type: 'string', default: '0,1,2' },
    state: { type: 'string', default: join(import.meta.dirname, '..', '..', '.data', 'gate-runs.ndjson') },
    once: { type: 'boolean', default: false },
  },
});
const loads = values.loops.split(',').map(Number);

function known(): LedgerRun[] {
  return existsSync(values.state) ? runsIn(readFileSync(values.state, 'utf8')) : [];
}

/** Program that keeps a core busy until the process that started it ends. */
const busyLoop = 'for (const parent = process.ppid; process.ppid === parent; );';

/** Runs the tests once next to `loops` processes that each keep a core busy. */
function runOnce(loops: number): LedgerRun {
  const busy: ChildProcess[] = Array.from({ length: loops }, () => spawn(process.execPath, ['-e', busyLoop]));
  const began = performance.now();
  // Test other cases of the properties in each run. A failure prints its seed.
  process.env.PROPERTY_SEED = String(randomInt(2 ** 31));
  try {
    const tests = runFiles({ tiers: ['unit', 'system', 'pages'] });
    const proofs = runProofs(proofTier);
    const files = [...tests.files, ...proofs.first];
    return {
      loops,
      isPassed: tests.strayError === null && tests.files.every(({ isPassed }) => isPassed) && proofs.isPassed,
      seconds: Math.round((performance.now() - began) / 1000),
      files: files.length,
      secondRuns: proofs.second.length,
      failed: files.flatMap(({ file, message }) => (message === null ? [] : [{ file, message }])),
    };
  } finally {
    for (const loop of busy) loop.kill('SIGKILL');
  }
}

mkdirSync(dirname(values.state), { recursive: true });
for (let loops = nextLoops(known(), loads, Number(values.runs)); loops !== null; ) {
  appendFileSync(values.state, `${JSON.stringify(runOnce(loops))}\n`);
  loops = values.once ? null : nextLoops(known(), loads, Number(values.runs));
}
console.log(`\n${ledgerTables(known())}`);

/**
 * Makes each part of an observatory with a Patroni database fail in turn, on three machines that are simulated by
 * namespaces: `npm run test:failover -- [--rounds N] [--first N] [--seed N] [--rate N] [--restore] [--keep]`. Needs
 * root, and Debian's patroni, etcd-server, pgbackrest and postgresql.
 */
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { plan } from '../harness/failover/faults.ts';
import { runRounds } from '../harness/failover/rounds.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '10' },
    first: { type: 'string', default: '1' },
    seed: { type: 'string', default: '1' },
    rate: { type: 'string', default: '10' },
    restore: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
  },
});
/** Environment variable that is set in the process that runs inside its own namespaces. */
const inside = 'ALMANAC_FAILOVER_INSIDE';

if (process.env[inside] === undefined) {
  // Every process that the proof starts ends with its namespaces. The shell reaps processes whose parent has exited.
  const own = ['--net', '--mount', '--pid', '--fork', '--kill-child=KILL', '--mount-proc'];
  const command = ['sh', '-c', '"$0" "$@"; exit $?', process.execPath, fileURLToPath(import.meta.url)];
  const { status } = spawnSync('unshare', [...own, ...command, ...process.argv.slice(2)], {
    stdio: 'inherit',
    env: { ...process.env, [inside]: 'true' },
  });
  process.exit(status ?? 1);
}

const folder = mkdtempSync(join(tmpdir(), 'almanac-failover-'));
chmodSync(folder, 0o755);
const first = Number(values.first) - 1;
const faults = Array.from({ length: Number(values.rounds) }, (_, at) => plan[(first + at) % plan.length]).filter(
  (fault) => fault !== undefined,
);
const begun = performance.now();
const print = (line: string): void =>
  console.log(`${String(Math.round((performance.now() - begun) / 1000)).padStart(5)} s  ${line}`);
try {
  const { restore } = values;
  const problems = await runRounds({
    faults,
    seed: Number(values.seed),
    rate: Number(values.rate),
    restore,
    folder,
    print,
  });
  for (const problem of problems) console.log(`  ${problem}`);
  print(
    problems.length === 0
      ? 'the store contains exactly the labels that were sent'
      : `WRONG: ${problems.length} problems`,
  );
  if (problems.length > 0) process.exitCode = 1;
} finally {
  if (values.keep) console.log(`files: ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
}

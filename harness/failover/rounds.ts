import { setTimeout as wait } from 'node:timers/promises';
import type { Sim } from '../../sim/index.ts';
import type { StoredGap } from '../../src/store/port.ts';
import { StoreComparison } from '../kills/compare-store.ts';
import { sixLabelers } from '../kills/six-labelers.ts';
import { until } from '../process/until.ts';
import { countRows, reading, wholeSpan } from '../store/scan.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { type Fault, inject } from './faults.ts';
import type { Machine } from './machine.ts';
import { type Observatory, startObservatory } from './observatory.ts';
import { type Observed, type Responses, watchCounts, watchResponses } from './readers.ts';

interface RoundsOptions {
  readonly faults: readonly Fault[];
  readonly seed: number;
  /** Labels per second of each of the six labelers. */
  readonly rate: number;
  /** True to restore the database to an earlier point in time after the rounds. */
  readonly restore: boolean;
  /** Directory for the files of the machines and processes. */
  readonly folder: string;
  readonly print: (line: string) => void;
}

/** Duration of a fault, in milliseconds. It exceeds Patroni's timeouts and a writer's lease. */
const faultMs = 35_000;

/** Maximum time between the last commit that the restore keeps and the target time, in microseconds. */
const restoredMicros = 3_000_000;

/** Interval from the start of a fault to the recovery from it, in microseconds. */
interface Trouble {
  readonly from: number;
  readonly to: number;
}

interface Running {
  readonly sim: Sim;
  readonly comparison: StoreComparison;
  readonly cluster: Cluster;
  readonly observatory: Observatory;
  readonly watches: readonly Responses[];
  readonly account: string;
  /** Name of the part that is currently failing; null between faults. */
  down: string | null;
  readonly print: RoundsOptions['print'];
}

/** Makes one part of the observatory fail in each round. Returns the problems. */
export async function runRounds(options: RoundsOptions): Promise<readonly string[]> {
  const { faults, seed, rate, folder, print } = options;
  const sim = sixLabelers(seed, rate);
  const addresses = await sim.start();
  const cluster = await startCluster(folder);
  let observatory: Observatory | null = null;
  const watches: Responses[] = [];
  try {
    print('the cluster is complete');
    observatory = await startObservatory(cluster, addresses, folder);
    const { store, anyServer, accountUrls, accounts } = observatory;
    const comparison = new StoreComparison(sim, store);
    await until('labels are stored', async () => (await comparison.compare({ verified: false })).rows > 100);
    const running: Running = {
      sim,
      comparison,
      cluster,
      observatory,
      watches,
      account: busiestAccount(sim),
      down: null,
      print,
    };
    await observatory.whole(running.account);
    print('the observatory is ready');
    for (const [at, url] of accountUrls.entries())
      watches.push(watchResponses(url, running.account, () => running.down === accounts[at]?.name));
    const observed = await watchCounts(anyServer);
    const problems: string[] = [];
    const troubles: Trouble[] = [];
    for (const [index, fault] of faults.entries()) troubles.push(await round(running, index + 1, fault, problems));
    print(await judge(running, observed, troubles, problems, options.restore));
    const codes = await observatory.stop();
    observatory = null;
    if (codes.some((code) => code !== 0)) problems.push(`the instruments exited with ${codes.join()}`);
    return problems;
  } finally {
    for (const watch of watches) void watch.stop();
    await observatory?.stop();
    await cluster.stop();
    await sim.stop();
  }
}

/**
 * Runs one round: injects a fault, ends it, waits for the recovery, and compares the store with the labels that the
 * simulated labelers have emitted. Adds the differences to `problems`. Returns the interval of the round.
 */
async function round(running: Running, number: number, fault: Fault, problems: string[]): Promise<Trouble> {
  const { comparison, cluster, observatory, watches, account, print } = running;
  const name = `${fault.way} ${fault.part}`;
  const from = Date.now() * 1000;
  const { rows } = await comparison.compare({ verified: false });
  const injected = await inject(fault, cluster, observatory, observatory.roles);
  running.down = injected.target;
  const stored = rowsStored(observatory, rows, Date.now());
  await wait(faultMs);
  await injected.heal();
  await cluster.whole();
  await observatory.whole(account);
  running.down = null;
  const resumed = await stored;
  const to = Date.now() * 1000;
  const found = await comparison.compare({ verified: false });
  problems.push(...found.problems.map((problem) => `after round ${number} (${name}): ${problem}`));
  const unserved = watches.map((watch) => Math.round(watch.takeLongestMs() / 1000)).join(' and ');
  print(
    `round ${number}: ${name} (${injected.target}): rows stored again after ${resumed} s, recovered after ${Math.round((to - from) / 1e6)} s, no page for ${unserved} s, ${found.rows} of ${found.emitted} labels stored`,
  );
  return { from, to };
}

/**
 * Compares the store, its gaps and all responses with the expected values. Adds the problems to the list. Returns a
 * summary.
 */
async function judge(
  running: Running,
  observed: Observed,
  troubles: readonly Trouble[],
  problems: string[],
  restores: boolean,
): Promise<string> {
  const { cluster, observatory, watches, print } = running;
  await observed.stop();
  await Promise.all(watches.map((watch) => watch.stop()));
  for (const [at, watch] of watches.entries()) {
    const counts = [...watch.counts].map(([status, count]) => `${count} x ${status}`).join(', ');
    print(`account ${at + 1}: ${counts}`);
    problems.push(...watch.problems.map((problem) => `account ${at + 1}: ${problem}`));
  }
  problems.push(...(await observed.compare(observatory.store)));
  let expected = troubles;
  if (restores) {
    // Start before the target time: the restore keeps only commits before that time.
    const from = Date.now() * 1000 - restoredMicros;
    const { to: instant, at } = await restoreEarlier(cluster, observatory);
    await observatory.whole(running.account);
    expected = [...troubles, { from, to: Date.now() * 1000 }];
    const gap = (await gapsOf(observatory.store)).find(
      ({ start, end }) => start <= instant + restoredMicros && end >= at,
    );
    if (!gap) problems.push(`no gap covers the time from ${instant} to ${at} that the restore lost`);
    print(`restored to an earlier point in time: ${gap ? 'the lost time is a gap' : 'NO GAP'}`);
  }
  await allStored(running, problems);
  for (const gap of await gapsOf(observatory.store)) {
    print(`gap of ${((gap.end - gap.start) / 1e6).toFixed(1)} s: ${gap.source ?? 'all'}, ${gap.reason}`);
    if (!expected.some(({ from, to }) => from <= gap.start && gap.end <= to))
      problems.push(`a gap lies outside every round: ${JSON.stringify(gap)}`);
  }
  for (const { name, ends } of [...observatory.instruments, ...observatory.accounts])
    for (const end of ends) print(`${name} ended: ${end}`);
  return `compared ${observed.count} row counts that servers reported`;
}

/** Ends the traffic, and checks that every label is stored. */
async function allStored({ sim, comparison, print }: Running, problems: string[]): Promise<void> {
  for (const { faults: switches } of sim.labelers.list) switches.setRate(0);
  problems.push(...(await comparison.untilWhole()));
  const rest = await comparison.compare();
  if (!rest.whole) problems.push(`the counts differ: ${JSON.stringify(rest.refused)}`, ...rest.missing);
  problems.push(...rest.problems);
  print(`${rest.rows} of ${rest.emitted} labels stored`);
}

/** Returns the account with the most emitted labels. */
function busiestAccount(sim: Sim): string {
  const { byAccount } = sim.labelers.truth.expected({ epochUs: 0, which: 'emitted' });
  return [...byAccount].reduce((most, one) => (one[1] > most[1] ? one : most))[0];
}

/** Waits until rows are stored again after a fault. Resolves with the number of seconds since the fault. */
async function rowsStored({ store }: Observatory, before: number, begun: number): Promise<number> {
  for (;;) {
    // Require 200 more rows, because some rows may have been stored between the count and the fault.
    if ((await reading(store, countRows).catch(() => 0)) > before + 200) return Math.round((Date.now() - begun) / 1000);
    await wait(500);
  }
}

function gapsOf(url: string): Promise<StoredGap[]> {
  return reading(url, async (store) => store.gaps(await wholeSpan(store)));
}

const data = '/var/lib/postgresql/patroni/almanac';
const control = '/usr/lib/postgresql/15/bin/pg_ctl';
/** Time for which the instruments continue to store rows after the target time of the restore, in milliseconds. */
const laterMs = 15_000;

/**
 * Restores the database to an earlier point in time as docs/operations/failover.md describes, while the instruments
 * run. Returns that point in time and the time of the restore, in microseconds.
 */
async function restoreEarlier(cluster: Cluster, observatory: Observatory) {
  const to = Date.now() * 1000;
  await wait(laterMs);
  // Archive the WAL, because a restore reaches the target time only if the archive contains a later commit.
  await cluster.sql('postgres', ['SELECT pg_switch_wal()']);
  await wait(laterMs);
  const at = Date.now() * 1000;
  const [first, ...others] = cluster.machines;
  if (!first) throw new Error('the cluster has no machines');
  for (const machine of cluster.machines) await stopPatroni(machine);
  const target = new Date(to / 1000).toISOString().replace('T', ' ').replace('Z', '+00');
  const restore = ['--stanza=almanac', '--delta', '--type=time', `--target=${target}`, '--target-action=promote'];
  first.run('postgres', ['pgbackrest', ...restore, 'restore']);
  const log = ['-D', data, '-l', `${data}/restore.log`, '-t', '120', '-w'];
  first.run('postgres', [control, ...log, 'start']);
  const isRecovered = (): boolean => {
    const query = 'SELECT pg_is_in_recovery()';
    return first.run('postgres', ['psql', '-h', '/var/run/postgresql', '-tAc', query, 'postgres']).trim() === 'f';
  };
  await until('the recovery has ended', isRecovered);
  first.run('postgres', [control, ...log, '-m', 'fast', 'stop']);
  const remove = 'printf "almanac\\nYes I am aware\\n" | patronictl -c /etc/patroni/config.yml remove almanac';
  first.run('postgres', ['sh', '-c', remove]);
  startPatroni(first);
  await until('the restored primary is running', async () => (await cluster.machine('leader')) !== null, 120_000);
  for (const machine of others) {
    machine.run('postgres', ['rm', '-rf', data]);
    startPatroni(machine);
  }
  await cluster.whole();
  await until('an instrument has detected the loss', () => hasNoticed(observatory), 120_000);
  return { to, at };
}

function hasNoticed({ instruments }: Observatory): boolean {
  return instruments.some((one) => one.log().some(({ msg }) => String(msg).includes('has lost commits')));
}

/** Stops Patroni, and with it the server, until Patroni is started again. */
async function stopPatroni(machine: Machine): Promise<void> {
  const stop = 'touch "$0/stopped" && kill "$(cat "$0/run_patroni.pid")"';
  machine.run('root', ['sh', '-c', stop, machine.home]);
  await until(`the server on ${machine.name} has stopped`, () =>
    machine.run('root', ['sh', '-c', '[ -e "$0/postmaster.pid" ] || echo stopped', data]).includes('stopped'),
  );
}

function startPatroni(machine: Machine): void {
  machine.run('root', ['rm', `${machine.home}/stopped`]);
}

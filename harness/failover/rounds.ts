import { setTimeout as wait } from 'node:timers/promises';
import { createSim, type Sim } from '../../sim/index.ts';
import { openStoreReader } from '../../src/store/open.ts';
import type { StoredGap } from '../../src/store/port.ts';
import { micros } from '../../src/store/time.ts';
import { compareStore } from '../kills/compare-store.ts';
import { until } from '../process/until.ts';
import { startCluster } from './cluster.ts';
import { type Fault, inject } from './faults.ts';
import { type Observatory, startObservatory } from './observatory.ts';
import { type Responses, watchCounts, watchResponses } from './readers.ts';

/** Options of a run of rounds. */
export interface RoundsOptions {
  readonly faults: readonly Fault[];
  readonly seed: number;
  /** Labels per second of each of the six labelers. */
  readonly rate: number;
  /** Directory for the files of the machines and processes. */
  readonly folder: string;
  readonly print: (line: string) => void;
}

/** Time that a fault lasts, in milliseconds: longer than Patroni waits, and than a writer's lease. */
const faultMs = 35_000;

/** A fault that has ended. */
interface Round extends Fault {
  readonly target: string;
  /** Times in microseconds of its beginning, and of the end of the recovery. */
  readonly from: number;
  readonly to: number;
}

/** Lets a part of an observatory fail in each round. Returns the problems. */
export async function runRounds(options: RoundsOptions): Promise<readonly string[]> {
  const { faults, seed, rate, folder, print } = options;
  const sim = createSim({
    ...{ seed, labelers: 6, labelRate: 6 * rate, rate: 1, historyHours: 0 },
    shapeLabeler: ({ index }) => ({
      ...{ software: 'skyware', rate },
      ...{ oddShare: 0.04, oddKinds: ['undated', 'future', 'foreign', 'late'] },
      // One labeler can be read only by pages.
      ailment: index === 5 ? 'no_stream' : 'none',
    }),
  });
  const addresses = await sim.start();
  const cluster = await startCluster(folder, (config) => config);
  let observatory: Observatory | null = null;
  const watches: Responses[] = [];
  try {
    print('the cluster is whole');
    const all = await startObservatory(cluster, addresses, folder);
    observatory = all;
    await until('labels are stored', async () => (await compareStore(sim, all.store, { verified: false })).rows > 100);
    const account = busiestAccount(sim);
    await all.whole(account);
    print('the observatory is whole');
    let down: string | null = null;
    for (const [at, url] of all.accountUrls.entries())
      watches.push(watchResponses(url, account, () => down === all.accounts[at]?.name));
    const observed = await watchCounts(all.anyServer);
    const problems: string[] = [];
    const rounds: Round[] = [];
    for (const [index, fault] of faults.entries()) {
      const from = Date.now() * 1000;
      const rows = (await compareStore(sim, all.store, { verified: false })).rows;
      const injected = await inject(fault, cluster, all, all.roles);
      down = injected.target;
      const stored = rowsStored(all, rows, Date.now());
      await wait(faultMs);
      await injected.heal();
      await cluster.whole();
      await all.whole(account);
      down = null;
      const resumed = await stored;
      const to = Date.now() * 1000;
      rounds.push({ ...fault, target: injected.target, from, to });
      const found = await compareStore(sim, all.store, { verified: false });
      problems.push(
        ...found.problems.map((problem) => `after round ${index + 1} (${fault.way} ${fault.part}): ${problem}`),
      );
      print(
        `round ${index + 1}: ${fault.way} ${fault.part} (${injected.target}): rows again after ${resumed} s, whole after ${Math.round((to - from) / 1e6)} s, ${found.rows} of ${found.emitted} labels`,
      );
    }
    for (const { faults: switches } of sim.labelers.list) switches.setRate(0);
    await until(
      'all labels are stored',
      async () => (await compareStore(sim, all.store, { verified: false })).whole,
      120_000,
    ).catch((error: unknown) => problems.push(String(error)));
    await observed.stop();
    await Promise.all(watches.map((watch) => watch.stop()));
    problems.push(...(await observed.compare(all.store)));
    const rest = await compareStore(sim, all.store);
    if (!rest.whole) problems.push(`the counts differ: ${JSON.stringify(rest.refused)}`, ...rest.missing);
    problems.push(...rest.problems);
    for (const gap of await gapsOf(all.store)) {
      print(`gap: ${JSON.stringify(gap)}`);
      const round = rounds.find(({ from, to }) => from <= gap.start && gap.end <= to);
      if (!round) problems.push(`a gap outside of every round: ${JSON.stringify(gap)}`);
    }
    for (const [at, watch] of watches.entries()) {
      const counts = [...watch.counts].map(([status, count]) => `${count} x ${status}`).join(', ');
      print(`account ${at + 1}: ${counts}, at most ${Math.round(watch.longestMs / 1000)} s without 200`);
      problems.push(...watch.problems.map((problem) => `account ${at + 1}: ${problem}`));
    }
    print(`${observed.count} states of servers compared; ${rest.rows} of ${rest.emitted} labels stored`);
    for (const { name, ends } of [...all.instruments, ...all.accounts])
      for (const end of ends) print(`${name} ended: ${end}`);
    const codes = await all.stop();
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

/** Returns the account about which most labels were emitted. */
function busiestAccount(sim: Sim): string {
  const { byAccount } = sim.labelers.truth.expected({ epochUs: 0, which: 'emitted' });
  return [...byAccount].reduce((most, one) => (one[1] > most[1] ? one : most))[0];
}

/** Resolves with the seconds after which the store contains more rows than before the fault. */
async function rowsStored({ store }: Observatory, before: number, begun: number): Promise<number> {
  for (;;) {
    try {
      const reader = await openStoreReader(store);
      try {
        const { startedAt } = await reader.epoch();
        const counts = await reader.countsByLabeler({ start: startedAt, end: micros(Date.now() * 1000 + 1e9) });
        const rows = counts.reduce((sum, { applied, removed }) => sum + applied + removed, 0);
        // A few seconds of rows may have been stored after the count and before the fault.
        if (rows > before + 200) return Math.round((Date.now() - begun) / 1000);
      } finally {
        await reader.close();
      }
    } catch {
      // No primary can be reached.
    }
    await wait(500);
  }
}

async function gapsOf(url: string): Promise<StoredGap[]> {
  const store = await openStoreReader(url);
  try {
    const { startedAt } = await store.epoch();
    return await store.gaps({ start: startedAt, end: micros(Date.now() * 1000) });
  } finally {
    await store.close();
  }
}

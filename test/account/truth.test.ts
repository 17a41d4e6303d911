import { expect, onTestFinished, test } from 'vitest';
import { create, follow } from '../../harness/accounts/account.ts';
import { allGiven } from '../../harness/labels/label-stage.ts';
import { removeStation, startStation } from '../../harness/labels/label-station.ts';
import { digestChain } from '../../harness/model/account/account-model.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { until } from '../../harness/process/until.ts';
import { countRows } from '../../harness/store/scan.ts';
import { createSim, type Sim } from '../../sim/index.ts';
import { accountOf, verdict } from '../../sim/labelers/truth.ts';
import type { AccountRow } from '../../src/contract/account.ts';
import { readSeeds } from '../../src/labels/roster/labeler-lists.ts';

/** Tests the account surface with a store that the label instrument filled from the simulated network. */

/** Returns a label as one line that contains every field of the labeler that a row stores. */
function line(...said: readonly unknown[]): string {
  return JSON.stringify(said.map((one) => one ?? null));
}

function asSent({ labeler_did, uri, cid, value, action, source_timestamp, expires_at }: AccountRow): string {
  return line(labeler_did, uri, cid, value, action === 'removal_observed', source_timestamp, expires_at);
}

/**
 * Returns, for each account, the labels that labelers sent and the instrument had to accept. A repeated label results
 * in the same line.
 */
function sentByAccount({ labelers: { truth } }: Sim, epochUs: number): Map<string, Set<string>> {
  const sent = new Map<string, Set<string>>();
  for (const emitted of truth.emitted()) {
    if (!emitted.served || verdict(emitted, epochUs, emitted.emittedUs) !== null) continue;
    const { src, uri, cid, val, neg, cts, exp } = emitted.label as Readonly<Record<string, unknown>>;
    const account = accountOf(String(uri));
    const lines = sent.get(account) ?? new Set();
    sent.set(account, lines.add(line(src, uri, cid, val, neg === true, cts, exp)));
  }
  return sent;
}

test('an export contains, row for row, what labelers sent about the account, and lists every labeler in its coverage', async () => {
  const sim = createSim({ rate: 1, historyHours: 0, seed: 11, labelers: 12, labelRate: 120 });
  const { seeds, plc, relays, jetstream } = await sim.start();
  const station = await startStation({ seeds: await readSeeds(seeds ?? ''), plc: plc ?? '', relays, jetstream });
  onTestFinished(async () => {
    await station.stop();
    removeStation(station);
    await sim.stop();
  });
  const { startedAt } = await station.store.epoch();
  const truth = () => sim.labelers.truth.expected({ epochUs: startedAt });
  await until('some traffic', () => truth().accepted > 800);
  for (const { faults } of sim.labelers.list) faults.setRate(0);
  await until('all labels to be sent', () => allGiven(sim));
  await until('all labels to be stored', async () => (await countRows(station.store)) === truth().accepted);

  const { url } = await startProgramInTest([
    'account',
    '--port',
    '0',
    '--store',
    `sqlite:${station.folder}/store`,
    '--data',
    station.folder,
    '--page-rows',
    '25',
    '--queue-ms',
    '20000',
  ]).listening();
  // Wait until the clock has passed the last row, because rows that arrive together are stamped slightly ahead of
  // the clock, and the interval must end after the last row.
  const { end } = await station.store.frontier();
  await until('the clock to pass the last row', () => Date.now() * 1000 > end);

  const sent = sentByAccount(sim, startedAt);
  const accounts = [...truth().byAccount].filter(([did]) => /^did:(plc|web):/.test(did)).slice(0, 60);
  expect(accounts.length).toBeGreaterThan(20);
  const roster = async () => (await station.store.roster()).filter((row) => row.enrolled).map(({ did }) => did);
  await until(
    'all labelers to be stored as enrolled',
    async () => (await roster()).length === sim.labelers.list.length,
  );
  const enrolled = await roster();
  for (const [did, count] of accounts) {
    const created = await create(url, { did });
    const { rows, digest } = await follow(url, created);
    expect({ did, rows: rows.length }).toEqual({ did, rows: count });
    expect(rows.map(asSent).sort()).toEqual([...(sent.get(did) ?? [])].sort());
    expect(new Set(rows.map(({ signature }) => signature))).toEqual(new Set(['verified']));
    expect(digest).toBe(digestChain(created.manifest, rows));
    expect(created.manifest.coverage.labelers.map(({ labeler_did }) => labeler_did)).toEqual(enrolled.toSorted());
  }
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Query, queryOf } from '../../harness/model/account/account-arbitraries.ts';
import { accountChecker, type Place } from '../../harness/model/account/account-check.ts';
import { accountPrograms } from '../../harness/model/account/account-programs.ts';
import { writeWorld } from '../../harness/model/account/account-world.ts';
import { enoughCases, modelRun } from '../../harness/model/run.ts';

/**
 * Compares the account view on real stores with a model on plain arrays: intervals, filters, pages, digests and
 * coverage.
 */

const minute = 60_000_000;
/** Ages of the stores in days, each with the time in microseconds between the last accepted page and the requests. */
const histories = [
  { days: 33.4, silentFor: 2 * minute },
  { days: 6.3, silentFor: 360 * minute },
  { days: 3.1, silentFor: 10 * minute },
];
const bounds = [
  { maxExportRows: 50_000, pageRows: 100, ttlMs: 60_000 },
  { maxExportRows: 60, pageRows: 7, ttlMs: 60_000 },
];

const run = modelRun<Query>(10_500);
const folder = mkdtempSync(join(tmpdir(), 'almanac-model-'));
const places: (Place & Pick<ReturnType<typeof accountPrograms>, 'alarms' | 'stop'>)[] = [];

beforeAll(async () => {
  for (const [nth, history] of histories.entries()) {
    const store = join(folder, String(nth));
    const world = await writeWorld({ folder: store, seed: run.seed + nth, ...history });
    places.push({ world, ...accountPrograms(store, bounds) });
  }
}, 1_800_000);
afterAll(async () => {
  await Promise.all(places.map(({ stop }) => stop()));
  rmSync(folder, { recursive: true, force: true });
});

it('the account view responds as the contract specifies, for any stored data and any request', async () => {
  const { check, counts } = accountChecker(places);
  await fc.assert(fc.asyncProperty(queryOf, check), run);
  expect(places.flatMap(({ alarms }) => alarms)).toEqual([]);
  expect(counts.get('requests')).toBeGreaterThan(1.5 * run.numRuns);
  if (run.numRuns < enoughCases) return;
  // Every kind of response must occur, because otherwise this run would not test that kind.
  const kinds = [
    ...[
      '/exports 200 ',
      '/account 200 ',
      '/download 200 ',
      '/exports 409 export_too_large',
      '/exports 409 out_of_window',
    ],
    ...['/exports 409 invalid_cursor', '/exports 410 snapshot_expired', '/exports 409 invalid_interval'],
  ];
  for (const kind of kinds) expect([kind, counts.get(kind) ?? 0]).toEqual([kind, expect.toSatisfy((n) => n > 10)]);
}, 1_800_000);

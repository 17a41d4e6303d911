import { join } from 'node:path';
import { expect, test } from 'vitest';
import { linesOf } from '../../harness/accounts/account-view.ts';
import { allGiven, labelStage } from '../../harness/labels/label-stage.ts';
import { startStation } from '../../harness/labels/label-station.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { until } from '../../harness/process/until.ts';
import { countRows } from '../../harness/store/scan.ts';
import { createSim } from '../../sim/index.ts';
import { textsOf } from '../../src/account/texts/texts.ts';
import { readSeeds } from '../../src/labels/roster/labeler-lists.ts';

const stage = labelStage();

test('a page shows every row about an account, with signatures and a definition, while the instrument continues to observe', async () => {
  const made = createSim({ seed: 5, labelers: 6, labelRate: 120, rate: 1, historyHours: 0, population: 'plain' });
  stage.sim = made;
  const { seeds, plc, relays, jetstream } = await made.start();
  // Labelers send nothing around the start of the epoch, so that every label lies clearly before or after it.
  for (const { faults } of made.labelers.list) faults.setRate(0);
  const started = await startStation({ seeds: await readSeeds(seeds ?? ''), plc: plc ?? '', relays, jetstream });
  stage.station = started;
  const { startedAt } = await started.store.epoch();
  const truth = () => made.labelers.truth.expected({ epochUs: startedAt, which: 'served' });
  await until('all labelers to be read', async () => (await started.overview()).coverage.sources.established === 6);
  // Publish the definitions of all labelers again, because the instrument was not yet reading the Jetstream when they
  // were first published.
  for (const { did } of made.labelers.list) made.labelers.declare(did, 'update');
  for (const { faults } of made.labelers.list) faults.emit(70);
  await until('some labels', () => truth().accepted > 400 && allGiven(made));
  await until('all labels to be stored', async () => (await countRows(started.store)) === truth().accepted);
  await until('the definitions of the label values', async () => {
    const reported = await Promise.all(made.labelers.list.map(({ did }) => started.store.definitions(did)));
    return reported.every((revisions) => revisions.length > 0);
  });
  const [[account, rows] = ['', 0]] = [...truth().byAccount].sort(([, a], [, b]) => b - a);
  expect(rows).toBeGreaterThan(1);
  const program = startProgramInTest([
    ...['account', '--port', '0', '--data', started.folder],
    ...['--store', `sqlite:${join(started.folder, 'store')}`],
  ]);
  const { url } = await program.listening();
  const response = await fetch(`${url}/account?did=${account}`);
  const html = await response.text();
  expect(response.status).toBe(200);
  expect(html.match(/<li class="row /g)).toHaveLength(rows);
  const interval = { start: startedAt, end: (await started.store.frontier()).end };
  const kept = await started.store.readAccount({ account, ...interval, order: 'newest', after: null, limit: 500 });
  const shown = [...html.matchAll(/<dt>Signature<\/dt><dd>([^<]*)<\/dd>/g)].map(([, words]) => words);
  expect(shown.toSorted()).toEqual(kept.rows.map(({ signature }) => textsOf('en').verdict[signature]).toSorted());
  const lines = linesOf(html);
  const [, applied, removed] =
    /^(\d+) applied and (\d+) removed$/.exec(lines.find((line) => / applied and /.test(line)) ?? '') ?? [];
  expect(Number(applied) + Number(removed)).toBe(rows);
  expect(lines.some((line) => /^Marked as .* by this labeler\.$/.test(line))).toBe(true);
  // Nearly all of the 30 days are unobserved, because observation has just begun.
  expect(lines.join(' ')).toMatch(/Observation began on .*: nothing was observed in the 30 days before\./);
});

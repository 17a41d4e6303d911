import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { labelStage } from '../../harness/labels/label-stage.ts';
import { startStation } from '../../harness/labels/label-station.ts';
import { until } from '../../harness/process/until.ts';
import { createSim } from '../../sim/index.ts';
import { oddKinds } from '../../sim/labelers/odd-labels.ts';
import type { Log, LogFields } from '../../src/ops/log.ts';
import { day, micros } from '../../src/store/time.ts';

const stage = labelStage();

test('the logs and the artifacts name no account or record despite odd labels, failing labelers and a full disk', async () => {
  const written: string[] = [];
  const write = (message: string, fields?: LogFields) => void written.push(JSON.stringify({ message, fields }));
  const log: Log = { debug: write, info: write, warn: write, error: write, with: () => log };
  const made = createSim({ rate: 1, historyHours: 0, labelers: 3, labelRate: 0 });
  stage.sim = made;
  const { plc, relays, jetstream } = await made.start();
  const { list } = made.labelers;
  const labelers = new Set(list.map(({ did }) => did));
  const observed = await startStation(
    { seeds: [...labelers], plc: plc ?? '', relays, jetstream, maxDailyRows: 400 },
    { log },
  );
  stage.station = observed;
  await until('all are established', async () => (await observed.overview()).coverage.sources.established === 3);
  for (const { faults } of list) {
    faults.emit(50);
    for (const kind of oddKinds) if (kind !== 'huge') faults.labels(kind);
  }
  const [first, second, third] = list;
  const { startedAt: start } = await observed.store.epoch();
  const counts = () => observed.store.countsByLabeler({ start, end: micros(Date.now() * 1000 + day) });
  await until('the labels of all labelers are stored', async () => (await counts()).length === 3);
  // Give each labeler a different failure: a reset, a refusal, or more labels than its daily share.
  first?.faults.recreate();
  second?.faults.answer({ kind: 'html' });
  second?.faults.drop('reset');
  third?.faults.emit(1_000);
  await until('the pause is reported', () => written.some((line) => line.includes('paused')));
  await until('the refusal is reported', () => written.some((line) => line.includes('cannot be read')));
  observed.store.limitPages(1);
  first?.faults.emit(3_000);
  await until('the full disk is reported', () => written.some((line) => line.includes('disk_full')));
  observed.store.limitPages(1_000_000);
  await until('acceptance has resumed', () => written.some((line) => line.includes('label acceptance resumed')));
  const at = (await observed.overview()).generated_at;
  await until('a new artifact is published', async () => (await observed.overview()).generated_at !== at);

  // Stop the instrument, so that no file changes while the test reads the artifact.
  await observed.stop();
  const artifacts = join(observed.folder, 'artifacts');
  const texts = [...written, ...readdirSync(artifacts).map((name) => readFileSync(join(artifacts, name), 'utf8'))];
  expect(written.length).toBeGreaterThan(4);
  expect(texts.filter((text) => text.includes('at://'))).toEqual([]);
  const named = texts.flatMap((text) => text.match(/did:[a-z]+:[a-zA-Z0-9._:%-]+/g) ?? []);
  expect(named.filter((did) => !labelers.has(did))).toEqual([]);
  // Check that the search can find identities: the output contains the labelers.
  expect(new Set(named)).toEqual(labelers);
});

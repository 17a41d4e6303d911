import { copyFileSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { labelers, noon } from '../../harness/conformance/labels.ts';
import { problems } from '../../harness/conformance/suite.ts';
import { everyRow } from '../../harness/store/scan.ts';
import { batch, sealedToday, useSqliteFolder } from '../../harness/store/sqlite-folder.ts';
import { copyStore } from '../../src/store/copy/copy-store.ts';
import type { StoreWriter } from '../../src/store/port.ts';
import { openSqliteSource } from '../../src/store/sqlite/copy/source.ts';
import { openSqliteTarget } from '../../src/store/sqlite/copy/target.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { day, micros } from '../../src/store/time.ts';

const place = useSqliteFolder();
const [mod = ''] = labelers;
const now = micros(noon + 4 * day);
const all = { start: micros(noon - day), end: micros(noon + 6 * day) };

async function purge(store: StoreWriter, at: number): Promise<void> {
  expect(await store.requestPurge({ source: mod, at: micros(at) })).toBe(true);
  while (await store.purge(now));
}

it('a sealed day restored from a backup contains rows that were purged after the backup, until their purge is requested again', async () => {
  const writer = place.open({ at: micros(noon - day) });
  await writer.append(batch(Array.from({ length: 60 }, (_, i) => i)));
  await writer.append({ ...batch([1_000]), at: now });
  expect((await writer.maintain(now)).sealed).toEqual(['2024-10-04']);
  const backup = `${place.path}/backup.sqlite`;
  copyFileSync(place.dayPath(sealedToday), backup);
  const complete = await everyRow(writer, all);
  await purge(writer, now);
  const purged = complete.filter(({ label }) => label.src !== mod);
  expect(await everyRow(writer, all)).toEqual(purged);
  await place.close();

  rmSync(place.dayPath(sealedToday));
  copyFileSync(backup, place.dayPath(sealedToday));
  const restored = place.open({ at: now });
  expect(await problems(restored)).toEqual([]);
  expect(await restored.purge(now)).toBe(false);
  expect((await everyRow(restored, all)).filter(({ label }) => label.src === mod)).toHaveLength(20);
  await purge(restored, now + 1);
  expect(await everyRow(restored, all)).toEqual(purged);
  expect(await problems(restored)).toEqual([]);
});

it('a copy of a store does not name a labeler whose rows were purged from an open day', async () => {
  const writer = place.open({ at: micros(noon - day) });
  await writer.append(batch(Array.from({ length: 60 }, (_, i) => i)));
  await writer.append({ ...batch([1_000]), at: now });
  await purge(writer, now);
  const { generationId } = await writer.epoch();
  await place.close();
  const folder = `${place.path}-copy`;
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [source, target] = [openSqliteSource(place.path), openSqliteTarget(folder, generationId)];
  const wait = () => Promise.resolve();
  expect(await copyStore({ source, target, once: false, report: () => undefined, wait })).toBe(true);
  for (const end of [source, target]) await end.close();
  const copy = openSqliteWriter({ folder, at: now });
  expect((await copy.maintain(now)).sealed).toEqual(['2024-10-04']);
  expect(await problems(copy)).toEqual([]);
  await copy.close();
  expect(readFileSync(join(folder, 'days', sealedToday)).includes(mod)).toBe(false);
});

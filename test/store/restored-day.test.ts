import { copyFileSync, rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { labelers, noon } from '../../harness/conformance/labels.ts';
import { problems } from '../../harness/conformance/suite.ts';
import { everyRow } from '../../harness/store/scan.ts';
import { batch, sealedToday, useSqliteFolder } from '../../harness/store/sqlite-folder.ts';
import type { StoreWriter } from '../../src/store/port.ts';
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

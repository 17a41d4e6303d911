import { cpSync, existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { noon } from '../../harness/conformance/labels.ts';
import { batch, today, useSqliteFolder } from '../../harness/store/sqlite-folder.ts';
import { day, micros } from '../../src/store/time.ts';

const place = useSqliteFolder();
const { open } = place;
const kept = (): string => join(place.path, 'identities.kept');

describe('the identities that a closed writer of a directory keeps', () => {
  it('let the next writer recognise the labels of the last two days without reading their rows', async () => {
    await open().append(batch([0, 4]));
    await place.close();
    // A writer that reads these rows refuses to open the store.
    place.change(today, 'PRAGMA ignore_check_constraints = 1; UPDATE observation SET identity = zeroblob(3)');
    expect(await open().append(batch([0, 4, 8]))).toMatchObject({ accepted: 1, duplicates: [0, 1] });
    expect(existsSync(kept())).toBe(false);
  });

  it('are read from the rows if there is no file, as after a crash', async () => {
    await open().append(batch([0, 4]));
    await place.close();
    rmSync(kept());
    expect(await open().append(batch([0, 4, 8]))).toMatchObject({ accepted: 1, duplicates: [0, 1] });
  });

  it('are completed from the rows that a later writer added', async () => {
    await open().append(batch([0]));
    await place.close();
    cpSync(kept(), `${kept()}.copy`);
    await open().append({ ...batch([4]), at: micros(noon + day) });
    await place.close();
    renameSync(`${kept()}.copy`, kept());
    expect(await open().append({ ...batch([0, 4, 8]), at: micros(noon + day) })).toMatchObject({ accepted: 1 });
  });

  it('are not used if rows are missing, so that a label of a lost row is accepted again', async () => {
    await open().append(batch([0]));
    await place.close();
    rmSync(kept());
    const copy = `${place.path}-copy`;
    cpSync(place.path, copy, { recursive: true });
    await open().append(batch([4]));
    await place.close();
    renameSync(kept(), join(copy, 'identities.kept'));
    rmSync(place.path, { recursive: true });
    renameSync(copy, place.path);
    expect(await open().append(batch([0, 4]))).toMatchObject({ accepted: 1, duplicates: [0] });
  });
});

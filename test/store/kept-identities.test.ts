import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { labelers, noon } from '../../harness/conformance/labels.ts';
import { batch, today, useSqliteFolder } from '../../harness/store/sqlite-folder.ts';
import { IdentitySet } from '../../src/store/common/identity-set.ts';
import { takeIdentities } from '../../src/store/common/kept-identities.ts';
import { duplicateHorizon } from '../../src/store/port.ts';
import { repairStore, setStoreAside } from '../../src/store/sqlite/repair/repair.ts';
import { restoreStore } from '../../src/store/sqlite/repair/restore.ts';
import { day, hour, micros } from '../../src/store/time.ts';

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

  it('are removed without being used by a writer that was a standby, which has read the rows', async () => {
    await open().append(batch([0]));
    await place.close();
    // The standby's identities lack the label, so that it is accepted again only if the file is not used.
    const known = { identities: new IdentitySet(duplicateHorizon), through: noon };
    expect(await open({ known: () => known }).append(batch([0]))).toMatchObject({ accepted: 1 });
    expect(existsSync(kept())).toBe(false);
  });

  it('are not used in another store, such as one of a new epoch in the same directory', async () => {
    await open({ generationId: () => 'first' }).append(batch([0]));
    await place.close();
    const other = `${place.path}-kept`;
    renameSync(kept(), other);
    rmSync(place.path, { recursive: true });
    mkdirSync(place.path);
    await open({ generationId: () => 'second' }).append({ ...batch([4]), at: micros(noon + hour) });
    await place.close();
    renameSync(other, kept());
    expect(await open().append({ ...batch([0, 4]), at: micros(noon + hour) })).toMatchObject({
      accepted: 1,
      duplicates: [1],
    });
  });

  it('are not used if rows were purged since, so that their labels are accepted again', async () => {
    await open().append(batch([0]));
    await place.close();
    const before = `${place.path}-kept`;
    renameSync(kept(), before);
    const writer = open();
    const at = micros(noon + hour);
    for (const source of labelers) await writer.requestPurge({ source, at });
    while (await writer.purge(at));
    await writer.append({ ...batch([4]), at });
    await place.close();
    renameSync(before, kept());
    expect(await open().append({ ...batch([0, 4]), at })).toMatchObject({ accepted: 1, duplicates: [1] });
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

  it('are removed by a restore that lacks a day, so that the labels of the lost rows are accepted again', async () => {
    const at = micros(noon + day + hour);
    const writer = open();
    await writer.append(batch([0, 4]));
    await writer.append({ ...batch([8]), at: micros(noon + day) });
    await place.close();
    const { directory = '' } = setStoreAside(place.path, new Date(at / 1000)) ?? {};
    rmSync(join(directory, 'days', today));
    expect(existsSync(kept())).toBe(true);
    expect((await restoreStore({ from: directory, folder: place.path, at })).lost).toEqual(['2024-10-04']);
    expect(existsSync(kept())).toBe(false);
    expect(await open({ at }).append({ ...batch([0, 4, 8]), at })).toMatchObject({ accepted: 2, duplicates: [2] });
  });
});

describe('the identities of the last commits of a day that are lost', () => {
  const next = micros(noon + day);

  /** Creates a closed store of two days. The first day has lost its last row, and the kept identities include it. */
  async function loseRow(): Promise<void> {
    const writer = open();
    for (const n of [0, 4]) await writer.append({ ...batch([n]), at: micros(noon + n) });
    await writer.append({ ...batch([8]), at: next });
    await place.close();
    place.change(
      today,
      `DELETE FROM observation WHERE id = (SELECT max(id) FROM observation);
       UPDATE meta SET value = (SELECT max(id) FROM observation) WHERE name = 'last'`,
    );
  }

  it('are not used by the next writer, so that the label is accepted again', async () => {
    await loseRow();
    expect(await open({ at: next }).append({ ...batch([0, 4, 8]), at: next })).toMatchObject({ duplicates: [0, 2] });
  });

  it('are not used by a standby that takes over', async () => {
    await loseRow();
    const known = takeIdentities(kept(), keptState());
    expect(known).not.toBeNull();
    const writer = open({ at: next, known: () => known });
    expect(await writer.append({ ...batch([0, 4, 8]), at: next })).toMatchObject({ duplicates: [0, 2] });
  });

  it('are not used by the next writer after a repair', async () => {
    await loseRow();
    for await (const _ of repairStore({ folder: place.path }));
    expect(existsSync(kept())).toBe(false);
    expect(await open({ at: next }).append({ ...batch([0, 4, 8]), at: next })).toMatchObject({ duplicates: [0, 2] });
  });
});

/** Returns the state of the store that the file of kept identities names. */
function keptState(): string {
  const bytes = readFileSync(kept());
  const header: unknown = JSON.parse(bytes.subarray(36, 36 + bytes.readUInt32BE(32)).toString());
  return typeof header === 'object' && header !== null && 'state' in header ? String(header.state) : '';
}

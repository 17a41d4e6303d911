import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hour, micros } from '../../store/time.ts';
import { hasLost, readStoreRecord, type StoreProgress, StoreRecorder } from './store-record.ts';

const now = micros(1_780_000_000_000_123);
const earlier = micros(now - hour);
const progress: StoreProgress = {
  ...{ generationId: 'a', token: 7, revision: 3 },
  ...{ end: now, observedThrough: now, heartbeat: now },
};

describe('a store', () => {
  it.each<[string, Partial<StoreProgress>]>([
    ['a row', { end: earlier }],
    ['a page', { observedThrough: earlier }],
    ['every page', { observedThrough: null }],
    ['a heartbeat', { heartbeat: earlier }],
    ['a writer', { token: 6 }],
    ['a removal of rows', { revision: 2 }],
  ])('a store has lost data if it lacks %s of its record', (_, lacking) => {
    expect(hasLost({ ...progress, ...lacking }, progress)).toBe(true);
  });

  it.each<[string, Partial<StoreProgress>]>([
    ['is as far as its record', {}],
    ['is further than its record', { end: micros(now + 1), token: 8, revision: 4 }],
    ['counts no writers', { token: null }],
    ['is not the recorded store', { generationId: 'b', end: earlier }],
  ])('a store has lost no data if it %s', (_, found) => {
    expect(hasLost({ ...progress, ...found }, progress)).toBe(false);
  });

  it('a store has lost no data without a record, or if the record contains no token, page or heartbeat', () => {
    expect(hasLost(progress, null)).toBe(false);
    expect(hasLost(progress, { ...progress, token: null, observedThrough: null, heartbeat: null })).toBe(false);
  });
});

describe('the record of a store', () => {
  const directory = (): string => {
    const made = mkdtempSync(join(tmpdir(), 'almanac-record-'));
    onTestFinished(() => rmSync(made, { recursive: true, force: true }));
    return made;
  };
  /** Returns a recorder of a store whose progress the test sets. */
  const recorderIn = (artifacts: string, of: { at: StoreProgress }) =>
    new StoreRecorder(artifacts, {
      frontier: () => Promise.resolve({ ...of.at, floor: earlier }),
      heartbeat: () => Promise.resolve(of.at.heartbeat),
      ...(of.at.token !== null && { tokens: { own: of.at.token, former: 0 } }),
    });

  it('a record is parsed to the values that were written', async () => {
    const artifacts = directory();
    await recorderIn(artifacts, { at: progress }).update();
    expect(await readStoreRecord(artifacts)).toEqual(progress);
    const empty = { ...progress, token: null, observedThrough: null, heartbeat: null };
    await recorderIn(artifacts, { at: empty }).replace(empty);
    expect(await readStoreRecord(artifacts)).toEqual(empty);
  });

  it('a record is updated with the store, but is kept after the store has lost data, until it is replaced', async () => {
    const artifacts = directory();
    const store = { at: progress };
    const recorder = recorderIn(artifacts, store);
    await recorder.update();
    store.at = { ...progress, end: micros(now + 5) };
    await recorder.update();
    expect(await readStoreRecord(artifacts)).toEqual(store.at);
    const lost = { ...progress, end: earlier };
    for (const one of [recorder, recorderIn(artifacts, { at: lost })]) {
      store.at = lost;
      await one.update();
      expect((await readStoreRecord(artifacts))?.end).toBe(now + 5);
    }
    await recorder.replace(lost);
    expect(await readStoreRecord(artifacts)).toEqual(lost);
  });

  it.each(['', '{', '[]', '{"generation_id":"a","token":1}', '{"generation_id":"a","token":"1","revision":1}'])(
    'a record counts as missing if its content is %j',
    async (text) => {
      const artifacts = directory();
      writeFileSync(join(artifacts, 'labels-store.json'), text);
      expect(await readStoreRecord(artifacts)).toBe(null);
    },
  );

  it('a record counts as missing if it is larger than the maximum size', async () => {
    const artifacts = directory();
    await recorderIn(artifacts, { at: progress }).update();
    const path = join(artifacts, 'labels-store.json');
    writeFileSync(path, readFileSync(path, 'utf8') + ' '.repeat(5_000));
    expect(await readStoreRecord(artifacts)).toBe(null);
  });
});

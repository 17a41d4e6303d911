import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { folderInTest } from '../../../harness/process/folder.ts';
import { hour, micros } from '../../store/time.ts';
import { hasLost, readStoreRecord, StoreRecorder } from './heartbeat.ts';

type StoreProgress = Parameters<typeof hasLost>[0];

const now = micros(1_780_000_000_000_123);
const earlier = micros(now - hour);
const progress: StoreProgress = {
  ...{ generationId: 'a', token: 7, revision: 3 },
  ...{ end: now, observedThrough: now, heartbeat: now },
};

describe('a store', () => {
  it.each<[string, Partial<StoreProgress>]>([
    ['its last row is older than its record states', { end: earlier }],
    ['its last page is older than its record states', { observedThrough: earlier }],
    ['it has no page, but its record states a page', { observedThrough: null }],
    ['its heartbeat is older than its record states', { heartbeat: earlier }],
    ['its writer token is lower than its record states', { token: 6 }],
    ['its revision is lower than its record states', { revision: 2 }],
  ])('has lost data if %s', (_, lacking) => {
    expect(hasLost({ ...progress, ...lacking }, progress)).toBe(true);
  });

  it.each<[string, Partial<StoreProgress>]>([
    ['agrees with its record', {}],
    ['has progressed beyond its record', { end: micros(now + 1), token: 8, revision: 4 }],
    ['does not count its writers', { token: null }],
    ['is not the recorded store', { generationId: 'b', end: earlier }],
  ])('has lost no data if it %s', (_, found) => {
    expect(hasLost({ ...progress, ...found }, progress)).toBe(false);
  });

  it('has lost no data if there is no record, or if the record contains no token, page or heartbeat', () => {
    expect(hasLost(progress, null)).toBe(false);
    expect(hasLost(progress, { ...progress, token: null, observedThrough: null, heartbeat: null })).toBe(false);
  });
});

describe('the record of a store', () => {
  const directory = (): string => {
    const made = folderInTest();
    return made;
  };
  /** Returns a recorder of a store whose progress the test sets. */
  const recorderIn = (artifacts: string, of: { at: StoreProgress }) =>
    new StoreRecorder(artifacts, {
      frontier: () => Promise.resolve({ ...of.at, floor: earlier }),
      heartbeat: () => Promise.resolve(of.at.heartbeat),
      ...(of.at.token !== null && { tokens: { own: of.at.token, former: 0 } }),
    });

  it('is read back with the written values', async () => {
    const artifacts = directory();
    await recorderIn(artifacts, { at: progress }).update();
    expect(await readStoreRecord(artifacts)).toEqual(progress);
    const empty = { ...progress, token: null, observedThrough: null, heartbeat: null };
    await recorderIn(artifacts, { at: empty }).begin();
    expect(await readStoreRecord(artifacts)).toEqual(empty);
  });

  it('is updated with the store, but stays unchanged once the store has lost data, until the record is replaced', async () => {
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
    await recorder.begin();
    expect(await readStoreRecord(artifacts)).toEqual(lost);
  });

  it.each(['', '{', '[]', '{"generation_id":"a","token":1}', '{"generation_id":"a","token":"1","revision":1}'])(
    'counts as missing if its content is %j',
    async (text) => {
      const artifacts = directory();
      writeFileSync(join(artifacts, 'labels-store.json'), text);
      expect(await readStoreRecord(artifacts)).toBe(null);
    },
  );

  it('counts as missing if it is larger than the maximum size', async () => {
    const artifacts = directory();
    await recorderIn(artifacts, { at: progress }).update();
    const path = join(artifacts, 'labels-store.json');
    writeFileSync(path, readFileSync(path, 'utf8') + ' '.repeat(5_000));
    expect(await readStoreRecord(artifacts)).toBe(null);
  });
});

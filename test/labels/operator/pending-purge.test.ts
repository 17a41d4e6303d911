import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { noon } from '../../../harness/conformance/labels.ts';
import { batch, useSqliteFolder } from '../../../harness/store/sqlite-folder.ts';
import { formatTimestamp, parseTimestamp } from '../../../src/contract/timestamp.ts';
import { changeDenyFile, readDenyFile } from '../../../src/labels/operator/deny-file.ts';
import { operatorActions } from '../../../src/main/labels/labels-operator.ts';
import type { labelsSettings } from '../../../src/main/labels/labels-settings.ts';
import type { Values } from '../../../src/ops/setting.ts';
import { day, hour, micros } from '../../../src/store/time.ts';

/**
 * Tests when `allow` accepts a labeler whose rows are being purged, and what `purge` reports. No instrument is running.
 */

const place = useSqliteFolder();
const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';

type Action = 'deny' | 'purge' | 'allow';

/** Runs an action, for the labeler by default, and returns the printed lines. */
async function run(action: Action, operands = [did]): Promise<string[]> {
  const lines: string[] = [];
  const values = { store: `sqlite:${place.path}`, state: '', reason: null as string | null } as Values<
    typeof labelsSettings
  >;
  expect(await operatorActions[action](values, (line) => lines.push(line), operands)).toBe(0);
  return lines;
}

/** Returns the time of the requested purge of each entry in the list. */
async function requested(): Promise<(string | null)[]> {
  const reading = await readDenyFile(place.path);
  return reading.kind === 'list' ? reading.list.entries.map(({ purge }) => purge) : [];
}

/** Sets the time of the requested purge in the list. */
async function setRequested(purge: string | null): Promise<void> {
  await changeDenyFile(place.path, (list) => {
    const [entry] = list.entries;
    if (!entry) throw new Error('the labeler is not denied');
    return list.with({ ...entry, purge });
  });
}

/** Passes a request to the store, as the instrument does. */
async function request(purge: string | null | undefined): Promise<void> {
  const store = place.open();
  const at = parseTimestamp(purge) ?? micros(0);
  expect(await store.requestPurge({ source: did, at })).toBe(true);
  await place.close();
}

/** Completes the requests in the store, as the instrument does. */
async function complete(): Promise<void> {
  const store = place.open();
  while (await store.purge(micros(Date.now() * 1000)));
  await place.close();
}

beforeEach(async () => {
  await place.open().append(batch([1, 2, 3]));
  await place.close();
});

test('a labeler is not allowed before its purge has begun, and is allowed after its completion', async () => {
  await run('deny');
  await run('purge');
  const [purge] = await requested();
  await expect(run('allow')).rejects.toThrow(
    `the removal of the rows of ${did} (requested ${purge}) has not begun; ` +
      'allow this labeler after almanac labels purge reports completion',
  );
  expect(await requested()).toEqual([purge]);
  await request(purge);
  await expect(run('allow')).rejects.toThrow(
    `rows of ${did} are still being removed (stored days to process: 1); ` +
      'allow this labeler after almanac labels purge reports completion',
  );
  await complete();
  expect(await run('allow')).toEqual([`${did} is allowed`]);
  expect(await requested()).toEqual([]);
});

test('a labeler is not allowed before a second purge has begun', async () => {
  await run('deny');
  await run('purge');
  await request((await requested())[0]);
  await complete();
  await run('purge');
  await expect(run('allow')).rejects.toThrow('has not begun');
});

test('a labeler whose entry lost the request is not allowed while the store removes its rows', async () => {
  await run('deny');
  await run('purge');
  await request((await requested())[0]);
  await setRequested(null);
  await expect(run('allow')).rejects.toThrow('still being removed');
});

test('a request from before the retained time, which the store never begins, does not prevent an allowance', async () => {
  await run('deny');
  await setRequested(formatTimestamp(0));
  expect(await run('allow')).toEqual([`${did} is allowed`]);
});

test('a completed purge whose record has expired is not reported as waiting, and can be requested again', async () => {
  await run('deny');
  const first = formatTimestamp(noon / 1000 + 3_600_000);
  await setRequested(first);
  await request(first);
  const store = place.open();
  while (await store.purge(micros(noon + 2 * hour)));
  for (const days of [1, 40]) await store.append({ ...batch([days * 100]), at: micros(noon + days * day) });
  while ((await store.maintain(micros(noon + 40 * day))).expired.length > 0);
  expect(await store.purges()).toEqual([]);
  await place.close();
  expect(await run('purge', [])).toEqual([
    `${did} requested ${first}: completed or expired; the store contains no rows from before the request`,
  ]);
  const lines = await run('purge');
  const [second] = await requested();
  expect(lines[0]).toBe(`${did} requested ${second}: waiting for a running instrument`);
  await request(second);
});

test('a labeler that is denied before the first start can be allowed without a store', async () => {
  await rm(join(place.path, 'state.sqlite'));
  await run('deny');
  expect(await run('allow')).toEqual([`${did} is allowed`]);
});

import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { labelers, labelNumber, noon, observationOf, subjects } from '../../harness/conformance/labels.ts';
import { sealedToday, today, useSqliteFolder } from '../../harness/store/sqlite-folder.ts';
import type { StoreReader } from '../../src/store/port.ts';
import { openSqliteReader } from '../../src/store/sqlite/read/reader.ts';
import { day, dayStart, hour, micros } from '../../src/store/time.ts';

const place = useSqliteFolder();
const accounts = [...subjects, ...Array.from({ length: 9 }, (_, n) => `did:web:account-${n}.example`)];
const [first, second] = [20_000, 20_001].map(dayStart);
const interval = { start: first ?? noon, end: second ?? noon };

/**
 * Creates a sealed day of 2,400 rows: two hot accounts, and many accounts with a few rows, with several hundred values.
 */
async function sealDay(): Promise<void> {
  const writer = place.open({ at: micros(noon - day) });
  for (let n = 0; n < 24; n++) {
    const observations = Array.from({ length: 100 }, (_, i) => {
      const number = n * 100 + i;
      const account = accounts[number % 3 === 0 ? 0 : number % 7 === 0 ? 1 : number % accounts.length] ?? '';
      const uri =
        [account, `at://${account}/app.bsky.feed.post/${number}`, `at://${account}/a.b.c/d`][number % 3] ?? '';
      return observationOf(labelNumber(number, { uri, val: `value-${number % 300}` }));
    });
    const refusals = [{ source: labelers[0] ?? '', reason: 'late', count: n + 1 }] as const;
    await writer.append({ at: micros(noon - 6 * hour + n * 1_234_567_890), observations, refusals, positions: [] });
  }
  const later = micros(noon + 4 * day);
  await writer.append({ at: later, observations: [observationOf(labelNumber(9_999))], refusals: [], positions: [] });
  expect((await writer.maintain(later)).sealed).toEqual(['2024-10-04']);
  await place.close();
}

type Question = readonly [name: string, ask: (store: StoreReader) => Promise<unknown>];

/** Queries of every kind that read a sealed day. */
const questions: readonly Question[] = [
  ...accounts.flatMap((account): Question[] => {
    const page = { account, ...interval, after: null, limit: 500 };
    return [
      [`oldest ${account}`, (store) => store.readAccount({ ...page, order: 'oldest' })],
      [`newest ${account}`, (store) => store.readAccount({ ...page, order: 'newest', limit: 7 })],
      [`tally ${account}`, (store) => store.tallyAccount({ account, ...interval, budget: 10_000 })],
    ];
  }),
  ...accounts.slice(0, 2).flatMap((account): Question[] => {
    const part = { account, start: micros(noon - 3 * hour), end: micros(noon + hour) };
    const page = { ...part, after: null, limit: 200, order: 'oldest' } as const;
    return [
      [`part of ${account}`, (store) => store.tallyAccount({ ...part, budget: 10_000 })],
      [`labeler of ${account}`, (store) => store.readAccount({ ...page, filter: { labeler: labelers[1] ?? '' } })],
      [`value of ${account}`, (store) => store.readAccount({ ...page, filter: { value: 'value-42' }, passes: 300 })],
      [`posts of ${account}`, (store) => store.readAccount({ ...page, order: 'newest', filter: { target: 'post' } })],
      [
        `intervals of ${account}`,
        (store) => store.accountIntervals({ account, ...interval, maxRows: 100, budget: 1e5 }),
      ],
    ];
  }),
  ['counts', (store) => store.countsByLabeler(interval)],
  [
    'counts of a part',
    (store) => store.countsByLabeler({ start: micros(noon - hour + 17), end: micros(noon + 12_345_678) }),
  ],
  ['hours', (store) => store.countsOverTime({ ...interval, bucket: 'hour' })],
  [
    'minutes',
    (store) => store.countsOverTime({ start: micros(noon - hour), end: micros(noon + hour), bucket: 'minute' }),
  ],
  ['refusals', (store) => store.refusals(interval)],
  ['counters of labelers', (store) => store.labelerCounters(interval)],
];

async function answers(): Promise<Map<string, unknown>> {
  const store = openSqliteReader(place.path);
  const found = new Map<string, unknown>();
  try {
    // Run each query twice, because the second run reads data that the first run has already verified.
    for (const turn of ['first', 'second']) {
      for (const [name, ask] of questions) {
        found.set(`${turn} ${name}`, await ask(store).catch((error: unknown) => error));
      }
    }
  } finally {
    await store.close();
  }
  return found;
}

it('a sealed day with one or 64 bytes altered at a random position gives the same results as before, fails to open as damaged, or fails queries with errors that name the day', async () => {
  await sealDay();
  const path = place.dayPath(sealedToday);
  chmodSync(path, 0o644);
  const sound = readFileSync(path);
  const expected = await answers();
  expect([...expected].filter(([, answer]) => answer instanceof Error)).toEqual([]);
  let refused = 0;
  const alteration = fc.record({
    at: fc.nat({ max: sound.length - 64 }),
    bytes: fc.oneof(
      fc.uint8Array({ minLength: 64, maxLength: 64 }),
      // This generator alters a single byte, such as one in a cell pointer or a length.
      fc.uint8Array({ minLength: 1, maxLength: 1 }),
    ),
  });
  await fc.assert(
    fc.asyncProperty(alteration, async ({ at, bytes }) => {
      const changed = Buffer.from(sound);
      changed.set(bytes, at);
      writeFileSync(path, changed);
      const given = await answers().catch((error: unknown) => error);
      if (given instanceof Error) {
        expect(given).toMatchObject({ name: 'StoreError', code: 'damaged' });
        return;
      }
      for (const [name, answer] of given as Map<string, unknown>) {
        if (answer instanceof Error) {
          refused += 1;
          expect(answer).toMatchObject({ name: 'StoreError', message: expect.stringContaining('2024-10-04') });
          expect(answer, answer.message).toMatchObject({ code: expect.stringMatching(/^(damaged|schema_newer)$/) });
        } else if (!isDeepStrictEqual(answer, expected.get(name))) {
          // `expect` describes the difference. It needs ten times as long to find that there is none.
          expect(answer, name).toEqual(expected.get(name));
        }
      }
    }),
    { numRuns: Number(process.env.ALMANAC_TEST_ALTERATIONS ?? 100) },
  );
  expect(refused).toBeGreaterThan(0);
}, 300_000);

it('a sealed day whose schema names another column is reported as damaged', async () => {
  await sealDay();
  const path = place.dayPath(sealedToday);
  chmodSync(path, 0o644);
  const altered = readFileSync(path);
  const name = altered.indexOf('collection');
  expect(name).toBeGreaterThan(0);
  altered.write('Z', name);
  writeFileSync(path, altered);
  const failed = [...(await answers()).values()].filter((answer) => answer instanceof Error);
  expect(failed.length).toBeGreaterThan(0);
  for (const error of failed) {
    expect(error).toMatchObject({ code: 'damaged', message: expect.stringContaining('2024-10-04') });
  }
});

it.each([18, 19])('a sealed day whose header names a write-ahead log (byte %i) is reported as damaged', async (at) => {
  await sealDay();
  const path = place.dayPath(sealedToday);
  chmodSync(path, 0o644);
  const altered = readFileSync(path);
  altered[at] = 2;
  writeFileSync(path, altered);
  const failed = [...(await answers()).values()].filter((answer) => answer instanceof Error);
  expect(failed.length).toBeGreaterThan(0);
  for (const error of failed) expect(error).toMatchObject({ code: 'damaged' });
});

it('an open day that cannot be sealed leaves no incomplete sealed file', async () => {
  const first = [observationOf(labelNumber(1))];
  const second = [observationOf(labelNumber(2))];
  const later = micros(noon + 4 * day);
  const writer = place.open({ at: micros(noon - day) });
  await writer.append({ at: micros(noon - hour), observations: first, refusals: [], positions: [] });
  await writer.append({ at: later, observations: second, refusals: [], positions: [] });
  await place.close();
  place.change(today, 'DROP TABLE refusal');
  await expect(place.open({ at: later }).maintain(later)).rejects.toMatchObject({ name: 'StoreError' });
  expect((await place.dayNames()).filter((name) => name.includes('sealed'))).toEqual([]);
});

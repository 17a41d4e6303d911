import { describe, expect, test } from 'vitest';
import { newSource, resumeAt, scriptedPorts } from '../../../harness/labels/label-reader.ts';
import type { Slots } from '../../network/guard/slots.ts';
import type { GetJsonOptions, HttpClient, JsonAnswer } from '../../network/http/http.ts';
import { micros } from '../../store/time.ts';
import { createIntake } from '../ingest/intake.ts';
import { createInputMemory } from '../ingest/ports.ts';
import { fingerprint } from '../label/label-fields.ts';
import { type MarkedRow, noPosition } from '../state/reading-events.ts';
import { Source } from '../state/source.ts';
import { markOf, pageLimit } from './pages.ts';
import { pollRound } from './poll-round.ts';

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
const signal = new AbortController().signal;
const now = Date.now();

/** Creates the n-th row, by default authored one second after the previous row. */
function row(n: number, ageMs = (1_000 - n) * 1_000): unknown {
  return {
    ...{ src: did, uri: 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb', val: `v${n}` },
    cts: new Date(now - ageMs).toISOString(),
  };
}

const rows = (from: number, count: number): unknown[] => Array.from({ length: count }, (_, i) => row(from + i));
const page = (labels: readonly unknown[], cursor?: string): JsonAnswer => ({
  ...{ kind: 'json', status: 200, date: null },
  value: { labels, ...(cursor === undefined ? {} : { cursor }) },
});

/** Creates a source at cursor 100 with scripted pages, and a function that runs one round of polls. */
function reading(
  answer: (cursor: number, limit: number, asked: number) => JsonAnswer,
  former: MarkedRow | null = null,
) {
  const memory = createInputMemory();
  let asked = 0;
  const http: Pick<HttpClient, 'getJson'> = {
    getJson: (url, { admit }) => {
      const { searchParams } = new URL(url);
      asked += 1;
      if (asked > 100) throw new Error('too many requests');
      const given = answer(Number(searchParams.get('cursor')), Number(searchParams.get('limit')), asked);
      return given.kind !== 'json' || admit === undefined
        ? Promise.resolve(given)
        : admit(1_000, 100).then((outcome) => (outcome === 'taken' ? given : { kind: outcome }));
    },
  };
  const { ports, stored, quirks, gaps } = scriptedPorts({
    http: http as HttpClient,
    openStream: () => Promise.reject(new Error('this request was not expected')),
    memory,
  });
  const name = { did, endpoint: 'https://labeler.example', peer: { source: did, privileged: false } };
  const source = new Source(name, newSource(did, name.endpoint, ports).tracker, noPosition, former);
  resumeAt(source, { ...noPosition, cursor: 100 });
  const before = { since: ports.time.epoch, target: ports.time.epoch };
  const intake = createIntake(source, ports, () => undefined);
  const round = () => pollRound(source, intake, ports, { before, signal });
  return { source, stored, quirks, gaps, memory, round, clock: ports.time.clock };
}

test('ordered pages move the position to the cursor of the last page', async () => {
  const answers = new Map([
    [100, page(rows(0, pageLimit), '350')],
    [350, page(rows(300, 2), '352')],
    // The last row is requested again after a short page.
    [351, page(rows(301, 1), '352')],
  ]);
  const { source, stored, round } = reading((cursor) => answers.get(cursor) ?? page([]));
  expect(await round()).toMatchObject({ kind: 'quiet', rows: pageLimit + 2 });
  expect([source.position.cursor, stored.size]).toEqual([352, pageLimit + 2]);
});

test.each([
  ['the requested cursor', '100'],
  ['a lower cursor', '99'],
  ['cursor zero', '0'],
  ['a cursor that is not a number', 'next'],
  ['no cursor', undefined],
])('the position is not moved by a page with %s, whose rows are stored and requested again', async (_, cursor) => {
  const { source, stored, round } = reading(() => page(rows(0, 3), cursor));
  expect(await round()).toMatchObject({ kind: 'quiet', rows: 3 });
  expect([source.position.cursor, stored.size]).toEqual([100, 3]);
  // Stored rows are detected as duplicates when they arrive again.
  expect(await round()).toMatchObject({ kind: 'quiet', rows: 0 });
  expect(source.position.cursor).toBe(100);
});

test('a source is read up to the time at which its last page was requested, however long the page takes', async () => {
  const asked: number[] = [];
  const { round, clock } = reading((cursor) => {
    asked.push(clock());
    // The pages take so long that the clock advances meanwhile.
    for (const until = clock() + 2_000; clock() < until; );
    return cursor === 100 ? page(rows(0, pageLimit), '350') : page([]);
  });
  const outcome = await round();
  if (outcome.kind !== 'quiet') throw new Error(`the round ended with ${outcome.kind}`);
  expect([asked.length, outcome.rows]).toEqual([2, pageLimit]);
  expect(outcome.through).toBeLessThanOrEqual(asked.at(-1) ?? 0);
  expect(outcome.through).toBeGreaterThan((asked[0] ?? 0) + 2_000);
});

test('a full page whose cursor does not advance makes the order of the source unverified', async () => {
  const { source, round } = reading(() => page(rows(0, pageLimit), '100'));
  expect(await round()).toMatchObject({ kind: 'fault', fault: 'order_unverified' });
  expect(source.position.cursor).toBe(100);
});

test.each([
  ['short', 20, { kind: 'quiet', rows: 20 }],
  ['full', pageLimit, { kind: 'fault', fault: 'order_unverified' }],
])(
  'the position is not moved by a %s unordered page, even if the cursor of the page advances',
  async (_, count, outcome) => {
    const shuffled = Array.from({ length: count }, (_, i) => row(i, i % 2 === 0 ? 0 : 3_600_000));
    const { source, stored, quirks, round } = reading(() => page(shuffled, '900'));
    expect(await round()).toMatchObject(outcome);
    expect([source.position.cursor, stored.size, quirks]).toEqual([100, count, ['unordered_page']]);
  },
);

test('a cursor that advanced during a request is not moved back by the page of that request', async () => {
  const { source, round } = reading((cursor) => {
    if (cursor === 100) resumeAt(source, { ...source.position, cursor: 900 });
    return cursor === 100 ? page(rows(0, 3), '103') : page(rows(2, 1), '103');
  });
  expect(await round()).toMatchObject({ kind: 'quiet', rows: 3 });
  expect(source.position.cursor).toBe(900);
});

describe('a round of polls that requests the last row again', () => {
  /**
   * Creates a source with a mark of its last row; `shown` is the page that should begin with that row. `looked` is the
   * response to a look-up of the row.
   */
  function remembering(shown: JsonAnswer, looked = shown) {
    const found = reading((cursor, limit) =>
      cursor === 99 ? (limit === 1 ? looked : shown) : page(rows(2, 1), '103'),
    );
    resumeAt(found.source, { ...noPosition, cursor: 100, cursorTail: fingerprint(row(900)) });
    return found;
  }

  test('stores later rows if the last row is present', async () => {
    const { source, gaps, round } = remembering(page([row(900), ...rows(0, 3)], '103'));
    expect(await round()).toMatchObject({ kind: 'quiet', rows: 3 });
    expect([source.position.cursor, gaps]).toEqual([103, []]);
  });

  test('stores no rows if the look-up of the last row fails', async () => {
    const unavailable = { kind: 'status', status: 503, retryAfterMs: null, error: null } as const;
    const { source, stored, gaps, round } = remembering(page(rows(0, 3), '103'), unavailable);
    expect(await round()).toMatchObject({ kind: 'fault', fault: 'failed' });
    expect([source.position.cursor, stored.size, gaps]).toEqual([100, 0, []]);
  });

  test('records a gap and resets the position if a different row has the number of the last row', async () => {
    const { source, stored, gaps, round } = remembering(page([row(901)], '100'));
    expect(await round()).toEqual({ kind: 'reset' });
    expect([source.position, stored.size]).toEqual([noPosition, 0]);
    expect(gaps).toMatchObject([{ source: did, reason: 'cursor_reset' }]);
  });
});

describe('a round of polls of pages without a cursor', () => {
  const later = { uri: 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb', val: 'v3', src: did, neg: true };
  const replaced = { ...later, cts: new Date(now).toISOString() };
  test.each<[string, unknown[], boolean]>([
    ['all rows of the last page', rows(1, 4), false],
    ['the newest row of the last page in another order', [row(3), row(9), row(2)], false],
    ['a later row in place of the newest one', [row(1), row(2), replaced], false],
    ['the earlier rows of a copy', rows(1, 2), true],
    ['the rows of another database', [row(901)], true],
    ['no row', [], true],
  ])('records a gap since the last round if the newest row is gone: the page has %s', async (_, shown, isLost) => {
    let answer = rows(1, 3);
    const { source, gaps, round } = reading(() => page(answer));
    expect(await round()).toMatchObject({ kind: 'quiet', rows: 3 });
    source.apply({ kind: 'completed', through: micros(now * 1_000 - 7) });
    answer = shown;
    expect(await round()).toMatchObject({ kind: 'quiet' });
    expect(await round()).toMatchObject({ kind: 'quiet', rows: 0 });
    const gap = { source: did, reason: 'cursor_reset', start: now * 1_000 - 7 };
    expect(gaps).toMatchObject(isLost ? [gap] : []);
  });
});

describe('the first round of polls after a move to another endpoint', () => {
  const former = { number: 50, mark: markOf(row(7)) };
  const moved = (shown: JsonAnswer) =>
    reading((cursor) => (cursor === 49 ? shown : page(cursor === 100 ? rows(0, 3) : rows(2, 1), '103')), former);

  test('records no gap if the endpoint has the last row of the former one', async () => {
    const { gaps, round } = moved(page([row(7), row(8)], '51'));
    expect(await round()).toMatchObject({ kind: 'quiet', rows: 3 });
    expect(gaps).toEqual([]);
  });

  test('records a gap if the endpoint does not have the last row of the former one, and looks for it only once', async () => {
    const { source, gaps, round } = moved(page([]));
    expect(await round()).toEqual({ kind: 'reset' });
    expect(gaps).toMatchObject([{ source: did, reason: 'cursor_reset' }]);
    resumeAt(source, { ...noPosition, cursor: 100 });
    expect(await round()).toMatchObject({ kind: 'quiet', rows: 3 });
    expect(gaps).toHaveLength(1);
  });

  test('stores nothing while the endpoint does not respond', async () => {
    const { source, stored, gaps, round } = moved({ kind: 'status', status: 503, retryAfterMs: null, error: null });
    expect(await round()).toMatchObject({ kind: 'fault', fault: 'failed' });
    expect([stored.size, gaps, source.progress.former]).toEqual([0, [], former]);
  });
});

test('the slot of a large page is released after a request that ends with a timeout, an abort or a page', async () => {
  for (const last of [{ kind: 'timeout', phase: 'answer' }, { kind: 'aborted' }, page([])] as const) {
    const { memory, round } = reading((_, limit) => (limit > 1 ? { kind: 'too_large' } : last));
    const turns: Slots = memory.largePages;
    let [held, taken] = [0, 0];
    const largePages: Slots = {
      acquire: async (...asked) => {
        const turn = await turns.acquire(...asked);
        if (typeof turn === 'string') return turn;
        held += 1;
        taken += 1;
        return (answered) => {
          held -= 1;
          turn(answered);
        };
      },
    };
    Object.assign(memory, { largePages });
    await round();
    expect([held, taken]).toEqual([0, 1]);
  }
});

test('a source is charged for the bytes of a response that is not a page, and is then throttled', async () => {
  const { ports } = scriptedPorts({
    http: {
      getJson: (_: string | URL, { charge }: GetJsonOptions) => {
        charge?.({ bytes: 1_000_000_000, cpuMs: 3 });
        return Promise.resolve({ kind: 'not_json' as const });
      },
    } as HttpClient,
    openStream: () => Promise.reject(new Error('this request was not expected')),
  });
  const source = newSource(did, 'https://labeler.example', ports);
  const intake = createIntake(source, ports, () => undefined);
  const before = { since: ports.time.epoch, target: ports.time.epoch };
  expect(ports.pace.isThrottled(did)).toBe(false);
  await pollRound(source, intake, ports, { before, signal });
  expect(ports.pace.isThrottled(did)).toBe(true);
});

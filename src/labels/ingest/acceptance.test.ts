import { expect, test } from 'vitest';
import { newSource, emptyPage as page, scriptedPorts } from '../../../harness/labels/label-reader.ts';
import { silentLog } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import { type Batch, maxBatchRows, type StoredGap } from '../../store/port.ts';
import { day, hour, type Interval, micros, minute, second } from '../../store/time.ts';
import { Preconditions } from '../assembly/preconditions.ts';
import { wait } from '../clock/clock.ts';
import { RepeatMemory, readRepeats, repeatsName } from '../repeats/repeats.ts';
import { noTelemetry } from '../shares/telemetry.ts';
import { FilledInReader } from '../state/filled-in.ts';
import { acceptanceLimits, ClockChanged, PageAcceptance } from './acceptance.ts';
import { createIntake } from './intake.ts';
import type { AcceptanceOptions, AcceptedPage } from './ports.ts';

const disk = { folder: '', minFreeBytes: 0, maxDailyBytes: 1, isDerived: true, windowDays: 30 };

function pausedAcceptance(change: Partial<AcceptanceOptions> = {}): PageAcceptance {
  return new PageAcceptance({
    store: { append: () => Promise.reject(new Error('not reached')), recordGap: () => Promise.resolve() },
    shareOf: (source) => ({ priority: 'new', domain: source, source }),
    flushGaps: () => Promise.resolve(),
    charge: () => undefined,
    clock: () => micros(1),
    checkPreconditions: () => ({ pause: 'disk_low', gap: null, since: null }),
    clockGeneration: () => 0,
    isDenied: () => false,
    isPurged: () => false,
    wait,
    retryMs: 60_000,
    log: silentLog,
    telemetry: noTelemetry,
    fatal: (error) => {
      throw error;
    },
    ...change,
  });
}

test('a page is rejected with ClockChanged if the clock was set after the labels of the page were checked', async () => {
  let appended = 0;
  const acceptance = pausedAcceptance({
    checkPreconditions: () => ({ pause: null, gap: null, since: null }),
    clockGeneration: () => 1,
    store: {
      append: ({ observations }) => {
        appended += 1;
        return Promise.resolve({ accepted: observations.length, duplicates: [], first: null, last: null });
      },
      recordGap: () => Promise.resolve(),
    },
  });
  const ends = new AbortController();
  const running = acceptance.run(ends.signal);
  await expect(acceptance.accept({ ...page, clockGeneration: 0 })).rejects.toThrow(ClockChanged);
  expect(appended).toBe(0);
  expect(await acceptance.accept({ ...page, clockGeneration: 1 })).toBe(0);
  expect(appended).toBe(1);
  ends.abort();
  await running;
});

test('a page that waits while acceptance is paused is not stored once its labeler is denied', async () => {
  const appended: string[] = [];
  let [pause, denied]: ['disk_low' | null, boolean] = ['disk_low', false];
  let resume = (): void => undefined;
  const acceptance = pausedAcceptance({
    checkPreconditions: () => ({ pause, gap: null, since: null }),
    isDenied: (source) => denied && source === page.source,
    wait: () =>
      new Promise((resolve) => {
        resume = resolve;
      }),
    store: {
      append: ({ positions }) => {
        appended.push(...positions.map(({ source }) => source));
        return Promise.resolve({ accepted: 0, duplicates: [], first: null, last: null });
      },
      recordGap: () => Promise.resolve(),
    },
  });
  const ends = new AbortController();
  const running = acceptance.run(ends.signal);
  const pageOf = (source: string): AcceptedPage => ({
    ...page,
    source,
    positions: [{ source, endpoint: '', value: '1' }],
  });
  const results = Promise.allSettled(
    [page.source, 'did:web:other.example'].map((did) => acceptance.accept(pageOf(did))),
  );
  while (acceptance.paused === null) await new Promise(setImmediate);
  [pause, denied] = [null, true];
  resume();
  expect(await results).toEqual([
    { status: 'rejected', reason: new Error('the source is denied') },
    { status: 'fulfilled', value: 0 },
  ]);
  expect(appended).toEqual(['did:web:other.example']);
  ends.abort();
  await running;
});

test('a page that arrives after a pause is not stored if the rows of its labeler were removed during the pause', async () => {
  let appended = 0;
  const acceptance = pausedAcceptance({
    checkPreconditions: () => ({ pause: null, gap: null, since: null }),
    isDenied: () => true,
    isPurged: (source) => source === page.source,
    store: {
      append: () => {
        appended += 1;
        return Promise.resolve({ accepted: 0, duplicates: [], first: null, last: null });
      },
      recordGap: () => Promise.resolve(),
    },
  });
  const ends = new AbortController();
  const running = acceptance.run(ends.signal);
  await expect(acceptance.accept(page)).rejects.toThrow('the source is denied');
  // Without a purge, the page of a denied labeler that its reader has already judged is stored.
  expect(await acceptance.accept({ ...page, source: 'did:web:other.example' })).toBe(0);
  expect(appended).toBe(1);
  ends.abort();
  await running;
});

test('a page that a full disk rejected is not stored if its labeler is denied while the gaps before it are written', async () => {
  let [flushed, appended] = [0, 0];
  const acceptance = pausedAcceptance({
    checkPreconditions: () => ({ pause: null, gap: null, since: null }),
    isDenied: () => flushed > 1,
    flushGaps: async () => {
      flushed += 1;
    },
    wait: () => Promise.resolve(),
    store: {
      append: () => {
        appended += 1;
        return Promise.reject(new StoreError('disk_full', 'the disk is full'));
      },
      recordGap: () => Promise.resolve(),
    },
  });
  const ends = new AbortController();
  const running = acceptance.run(ends.signal);
  await expect(acceptance.accept(page)).rejects.toThrow('the source is denied');
  expect(appended).toBe(1);
  ends.abort();
  await running;
});

test('repeats and a catch-up belong to the time at which their rows are stored, however long acceptance was paused', async () => {
  const start = micros(Date.parse('2026-11-10T23:50:00Z') * 1000);
  const [did, epoch] = ['did:plc:aaaaaaaaaaaaaaaaaaaaaaaa', micros(start - hour)];
  const batches: Batch[] = [];
  let now = start;
  const acceptance = pausedAcceptance({
    clock: () => now,
    checkPreconditions: () => ({ pause: null, gap: null, since: null }),
    wait: async () => {
      now = micros(start + 140 * minute);
    },
    store: {
      append: async (batch) => {
        if (now === start) throw new StoreError('busy', 'the store is busy');
        batches.push(batch);
        return { accepted: batch.observations.length, duplicates: [], first: batch.at, last: batch.at };
      },
      recordGap: () => Promise.resolve(),
    },
  });
  const unasked = { http: {} as never, openStream: () => Promise.reject(new Error('not reached')) };
  const { ports } = scriptedPorts({ ...unasked, accept: (page) => acceptance.accept(page) });
  const repeats = new RepeatMemory(
    { count: async () => 120 },
    () => now,
    () => false,
  );
  Object.assign(ports.acceptance, { repeats });
  Object.assign(ports.time, { clock: () => now, epoch });
  const intake = createIntake(newSource(did, 'https://labeler.example', ports), ports, () => undefined);
  const ends = new AbortController();
  const running = acceptance.run(ends.signal);
  const take = async (cursor: number) => {
    const row = { src: did, uri: 'did:plc:b', val: 'a', cts: new Date(start / 1000).toISOString() };
    await intake.take({ rows: [row], transport: 'poll', move: { kind: 'page', cursor, tail: 'p' } }, ends.signal);
    const positions = (batches.at(-1)?.positions ?? []).map((one) => ({ ...one, value: one.value ?? '' }));
    const marked = positions.find(({ endpoint }) => endpoint === repeatsName)?.value ?? '';
    const dated = positions.map((one) => ({ ...one, acceptedAt: now }));
    return { repeats: readRepeats(marked), late: (await new FilledInReader().read(dated)).get(did) };
  };
  const stored = (start + 140 * minute) / minute;
  expect(await take(1)).toEqual({
    repeats: [{ minute: stored, count: 120 }],
    late: [{ start: epoch / minute, end: stored + 2 }],
  });
  expect(batches.map(({ at }) => at)).toEqual([now]);
  expect(await take(2)).toMatchObject({ repeats: [{ minute: stored, count: 240 }] });
  ends.abort();
  await running;
});

/** Returns the groups that are committed after `close` if `pages` pages are queued, and the results of the pages. */
async function closed(pages: number, change: Partial<AcceptanceOptions> = {}) {
  const groups: number[] = [];
  const acceptance = pausedAcceptance({
    checkPreconditions: () => ({ pause: null, gap: null, since: null }),
    store: {
      append: ({ positions }) => {
        groups.push(positions.length);
        return Promise.resolve({ accepted: 0, duplicates: [], first: null, last: null });
      },
      recordGap: () => Promise.resolve(),
    },
    ...change,
  });
  // Each page fills a group, because a group has at most `maxBatchRows` positions.
  const positions = Array.from({ length: maxBatchRows }, () => ({ source: page.source, endpoint: '', value: null }));
  const results = Array.from({ length: pages }, () =>
    acceptance.accept({ ...page, positions }).catch((error: unknown) => String(error)),
  );
  acceptance.close();
  const late = await acceptance.accept(page).catch((error: unknown) => String(error));
  await acceptance.run(new AbortController().signal);
  return { groups: groups.length, results: await Promise.all(results), late };
}

test('a stop commits a bounded number of groups of the queued pages, and no page that arrives later', async () => {
  const stopped = 'Error: stopped';
  const committed = Array.from({ length: acceptanceLimits.maxFinalGroups }, () => 0);
  expect(await closed(acceptanceLimits.maxFinalGroups + 40)).toEqual({
    groups: acceptanceLimits.maxFinalGroups,
    results: [...committed, ...Array.from({ length: 40 }, () => stopped)],
    late: stopped,
  });
  expect(await closed(1)).toEqual({ groups: 1, results: [0], late: stopped });
  expect(await closed(0)).toEqual({ groups: 0, results: [], late: stopped });
});

test('a stop does not wait for pages that a pause delays', async () => {
  // The wait of a pause never ends.
  const never = new Promise<never>(() => undefined);
  const pause = () => ({ pause: 'disk_low', gap: null, since: null }) as const;
  expect(await closed(3, { checkPreconditions: pause, wait: () => never })).toMatchObject({
    groups: 0,
    results: Array.from({ length: 3 }, () => 'Error: stopped'),
  });
});

/** Runs an acceptance whose store answers only on request. Returns the first endpoint of each appended batch. */
function answering() {
  const appended: string[] = [];
  const answers: ((error?: StoreError) => void)[] = [];
  const ends = new AbortController();
  const acceptance = pausedAcceptance({
    checkPreconditions: () => ({ pause: null, gap: null, since: null }),
    wait: () => Promise.resolve(),
    store: {
      append: ({ positions }) => {
        appended.push(positions[0]?.endpoint ?? '');
        const result = { accepted: 0, duplicates: [], first: null, last: null };
        return new Promise((resolve, reject) => answers.push((error) => (error ? reject(error) : resolve(result))));
      },
      recordGap: () => Promise.resolve(),
    },
  });
  const done: string[] = [];
  /** Queues a page whose positions have about `bytes` bytes. */
  const accept = (endpoint: string, bytes: number): void => {
    const positions = [{ source: page.source, endpoint: endpoint.padEnd(bytes / 3, '.'), value: null }];
    void acceptance.accept({ ...page, positions }).then(() => done.push(endpoint));
  };
  const turns = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await new Promise(setImmediate);
  };
  const running = acceptance.run(ends.signal);
  const stop = async (): Promise<void> => {
    ends.abort();
    for (const answer of answers) answer();
    await running;
  };
  return { accept, answers, done, turns, stop, names: () => appended.map((name) => name.replaceAll('.', '')) };
}

test('under load, the store prepares the next group while it commits one, and has at most two groups', async () => {
  const { accept, answers, done, turns, stop, names } = answering();
  // Each page fills a group.
  for (const name of ['a', 'b', 'c', 'd']) accept(name, 8 * acceptanceLimits.minBytesAhead);
  await turns();
  expect([names(), done]).toEqual([['a', 'b'], []]);
  answers[0]?.();
  await turns();
  expect([names(), done]).toEqual([['a', 'b', 'c'], ['a']]);
  // A group that the store rejects temporarily is committed again, after the group in progress.
  answers[1]?.(new StoreError('disk_full', 'the disk is full'));
  answers[2]?.();
  await turns();
  expect([names(), done]).toEqual([
    ['a', 'b', 'c', 'b', 'd'],
    ['a', 'c'],
  ]);
  answers[3]?.();
  await turns();
  expect([names(), done]).toEqual([
    ['a', 'b', 'c', 'b', 'd'],
    ['a', 'c', 'b'],
  ]);
  await stop();
});

test('without load, pages that arrive during a commit share the next one', async () => {
  const { accept, answers, turns, stop, names } = answering();
  accept('a', 30);
  await turns();
  accept('b', 30);
  await turns();
  accept('c', 30);
  await turns();
  expect(names()).toEqual(['a']);
  answers[0]?.();
  await turns();
  expect(names()).toEqual(['a', 'b']);
  await stop();
});

/** Returns the breaks after three commits of a store whose `append` runs `block`. */
async function breaksAfter(block: () => void): Promise<number[]> {
  const breaks: number[] = [];
  const acceptance = pausedAcceptance({
    checkPreconditions: () => ({ pause: null, gap: null, since: null }),
    wait: (ms) => Promise.resolve(void breaks.push(ms)),
    store: {
      append: () => {
        block();
        return Promise.resolve({ accepted: 0, duplicates: [], first: null, last: null });
      },
      recordGap: () => Promise.resolve(),
    },
  });
  const ends = new AbortController();
  const running = acceptance.run(ends.signal);
  for (let commit = 0; commit < 3; commit += 1) await acceptance.accept(page);
  ends.abort();
  await running;
  return breaks;
}

/** Blocks this thread without using the processor. */
const sleep = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

test('a commit on a slow disk is followed by a break that is as long as the commit blocked the event loop, but at most one second long', async () => {
  const breaks = await breaksAfter(() => sleep(150));
  expect(breaks).toHaveLength(3);
  expect(Math.min(...breaks)).toBeGreaterThanOrEqual(140);
  expect(await breaksAfter(() => sleep(1_200))).toEqual([1_000, 1_000, 1_000]);
});

test('the gap of a pause ends when acceptance resumes', async () => {
  let now = 1_000;
  let pauses = 3;
  const gaps: Interval[] = [];
  const acceptance = pausedAcceptance({
    clock: () => micros(now),
    checkPreconditions: () => {
      now += 100;
      pauses -= 1;
      return { pause: pauses > 0 ? 'disk_low' : null, gap: null, since: null };
    },
    wait: () => Promise.resolve(),
    store: {
      append: () => {
        now += 7;
        return Promise.resolve({ accepted: 0, duplicates: [], first: null, last: null });
      },
      recordGap: ({ start, end }) => Promise.resolve(void gaps.push({ start, end })),
    },
  });
  const ends = new AbortController();
  const running = acceptance.run(ends.signal);
  await acceptance.accept(page);
  expect(gaps.at(-1)).toEqual({ start: 1_100, end: 1_307 });
  expect(acceptance.paused).toBeNull();
  ends.abort();
  await running;
});

test('a page is stored once, even if the store temporarily rejects the gap of the preceding pause', async () => {
  let now = 1_000;
  let appends = 0;
  let isReachable = false;
  const gaps: Interval[] = [];
  const warnings: unknown[] = [];
  const lost = () => Promise.reject(new StoreError('unreachable', 'lost'));
  const acceptance = pausedAcceptance({
    clock: () => micros(now),
    log: { ...silentLog, warn: (...line) => void warnings.push(line) },
    checkPreconditions: () => ({ pause: null, gap: null, since: null }),
    wait: () => {
      now += 100;
      isReachable = appends > 1;
      return Promise.resolve();
    },
    store: {
      append: () => {
        appends += 1;
        return appends === 1 ? lost() : Promise.resolve({ accepted: 0, duplicates: [], first: null, last: null });
      },
      recordGap: ({ start, end }) => (isReachable ? Promise.resolve(void gaps.push({ start, end })) : lost()),
    },
  });
  const ends = new AbortController();
  const running = acceptance.run(ends.signal);
  await acceptance.accept(page);
  expect({ appends, gaps }).toEqual({ appends: 2, gaps: [{ start: 1_000, end: 1_200 }] });
  ends.abort();
  await running;
  expect(warnings).toEqual([['label acceptance paused', { reason: 'unreachable', why: 'lost' }]]);
});

test('a gap and a group that the store temporarily rejects are written as soon as the store accepts them', async () => {
  const written: string[] = [];
  let refusals = 2;
  const refuse = (): Promise<never> => {
    refusals -= 1;
    return Promise.reject(new StoreError('disk_full', 'full'));
  };
  let stepped = false;
  const acceptance = pausedAcceptance({
    checkPreconditions: () => {
      const gap = stepped ? null : { start: micros(-10), end: micros(-5) };
      stepped = true;
      return { pause: null, gap, since: null };
    },
    wait: () => Promise.resolve(),
    store: {
      append: ({ observations }) => {
        if (refusals > 0) return refuse();
        written.push(`${observations.length} rows`);
        return Promise.resolve({ accepted: observations.length, duplicates: [], first: null, last: null });
      },
      recordGap: ({ start }) => {
        if (refusals > 1) return refuse();
        written.push(`gap from ${start}`);
        return Promise.resolve();
      },
    },
  });
  const ends = new AbortController();
  const running = acceptance.run(ends.signal);
  expect(await acceptance.accept(pageOf('a', 3, 10))).toBe(3);
  ends.abort();
  await running;
  expect(written.filter((one) => !one.startsWith('gap from 1'))).toEqual(['gap from -10', '3 rows']);
});

test('a page that waits during a pause, and every later page, is rejected when the instrument stops', async () => {
  const acceptance = pausedAcceptance();
  const ends = new AbortController();
  const running = acceptance.run(ends.signal);
  const waiting = acceptance.accept(page);
  const next = waiting.catch(() => acceptance.accept(page));
  ends.abort();
  await running;
  await expect(waiting).rejects.toThrow('stopped');
  await expect(next).rejects.toThrow('stopped');
  await expect(acceptance.accept(page)).rejects.toThrow('stopped');
});

test.each([
  ['acceptance detects the step', false],
  ['a heartbeat detected the step three seconds earlier', true],
])('a pause begins at the end of the gap of a clock step if %s', async (_, beatFirst) => {
  const gaps: StoredGap[] = [];
  let elapsed = 0;
  let suspended = 0;
  const clocks = {
    // The clock advances by one millisecond between two reads.
    wall: () => {
      elapsed += 1_000;
      return micros(elapsed + suspended);
    },
    monotonic: () => elapsed,
  };
  const preconditions = new Preconditions(clocks, { ...disk, askTime: () => undefined });
  const looks: (Interval | null)[] = [];
  const look = () => {
    const found = preconditions.look();
    looks.push(found.gap);
    return found;
  };
  suspended = hour;
  if (beatFirst) {
    look();
    elapsed += 3 * second;
  }
  const rounds = new AbortController();
  const acceptance = pausedAcceptance({
    store: {
      append: () => Promise.reject(new Error('not reached')),
      recordGap: (gap) => {
        gaps.push(gap);
        return Promise.resolve();
      },
    },
    clock: clocks.wall,
    checkPreconditions: look,
    wait: () => {
      rounds.abort();
      return Promise.resolve();
    },
  });
  const refused = acceptance.accept(page).catch((error: unknown) => error);
  await acceptance.run(rounds.signal);
  await refused;
  const [stepped] = looks;
  expect(stepped).toMatchObject({ end: expect.any(Number) });
  expect(gaps.filter(({ start }) => start !== stepped?.start)).toEqual([
    { source: null, reason: 'ingest_paused', start: stepped?.end, end: micros(elapsed + suspended) },
  ]);
  expect(gaps.some(({ start }) => start === stepped?.start)).toBe(!beatFirst);
});

test('the gap of a backward clock step is recorded if the pause begins in the same millisecond in which the step was detected', async () => {
  const start = 5 * hour;
  const step = { start: micros(start), end: micros(start + hour) };
  let reads = 0;
  let checks = 0;
  const recorded: StoredGap[] = [];
  const ends = new AbortController();
  const acceptance = pausedAcceptance({
    // The first read returns the time of the step, and each further read a time one millisecond later.
    clock: () => micros(start + 1_000 * reads++),
    checkPreconditions: () => ({ pause: 'clock_doubtful', gap: checks++ === 0 ? step : null, since: step.end }),
    wait: () => Promise.resolve(ends.abort()),
    store: {
      append: () => Promise.reject(new Error('not reached')),
      recordGap: (gap) => Promise.resolve(void recorded.push(gap)),
    },
  });
  const running = acceptance.run(ends.signal);
  await expect(acceptance.accept(page)).rejects.toThrow('stopped');
  await running;
  const own = { source: null, reason: 'ingest_paused' } as const;
  expect(recorded).toEqual([
    { ...own, ...step },
    { ...own, start: step.start, end: micros(start + 1_000) },
  ]);
});

test('a pause that follows a second clock step begins at the end of the second step', () => {
  let suspended = 0;
  const clocks = { wall: () => micros(day + suspended), monotonic: () => day };
  const preconditions = new Preconditions(clocks, { ...disk, askTime: () => undefined });
  suspended = hour;
  expect(preconditions.look()).toMatchObject({ pause: 'clock_doubtful', since: day + hour });
  expect(preconditions.look()).toEqual({ pause: 'clock_doubtful', gap: null, since: day + hour });
  preconditions.onUpstreamTime((day + hour) / 1_000);
  expect(preconditions.look()).toEqual({ pause: null, gap: null, since: null });
  suspended = 3 * hour;
  expect(preconditions.look()).toMatchObject({ pause: 'clock_doubtful', since: day + 3 * hour });
});

/** Creates a `PageAcceptance` whose store records the source of each row of each commit. */
function counting(shareOf: AcceptanceOptions['shareOf']) {
  const commits: string[][] = [];
  const acceptance = pausedAcceptance({
    checkPreconditions: () => ({ pause: null, gap: null, since: null }),
    shareOf,
    store: {
      append: ({ observations }) => {
        commits.push(observations.map(({ label }) => label.src));
        return Promise.resolve({ accepted: observations.length, duplicates: [], first: null, last: null });
      },
      recordGap: () => Promise.resolve(),
    },
  });
  return { commits, acceptance };
}

function pageOf(source: string, rows: number, bytes: number): AcceptedPage {
  const label = { src: source, uri: `did:web:${'a'.repeat(bytes)}`, val: 'v', cts: '' };
  return { ...page, source, observations: Array.from({ length: rows }, () => ({ label, signature: 'unsigned' })) };
}

test('the page of a seeded source is in the first commit during a flood of 200 new sources', async () => {
  const { commits, acceptance } = counting((source) => ({
    priority: source === 'seed' ? 'seeded' : 'new',
    domain: source,
    source,
  }));
  const flood = Array.from({ length: 200 }, (_, i) => acceptance.accept(pageOf(`flood${i}`, 100, 4_000)));
  const honest = acceptance.accept(pageOf('seed', 1, 100));
  const ends = new AbortController();
  const running = acceptance.run(ends.signal);
  await honest;
  expect(commits).toHaveLength(1);
  // The first commit is small, so that it does not block the event loop.
  expect(commits[0]?.length).toBeLessThan(600);
  await Promise.all(flood);
  ends.abort();
  await running;
  expect(commits.flat()).toHaveLength(20_001);
});

test('the small page of a new source is in the first commit while 400 sources of one domain send large pages', async () => {
  const { commits, acceptance } = counting((source) => ({
    priority: 'new',
    domain: source.replace(/\d+$/, ''),
    source,
  }));
  const crowd = Array.from({ length: 400 }, (_, i) => acceptance.accept(pageOf(`crowd${i}`, 100, 4_000)));
  const honest = acceptance.accept(pageOf('honest', 1, 100));
  const ends = new AbortController();
  const running = acceptance.run(ends.signal);
  await honest;
  expect(commits).toHaveLength(1);
  ends.abort();
  await Promise.allSettled(crowd);
  await running;
});

test('the gap of a clock step and the pending gaps of a source are durable before its page', async () => {
  const order: string[] = [];
  const acceptance = pausedAcceptance({
    checkPreconditions: () => ({ pause: null, gap: { start: micros(1), end: micros(2) }, since: null }),
    flushGaps: (sources) => Promise.resolve(void order.push(`gaps of ${[...sources].join()}`)),
    store: {
      append: () => {
        order.push('rows');
        return Promise.resolve({ accepted: 0, duplicates: [], first: null, last: null });
      },
      recordGap: ({ reason }) => Promise.resolve(void order.push(reason)),
    },
  });
  const ends = new AbortController();
  const running = acceptance.run(ends.signal);
  await acceptance.accept(page);
  ends.abort();
  await running;
  expect(order).toEqual(['ingest_paused', 'gaps of did:web:a.test', 'rows']);
});

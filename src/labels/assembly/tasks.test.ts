import { expect, test, vi } from 'vitest';
import { answered, asked, caughtUp } from '../../../harness/labels/label-reader.ts';
import { StoreError } from '../../store/errors.ts';
import { coalesce } from '../../store/gaps.ts';
import type { StoredGap } from '../../store/port.ts';
import type { RosterRow } from '../../store/roster.ts';
import { day, type Interval, micros, minute } from '../../store/time.ts';
import type { KnownLabeler } from '../roster/known-labeler.ts';
import { maxKnown, Roster } from '../roster/roster.ts';
import { labelerLimits, untracked } from '../state/reading-state.ts';
import { Tracker } from '../state/tracker.ts';
import { Preconditions } from './preconditions.ts';
import { type Acts, type Assembled, clockCheck, createActs, maintainStore, publications } from './tasks.ts';

/** Work of `Acts.keep`, by the method of the store. */
interface Work {
  readonly commits: number;
  readonly rows: readonly RosterRow[];
  readonly dropped: number;
  readonly maxRows: number;
  /** Names of the methods that stored the position of a stream. */
  readonly positions: readonly string[];
}

/** Creates the acts of an instrument with a full roster, of which nothing is stored yet and `enrolled` are enrolled. */
function actsOfFullRoster(enrolled: number, onCommit: () => void = () => undefined, maxLabelers?: number) {
  const stopping = new AbortController();
  const now = micros(Date.UTC(2026, 5, 1) * 1000);
  const roster = new Roster({
    identities: { resolve: () => Promise.reject(new Error('not requested')) },
    clock: () => now,
    wait: () => Promise.resolve(),
    ...{ refreshMs: 1, retryMs: 1, freshMs: 1 },
    changed: () => undefined,
  });
  for (let i = 0; i < maxKnown; i += 1) {
    roster.add(`did:web:l${i}.example.com`, 'discovered', 'jetstream');
    const labeler = roster.labeler(`did:web:l${i}.example.com`);
    if (labeler === undefined || i < maxKnown - enrolled) continue;
    labeler.resolutionStatus = 'labeler';
    labeler.tracker.apply(asked(now));
    labeler.tracker.apply(answered(now, { dated: 1, undated: 0 }));
  }
  const parts: { readonly rows: readonly RosterRow[]; readonly dropped: number }[] = [];
  const positions: string[] = [];
  const commit = (rows: readonly RosterRow[], dropped: number): Promise<void> => {
    parts.push({ rows, dropped });
    onCommit();
    return Promise.resolve();
  };
  const store = {
    beat: () => Promise.resolve(),
    frontier: () => Promise.resolve({ observedThrough: null }),
    putRoster: (rows: readonly RosterRow[]) => commit(rows, 0),
    dropRoster: (dids: readonly string[]) => commit([], dids.length),
    putNote: (name: string) => Promise.resolve(void positions.push(name)),
    putDirectoryPosition: () => Promise.resolve(void positions.push('directory')),
  };
  const none = { flush: () => Promise.resolve() };
  const acts: Acts = createActs(
    {
      base: {
        ...{ settings: { artifacts: '/nowhere', maxLabelers }, store, clocks: { wall: () => now } },
        shares: { gaps: none, keep: () => Promise.resolve() },
      },
      labelers: { roster, services: { cursor: 7 }, operations: { position: 8 }, stored: {} },
    } as unknown as Assembled,
    stopping.signal,
  );
  const work = (): Work => ({
    commits: parts.length,
    rows: parts.flatMap(({ rows }) => rows),
    dropped: parts.reduce((sum, { dropped }) => sum + dropped, 0),
    maxRows: Math.max(...parts.map(({ rows, dropped }) => rows.length + dropped)),
    positions,
  });
  return { acts, stopping, work };
}

test('a heartbeat stores a full roster in commits of at most 500 rows, and lets other work run after each commit', async () => {
  let turns = 0;
  const { acts, work } = actsOfFullRoster(0, () => setImmediate(() => (turns += 1)));
  await acts.keep();
  expect(work()).toMatchObject({ commits: maxKnown / 500, maxRows: 500, positions: [expect.any(String), 'directory'] });
  expect(work().rows).toHaveLength(maxKnown);
  expect(turns).toBe(maxKnown / 500);
});

test.each([
  ['the default', labelerLimits.default, undefined],
  ['the highest', labelerLimits.highest, labelerLimits.highest],
])(
  'with %s maximum, a stop stores every enrolled labeler and at most 1,000 other rows, and no position',
  async (_, maxLabelers, setting) => {
    const { acts, work } = actsOfFullRoster(maxLabelers, undefined, setting);
    await acts.keep('final');
    const { rows, maxRows, positions } = work();
    expect(rows.filter(({ enrolled }) => enrolled)).toHaveLength(maxLabelers);
    expect(rows.length).toBe(maxLabelers + 1_000);
    expect([maxRows, positions]).toEqual([500, []]);
  },
);

test('a heartbeat begins no further commit once the instrument stops, and stores no position', async () => {
  const { acts, stopping, work } = actsOfFullRoster(0, () => {
    if (work().commits === 3) stopping.abort();
  });
  await acts.keep();
  expect(work()).toMatchObject({ commits: 3, positions: [] });
});

test('the times of a labeler that was read while the clock was ahead are corrected once an upstream confirms the clock', async () => {
  const start = Date.UTC(2026, 5, 1) * 1000;
  let [passed, offset] = [0, 0];
  const clocks = { wall: () => micros(start + passed + offset), monotonic: () => passed };
  const preconditions = new Preconditions(clocks, {
    ...{ folder: '', minFreeBytes: 0, maxDailyBytes: 1, isDerived: true, windowDays: 30, askTime: () => undefined },
  });
  const tracker = new Tracker('did:plc:a', untracked(clocks.wall()));
  const gaps: Interval[] = [];
  const corrections: number[] = [];
  const check = clockCheck({
    base: {
      ...{ clocks, preconditions, shares: { cap: { clockCorrected: () => void corrections.push(clocks.wall()) } } },
      store: { recordGap: async ({ start, end }) => void gaps.push({ start, end }) },
    },
    labelers: { roster: { labelers: [{ tracker } as unknown as KnownLabeler] } },
  });
  preconditions.onUpstreamTime(clocks.wall() / 1000);
  tracker.apply(caughtUp(micros(start - day), micros(start)));
  await check();
  offset = 40 * day;
  await check();
  tracker.apply(answered(clocks.wall(), { dated: 1, undated: 0, live: true }));
  [passed, offset] = [10 * minute, 0];
  await check();
  const unconfirmed = tracker.tracked.completeThrough;
  preconditions.onUpstreamTime(clocks.wall() / 1000);
  await check();
  const corrected = tracker.tracked.completeThrough;
  expect([unconfirmed, corrected]).toEqual([start + 40 * day, start + 10 * minute]);
  // The clock was confirmed at the start, and again after it was corrected.
  expect(corrections).toEqual([start, start + 10 * minute]);
  expect(gaps).toEqual([
    { start, end: start + 40 * day },
    { start: start + 10 * minute, end: start + 40 * day + 10 * minute },
  ]);
});

/**
 * Creates the check of a clock that can be set. Each recorded gap is passed to `store`, which may reject it, and is in
 * `gaps` once the store has accepted it.
 */
function checkedClock(store: () => Promise<void>) {
  const start = Date.UTC(2026, 5, 1) * 1000;
  const state = { offset: 0 };
  const clocks = { wall: () => micros(start + state.offset), monotonic: () => 0 };
  const preconditions = new Preconditions(clocks, {
    ...{ folder: '', minFreeBytes: 0, maxDailyBytes: 1, isDerived: true, windowDays: 30, askTime: () => undefined },
  });
  const gaps: Interval[] = [];
  const recordGap = async ({ start, end }: Interval): Promise<void> => {
    await store();
    gaps.push({ start, end });
  };
  const check = clockCheck({
    base: { clocks, preconditions, shares: { cap: { clockCorrected: () => undefined } }, store: { recordGap } },
    labelers: { roster: { labelers: [] } },
  });
  return { check, state, gaps, start };
}

test('the gap of a clock step is recorded by the next check if the store rejects it', async () => {
  const answers = [Promise.reject(new StoreError('unreachable', 'no network')), Promise.resolve(), Promise.resolve()];
  const { check, state, gaps, start } = checkedClock(() => answers.shift() ?? Promise.reject(new Error('repeated')));
  state.offset = 30 * minute;
  await expect(check()).rejects.toThrow('no network');
  state.offset = 50 * minute;
  await check();
  await check();
  expect(gaps).toEqual([
    { start, end: start + 30 * minute },
    { start: start + 30 * minute, end: start + 50 * minute },
  ]);
});

test('of two checks of the clock at the same time, each ends after the gaps of all steps so far are recorded', async () => {
  const { check, state, gaps, start } = checkedClock(() => new Promise((resolve) => setImmediate(resolve)));
  state.offset = 30 * minute;
  const first = check();
  state.offset = 50 * minute;
  await check();
  const reason = 'ingest_paused';
  const recorded = gaps.map((gap): StoredGap => ({ source: null, ...gap, reason }));
  expect(coalesce(recorded)).toEqual([{ source: null, start, end: start + 50 * minute, reason }]);
  await first;
});

function logOf() {
  return { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
}

test('only days that could not be sealed are logged', async () => {
  const log = logOf();
  const upkeep = { sealed: ['2024-10-04'], postponed: [] as string[], expired: [] };
  const store = { maintain: () => Promise.resolve(upkeep) };
  await maintainStore(store, micros(0), log as never);
  expect(log.warn).not.toHaveBeenCalled();
  upkeep.postponed.push('2024-10-05');
  await maintainStore(store, micros(0), log as never);
  expect(log.warn.mock.calls).toEqual([
    ['some days of the store could not be sealed; sealing will be retried', { days: '2024-10-05' }],
  ]);
});

/**
 * Runs the task that publishes for `seconds`, with an interval of 60 s. The store has its first page after `pageAt`
 * seconds. Returns the seconds at which it published.
 */
async function publishedIn(seconds: number, pageAt: number, publishSeconds = 60): Promise<readonly number[]> {
  let second = 0;
  const published: number[] = [];
  const [interval, work] = publications(
    {
      store: { frontier: async () => ({ observedThrough: second < pageAt ? null : micros(1) }) as never },
      monotonic: () => second * 1_000_000,
      publish: async () => void published.push(second),
    },
    { publishSeconds },
  );
  while (second <= seconds) {
    await work();
    second += interval() / 1000;
  }
  return published;
}

test('the artifacts are published at the start, within a second of the first accepted page, and then at the interval', async () => {
  expect(await publishedIn(200, 7)).toEqual([0, 7, 67, 127, 187]);
});

test('an instrument without an accepted page publishes at the interval, and once the page arrives', async () => {
  expect(await publishedIn(200, 130)).toEqual([0, 60, 120, 130, 190]);
});

test('an instrument that starts with accepted pages publishes at the interval from the start', async () => {
  expect(await publishedIn(130, 0)).toEqual([0, 60, 120]);
});

test('an interval of one second stays one second', async () => {
  expect(await publishedIn(4, 2, 1)).toEqual([0, 1, 2, 3, 4]);
});

test('a store that cannot be read before the first page delays no publication that is due, which reports the failure', async () => {
  let second = 0;
  const published: number[] = [];
  const [, work] = publications(
    {
      store: { frontier: () => Promise.reject(new StoreError('unreachable', 'no answer')) },
      monotonic: () => second * 1_000_000,
      publish: async () => void published.push(second),
    },
    { publishSeconds: 60 },
  );
  await work();
  second = 30;
  await expect(work()).rejects.toThrow('no answer');
  second = 60;
  await work();
  expect(published).toEqual([0, 60]);
});

test('a publication begins only after the one before has ended, because a takeover also publishes', async () => {
  const checks: ((error: unknown) => void)[] = [];
  const store = { assertWriter: () => new Promise<void>((_, reject) => checks.push(reject)) };
  const acts = createActs(
    {
      base: { settings: { artifacts: '/nowhere' }, store, clocks: { wall: () => micros(0) }, shares: {} },
      labelers: { stored: {} },
    } as unknown as Assembled,
    new AbortController().signal,
  );
  const { signal } = new AbortController();
  const fenced = new StoreError('fenced', 'another process is the writer');
  const [first, second] = [acts.publish(signal), acts.publish(signal)];
  await new Promise(setImmediate);
  expect(checks).toHaveLength(1);
  checks[0]?.(fenced);
  await expect(first).rejects.toBe(fenced);
  await new Promise(setImmediate);
  expect(checks).toHaveLength(2);
  checks[1]?.(fenced);
  await expect(second).rejects.toBe(fenced);
});

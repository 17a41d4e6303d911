import { describe, expect, test } from 'vitest';
import { hour, micros } from '../../store/time.ts';
import type { PriorityClass } from '../state/reading-state.ts';
import { capShares, costOf, DailyCap } from './daily-cap.ts';
import type { ShareKey } from './fair-queue.ts';

const noon = micros(Date.UTC(2026, 5, 1, 12) * 1000);
const midnight = micros(noon + 12 * hour);
const budget = 1_000_000_000;

/** Returns the share of a source, whose name, such as `new.example.1`, consists of its priority, domain and number. */
function shareOf(source: string): ShareKey {
  const [priority = 'new', domain = source] = source.split('.');
  return { priority: priority as PriorityClass, domain, source };
}

function capAt({ maxRows = 2_000_000, at = noon } = {}) {
  const state = { now: at, tight: false, undated: new Set<string>() };
  const cap = new DailyCap({
    clock: () => state.now,
    shareOf,
    isNew: (source) => state.undated.has(source) || shareOf(source).priority === 'new',
    budgetBytes: () => budget,
    isTight: () => state.tight,
    maxRows,
  });
  return { state, cap };
}

const rows = (n: number) => ({ rows: n, bytes: n });

test('the shares of a day are the documented fractions of the daily budget', () => {
  expect(capShares.source).toEqual({
    seeded: { rows: 2_000_000, bytes: 1_000_000_000, part: 0.4, domainPart: 0.5 },
    established: { rows: 2_000_000, bytes: 1_000_000_000, part: 0.15, domainPart: 0.2 },
    new: { rows: 100_000, bytes: 20_000_000, part: 0.02, domainPart: 0.04 },
  });
  expect(capShares.class).toEqual({
    seeded: { part: 0.5, maxPart: 0.8, atOnce: 1 },
    established: { part: 0.3, maxPart: 0.3, atOnce: 0.5 },
    new: { part: 0.2, maxPart: 0.2, atOnce: 0.125 },
  });
});

test('the usage is reset at the next midnight after a clock that was days ahead was corrected', () => {
  const { cap, state } = capAt({ maxRows: 100 });
  state.now = micros(noon + 40 * 24 * hour);
  expect(cap.admits('seeded.a', rows(100))).toBe(true);
  state.now = noon;
  cap.clockCorrected();
  expect(cap.admits('seeded.a', rows(1))).toBe(false);
  state.now = midnight;
  expect(cap.admits('seeded.a', rows(1))).toBe(true);
});

describe('the share of one source', () => {
  test('limits the rows of the source, and pauses only this source', () => {
    const { cap } = capAt({ maxRows: 100 });
    expect([cap.admits('seeded.a', rows(90)), cap.admits('seeded.a', rows(10))]).toEqual([true, true]);
    expect(cap.isPaused('seeded.a')).toBe(false);
    expect([cap.admits('seeded.a', rows(1)), cap.isPaused('seeded.a'), cap.pausedSources]).toEqual([
      false,
      true,
      ['seeded.a'],
    ]);
    // A paused source cannot store a smaller page either, because that would skip the rows before it.
    expect([cap.admits('seeded.a', rows(0)), cap.admits('seeded.b', rows(50))]).toEqual([false, true]);
    expect([cap.reasonOf('seeded.a'), cap.reasonOf('seeded.b')]).toEqual(['source', null]);
  });

  test('admits a first page that is larger than the share, so that no source stops forever', () => {
    const { cap } = capAt({ maxRows: 100 });
    expect([cap.admits('seeded.a', rows(500)), cap.admits('seeded.a', rows(1))]).toEqual([true, false]);
  });

  test('is renewed at midnight UTC by the local clock, but not after the clock is set back', () => {
    const { cap, state } = capAt({ maxRows: 10 });
    cap.admits('seeded.a', rows(10));
    cap.admits('seeded.a', rows(1));
    expect(cap.msLeft).toBe(12 * 3_600_000);
    state.now = micros(noon - 24 * hour);
    expect(cap.isPaused('seeded.a')).toBe(true);
    state.now = midnight;
    expect([cap.isPaused('seeded.a'), cap.admits('seeded.a', rows(10)), cap.pausedSources]).toEqual([false, true, []]);
  });

  test('is smaller for a new source than for an established source, in rows and in bytes', () => {
    const { cap } = capAt();
    const page = { rows: 1, bytes: 1_000_000 };
    const pages = (source: string): number => {
      for (let n = 0; ; n += 1) if (!cap.admits(source, page)) return n;
    };
    expect(pages('new.a')).toBe(20);
    expect(pages('established.a')).toBe(150);
    expect(pages('seeded.a')).toBe(400);
    const { rows: most } = capShares.source.new;
    expect([cap.admits('new.b', rows(most)), cap.admits('new.b', rows(1))]).toEqual([true, false]);
  });

  test('is not charged for rows that were not stored', () => {
    const { cap } = capAt({ maxRows: 10 });
    cap.admits('seeded.a', rows(10));
    cap.refund('seeded.a', rows(4));
    expect([cap.usedBytes.seeded, cap.admits('seeded.a', rows(4)), cap.admits('seeded.a', rows(1))]).toEqual([
      6,
      true,
      false,
    ]);
  });
});

test('a domain has a separate share, regardless of the number of its sources', () => {
  const { cap } = capAt();
  const page = { rows: 1, bytes: 10_000_000 };
  const admitted = Array.from({ length: 100 }, (_, i) => `new.crowd.${i}`).filter((source) => {
    cap.admits(source, { rows: 1, bytes: 1 });
    return cap.admits(source, page);
  });
  expect(admitted).toHaveLength(3);
  expect(cap.admits('new.other.1', page)).toBe(true);
});

describe('the share of a class', () => {
  const page = { rows: 100, bytes: 1_000_000 };
  const flood = (cap: DailyCap, count: number): number =>
    Array.from({ length: count }, (_, i) => `new.flood${i}`).filter((source) => cap.admits(source, page)).length;

  test('limits many new sources without reducing the shares of established and seeded sources', () => {
    const { cap, state } = capAt({ at: micros(noon - 12 * hour) });
    expect(flood(cap, 5_000)).toBe(
      Math.ceil((budget * capShares.class.new.part * capShares.class.new.atOnce) / page.bytes),
    );
    expect(cap.reasonOf('new.flood4999')).toBe('class');
    expect([cap.admits('established.a', page), cap.admits('seeded.a', page)]).toEqual([true, true]);
    // All new sources together get at most the daily share of their class, regardless of the number of attempts.
    for (let minutes = 0; minutes < 24 * 60; minutes += 10) {
      state.now = micros(state.now + 10 * 60_000_000);
      if (minutes < 23 * 60) flood(cap, 5_000);
    }
    expect(cap.usedBytes.new).toBeLessThanOrEqual(budget * capShares.class.new.part + page.bytes);
  });

  test('becomes available in fair order, so that a small source does not wait for large sources', () => {
    const { cap, state } = capAt({ at: micros(noon - 12 * hour) });
    flood(cap, 500);
    expect(cap.admits('new.calm', { rows: 1, bytes: 250 })).toBe(false);
    state.now = micros(state.now + hour / 30);
    expect([cap.isPaused('new.calm'), cap.admits('new.calm', { rows: 1, bytes: 250 })]).toEqual([false, true]);
    expect(cap.pausedSources.length).toBeGreaterThan(400);
  });

  test.each([
    ['own share', 'source', [['new.crowd.1', 19_500_000]]],
    [
      'share of its domain',
      'domain',
      [
        ['new.crowd.1', 1],
        ['new.crowd.2', 19_500_000],
        ['new.crowd.3', 20_000_000],
      ],
    ],
  ] as const)('gets the bytes back that were granted to a source whose %s is then used up', (_, reason, first) => {
    const { cap, state } = capAt({ at: micros(noon - 12 * hour) });
    const admitted = first.map(([source, bytes]) => cap.admits(source, { rows: 1, bytes }));
    expect(admitted).toEqual(first.map(() => true));
    flood(cap, 10);
    cap.admits('new.crowd.1', { rows: 1, bytes: 400_000 });
    expect(cap.reasonOf('new.crowd.1')).toBe('class');
    state.now = noon;
    expect(cap.pausedSources).toEqual([]);
    const used = cap.usedBytes.new;
    cap.admits('new.crowd.1', { rows: 1, bytes: 600_000 });
    expect([cap.reasonOf('new.crowd.1'), cap.usedBytes.new]).toEqual([reason, used - 400_000]);
  });

  test('includes unused shares of the other classes if the class is seeded', () => {
    const { cap } = capAt();
    const large = { rows: 1, bytes: 10_000_000 };
    let admitted = 0;
    for (let i = 0; i < 100; i += 1) if (cap.admits(`seeded.${i}`, large)) admitted += 1;
    expect(admitted).toBe(80);
    expect(cap.admits('established.a', large)).toBe(true);
  });
});

test('new sources pause while the disk has little space, and resume when there is more space', () => {
  const { cap, state } = capAt();
  state.tight = true;
  expect([cap.admits('new.a', rows(1)), cap.reasonOf('new.a'), cap.pausedSources]).toEqual([false, 'disk', ['new.a']]);
  expect([cap.admits('established.a', rows(1)), cap.admits('seeded.a', rows(1))]).toEqual([true, true]);
  // Its labels would use the share of an established source.
  state.undated.add('established.b');
  expect([cap.isPaused('established.b'), cap.classOf('established.b')]).toEqual([true, 'established']);
  state.tight = false;
  expect([cap.isPaused('new.a'), cap.admits('new.a', rows(1)), cap.pausedSources]).toEqual([
    false,
    true,
    ['established.b'],
  ]);
});

describe('a source that is no longer read', () => {
  test('is not paused, but its usage of the day stays charged', () => {
    const { cap } = capAt({ maxRows: 100 });
    expect([cap.admits('seeded.a', rows(100)), cap.admits('seeded.a', rows(1)), cap.pausedSources]).toEqual([
      ...[true, false, ['seeded.a']],
    ]);
    cap.forget('seeded.a');
    expect(cap.pausedSources).toEqual([]);
    expect([cap.admits('seeded.a', rows(1)), cap.pausedSources]).toEqual([false, ['seeded.a']]);
  });

  test('does not wait for the share of its class, and returns the bytes that were granted to it', () => {
    const { cap, state } = capAt({ at: micros(noon - 12 * hour) });
    const page = { rows: 1, bytes: 1_000_000 };
    for (let i = 0; i < 25; i += 1) cap.admits(`new.other${i}`, page);
    expect([cap.admits('new.a', page), cap.admits('new.b', page)]).toEqual([false, false]);
    const used = cap.usedBytes.new;
    cap.forget('new.b');
    state.now = micros(state.now + 12 * hour);
    expect([cap.pausedSources, cap.usedBytes.new]).toEqual([[], used + page.bytes]);
    cap.forget('new.a');
    expect(cap.usedBytes.new).toBe(used);
  });
});

describe('the usage after a restart', () => {
  test('includes the rows of the day', () => {
    const { cap } = capAt({ maxRows: 10 });
    cap.load([{ labeler: 'seeded.a', applied: 6, removed: 4 }]);
    expect([cap.admits('seeded.a', rows(1)), cap.admits('seeded.b', rows(1))]).toEqual([false, true]);
  });

  test('includes saved bytes, and counts rows without saved bytes at the mean size', () => {
    const before = capAt().cap;
    before.admits('new.a', { rows: 5, bytes: 19_999_999 });
    const { cap } = capAt();
    cap.load(
      [
        { labeler: 'new.a', applied: 5, removed: 0 },
        { labeler: 'new.b', applied: 2, removed: 0 },
      ],
      before.save(),
    );
    expect(cap.usedBytes.new).toBe(19_999_999 + 2 * 205);
    expect([cap.admits('new.a', rows(2)), cap.admits('new.b', rows(2))]).toEqual([false, true]);
  });

  test('does not include bytes that were saved on a previous day', () => {
    const before = capAt().cap;
    before.admits('new.a', { rows: 5, bytes: 5_000_000 });
    const { cap } = capAt({ at: midnight });
    cap.load([{ labeler: 'new.a', applied: 1, removed: 0 }], before.save());
    expect(cap.usedBytes.new).toBe(205);
  });
});

test('the cost of a row is the size of its fields plus a constant overhead', () => {
  const label = { src: 'did:web:a', uri: `did:web:${'b'.repeat(392)}`, val: 'v', cts: '' };
  expect(costOf([{ label, signature: 'unsigned' }])).toEqual({ rows: 1, bytes: 9 + 400 + 1 + 64 });
});

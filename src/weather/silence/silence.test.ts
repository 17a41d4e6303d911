import { describe, expect, test } from 'vitest';
import { type CollectionName, collectionNames } from '../../contract/vocabulary.ts';

import type { Silence } from '../window/store-schema.ts';
import { type Minute, windowUs } from '../window/window.ts';
import { findSilences } from './silence.ts';
import type { Usual } from './usual.ts';

const startUs = Date.parse('2026-11-20T12:00:00Z') * 1000;
const rates: Readonly<Partial<Record<CollectionName, number>>> = {
  'like.create': 8000,
  'post.create': 1500,
  'repost.create': 1200,
  'account.event': 20,
  'listitem.delete': 2,
};
const at = (minute: number): number => startUs + minute * windowUs;

type Without = (collection: CollectionName, minute: number) => boolean;

/** Returns minutes of even traffic from which the given collections are removed. */
function minutesOf(count: number, without: Without, level = (_: number): number => 1): Minute[] {
  return Array.from({ length: count }, (_, i) => {
    const counts = collectionNames.map((name) => (without(name, i) ? 0 : Math.round((rates[name] ?? 100) * level(i))));
    return {
      ...{ startUs: at(i), observedUs: windowUs, events: 1, flags: 0, resync: 0, leftOut: 0, counts },
      ...{ complete: true, eligible: true },
    };
  });
}

/**
 * Returns a baseline: `rates` as the median, `factor` times `rates` as the 5th percentile, and `pause` as the longest
 * pause.
 */
function usualOf(pause: number | null = 4, factor = 0.8): Usual {
  const p05 = collectionNames.map((name) => Math.round((rates[name] ?? 100) * factor));
  const p50 = collectionNames.map((name) => rates[name] ?? 100);
  return { hour: () => ({ p05, p50 }), pause: () => pause };
}

const none: Usual = {
  hour: () => ({ p05: collectionNames.map(() => null), p50: collectionNames.map(() => null) }),
  pause: () => null,
};

function find(minutes: readonly Minute[], usual = usualOf(), standing: readonly Silence[] = []): Silence[] {
  // In each window, the first event is at 30 s and the last at 45 s.
  const edges = (us: number) => ({ firstUs: us + 30_000_000, lastUs: us + 45_000_000 });
  return findSilences({ minutes, usual, edges, standing });
}

/** Returns the number of windows without the collection after which its silence is found. */
function windowsUntilFound(without: Without, usual: Usual, first = 120, level?: (minute: number) => number): number {
  for (let windows = 1; windows < 900; windows += 1) {
    if (find(minutesOf(first + windows, without, level), usual).length > 0) return windows;
  }
  return Number.POSITIVE_INFINITY;
}

describe('the silence of a collection that stops while other collections continue', () => {
  test('extends from the microsecond after its last event to its next event', () => {
    const minutes = minutesOf(300, (name, i) => name === 'like.create' && i >= 100 && i < 200);
    expect(find(minutes)).toEqual([{ collection: 'like.create', from: at(99) + 45_000_001, to: at(200) + 30_000_000 }]);
  });

  test('extends to the end of the closed windows while it lasts', () => {
    const minutes = minutesOf(300, (name, i) => name === 'post.create' && i >= 280);
    expect(find(minutes)).toEqual([{ collection: 'post.create', from: at(279) + 45_000_001, to: at(300) }]);
  });

  test.each([
    ['like.create', 3],
    ['account.event', 4],
    ['listitem.delete', 24],
  ] as const)(
    'is found after the number of windows that the usual rate of the collection requires (%s: %i)',
    (collection, windows) => {
      expect(windowsUntilFound((name, i) => name === collection && i >= 120, usualOf())).toBe(windows);
    },
  );

  test('is found within seven windows if the 5th percentile is ten events a minute, even if traffic is well below the usual level', () => {
    const usual = usualOf(4, 0.5);
    const without: Without = (name, i) => name === 'account.event' && i >= 120;
    expect(windowsUntilFound(without, usual)).toBe(5);
    expect(windowsUntilFound(without, usual, 120, (i) => (i < 120 ? 1 : 0.75))).toBe(7);
  });

  test('is found even while other collections are silent, if one frequent collection continues', () => {
    const left: readonly CollectionName[] = ['account.event'];
    const minutes = minutesOf(200, (name, i) => i >= 100 && !left.includes(name));
    expect(find(minutes).filter(({ from }) => from === at(99) + 45_000_001)).toHaveLength(collectionNames.length - 1);
  });

  test('is not reported if no other collection continues, because the stream itself might have stopped', () => {
    expect(find(minutesOf(200, (_, i) => i >= 100 && i < 160))).toEqual([]);
  });

  test('is found without a baseline by comparison with the last hour, unless the collection was rare in that hour', () => {
    expect(windowsUntilFound((name, i) => name === 'like.create' && i >= 120, none)).toBe(3);
    expect(windowsUntilFound((name, i) => name === 'account.event' && i >= 120, none)).toBe(3);
    expect(windowsUntilFound((name, i) => name === 'like.create' && i >= 40, none, 40)).toBe(Number.POSITIVE_INFINITY);
    expect(windowsUntilFound((name, i) => name === 'listitem.delete' && i >= 120, none)).toBe(Number.POSITIVE_INFINITY);
    expect(windowsUntilFound((name, i) => name === 'listitem.delete' && i >= 720, none, 720)).toBe(240);
  });
});

describe('a pause of a collection', () => {
  test('counts as the silence of a rare collection only once it is six times as long as the longest pause of earlier days', () => {
    const minutes = minutesOf(400, (name, i) => name === 'listitem.delete' && i % 100 >= 50);
    expect(find(minutes, usualOf(9))).toEqual([]);
    expect(find(minutes, usualOf(4))).not.toEqual([]);
  });

  test('is measured only in observed windows', () => {
    const minutes = minutesOf(300, (name, i) => name === 'listitem.delete' && i >= 100 && i < 200);
    const gap = minutes.map((minute, i) => (i >= 105 && i < 195 ? { ...minute, observedUs: 58_999_999 } : minute));
    expect(find(gap, usualOf(4))).toEqual([]);
    expect(find(minutes, usualOf(4))).toHaveLength(1);
  });

  test('is compared with the level of the lull if it occurs during a lull', () => {
    const silent: Without = (name, i) => name === 'listitem.delete' && i >= 120;
    expect(windowsUntilFound(silent, usualOf(), 120, (i) => (i < 120 ? 1 : 0.5))).toBe(48);
  });
});

test('a collection is not silent in windows before it was first counted', () => {
  const minutes = minutesOf(300, (name, i) => name === 'like.create' && i < 200);
  const edges = () => ({ firstUs: null, lastUs: null });
  const input = { minutes, usual: usualOf(), edges, standing: [] };
  expect(findSilences(input)).toHaveLength(1);
  expect(findSilences({ ...input, countedSince: new Map([['like.create', at(198)]]) })).toEqual([]);
  expect(findSilences({ ...input, countedSince: new Map([['like.create', at(150)]]) })).toEqual([
    { collection: 'like.create', from: at(150), to: at(200) },
  ]);
});

describe('a silence that was found earlier', () => {
  const stood = { collection: 'like.create', from: startUs - 999 * windowUs, to: startUs + windowUs } as const;

  test('keeps its start and lasts until the next event, even if its start precedes the minutes that are read', () => {
    expect(
      find(
        minutesOf(100, (name) => name === 'like.create'),
        none,
        [stood],
      ),
    ).toEqual([{ collection: 'like.create', from: stood.from, to: at(100) }]);
    expect(
      find(
        minutesOf(100, (name, i) => name === 'like.create' && i < 2),
        none,
        [stood],
      ),
    ).toEqual([{ collection: 'like.create', from: stood.from, to: at(2) + 30_000_000 }]);
  });

  test.each([
    ['like.create', 20, 40],
    ['listitem.delete', 300, 541],
  ] as const)(
    'needs no new proof while the minutes that proved it pass out of the day that is read (%s)',
    (name, first, next) => {
      const without: Without = (collection, i) => collection === name && i >= first && i < next;
      const known = { collection: name, from: at(first - 1) + 45_000_001, to: at(first + 10) };
      expect(find(minutesOf(first + 11, without), none)).toEqual([]);
      expect(find(minutesOf(first + 11, without), none, [known])).toEqual([{ ...known, to: at(first + 11) }]);
      expect(find(minutesOf(600, without), none, [known])).toEqual([{ ...known, to: at(next) + 30_000_000 }]);
    },
  );

  test('is proven again if a backfill has added an event after its start', () => {
    const minutes = minutesOf(30, (name, i) => name === 'like.create' && i >= 20 && i < 25);
    const known = { collection: 'like.create', from: at(18) + 45_000_001, to: at(25) + 30_000_000 } as const;
    expect(find(minutes, none, [known])).toEqual([]);
  });

  test('ends at the first event that a backfill has added', () => {
    const minutes = minutesOf(100, () => false);
    expect(find(minutes, usualOf())).toEqual([]);
    expect(find(minutes, usualOf(), [stood])).toEqual([
      { collection: 'like.create', from: stood.from, to: startUs + 30_000_000 },
    ]);
  });
});

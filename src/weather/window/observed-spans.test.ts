import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Interval, ObservedSpans, union } from './window.ts';

const second = 1_000_000;
const minute = 60 * second;

/** Records a span of one second at each of the given seconds. */
function seconds(spans: ObservedSpans, starts: readonly number[]): void {
  for (const start of starts) {
    spans.open(start * second);
    spans.extend(start * second + second - 1);
  }
}

const everyThird = Array.from({ length: 17 }, (_, i) => i * 3);

describe('the spans of a window with more than 16 interruptions', () => {
  test('are the first 16 spans, and the whole newest span if it continues in the next window', () => {
    const spans = new ObservedSpans();
    seconds(spans, [...everyThird, 52]);
    spans.extend(minute + second);
    const kept = everyThird.slice(0, 16).map((start) => ({ from: start * second, to: (start + 1) * second }));
    expect(spans.take()).toEqual([...kept, { from: 52 * second, to: minute + second + 1 }]);
  });

  test('include the whole newest span even if results are taken while it lasts', () => {
    const spans = new ObservedSpans();
    seconds(spans, everyThird);
    expect(spans.take()).toHaveLength(16);
    spans.extend(55 * second);
    expect(spans.take()).toEqual([]);
    spans.extend(minute);
    expect(spans.take()).toEqual([{ from: 48 * second, to: minute + 1 }]);
    spans.extend(minute + second);
    expect(spans.take()).toEqual([{ from: minute + 1, to: minute + second + 1 }]);
  });

  test('do not include a span after the first 16 that ends in the same window', () => {
    const spans = new ObservedSpans();
    seconds(spans, [...everyThird, 62]);
    expect(spans.take().map(({ from }) => from / second)).toEqual([...everyThird.slice(0, 16), 62]);
  });
});

test('the spans of a window with at most 16 interruptions are the same no matter when they are taken', () => {
  const step = fc.record({
    pause: fc.integer({ min: 1, max: 30 }),
    length: fc.integer({ min: 0, max: 90 }),
    take: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const spans = new ObservedSpans();
      const taken: Interval[] = [];
      const wanted: Interval[] = [];
      let now = 0;
      for (const { pause, length, take } of steps) {
        // At most ten spans begin in a window.
        const from = now + (5 + pause) * second;
        now = from + length * second;
        spans.open(from);
        spans.extend(from);
        if (take) taken.push(...spans.take());
        spans.extend(now);
        wanted.push({ from, to: now + 1 });
      }
      expect(union([...taken, ...spans.take()])).toEqual(union(wanted));
    }),
  );
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { layTimeline, timelineWidth } from './timeline.ts';

const day = 86_400_000;
const window = { start: 0, end: 30 * day };

describe('layTimeline', () => {
  it('draws a single piece for a window without gaps', () => {
    expect(layTimeline(window, [])).toEqual({ parts: [], rest: [{ kind: 'rest', from: 0, to: timelineWidth }] });
  });

  it('interrupts the drawing at a gap', () => {
    expect(layTimeline(window, [{ kind: 'gap', start: 6 * day, end: 9 * day }])).toEqual({
      parts: [{ kind: 'gap', from: 200, to: 300 }],
      rest: [
        { kind: 'rest', from: 0, to: 200 },
        { kind: 'rest', from: 300, to: 1000 },
      ],
    });
  });

  it('returns only the gap if one gap covers the whole window', () => {
    expect(layTimeline(window, [{ kind: 'gap', start: -day, end: 31 * day }])).toEqual({
      parts: [{ kind: 'gap', from: 0, to: 1000 }],
      rest: [],
    });
  });

  it('draws nothing for an empty window, and nothing outside the window', () => {
    expect(layTimeline({ start: 5, end: 5 }, [{ kind: 'gap', start: 0, end: 9 }])).toEqual({ parts: [], rest: [] });
    expect(layTimeline(window, [{ kind: 'gap', start: -9, end: 0 }]).parts).toEqual([]);
  });

  it('draws every gap, never draws the rest of the window over a gap, and fills the whole window', () => {
    const instant = fc.integer({ min: -day, max: 31 * day });
    const gaps = fc.array(
      fc
        .tuple(instant, instant)
        .map(([a, b]) => ({ kind: 'gap' as const, start: Math.min(a, b), end: Math.max(a, b) })),
      { maxLength: 128 },
    );
    fc.assert(
      fc.property(gaps, (parts) => {
        const drawn = layTimeline(window, parts);
        const inside = parts.filter(({ start, end }) => start < end && start < window.end && end > window.start);
        expect(drawn.parts.length).toBe(inside.length);
        for (const { start, end } of inside) {
          const [from, to] = [Math.max(0, start), Math.min(window.end, end)].map((at) => (at / window.end) * 1000) as [
            number,
            number,
          ];
          const holder = drawn.parts.find((part) => part.from <= from + 1e-6 && part.to >= to - 1e-6);
          expect(holder).toBeDefined();
          for (const rest of drawn.rest) expect(rest.to <= from + 1e-6 || rest.from >= to - 1e-6).toBe(true);
        }
        for (const { from, to } of [...drawn.parts, ...drawn.rest]) {
          expect(from).toBeGreaterThanOrEqual(0);
          expect(to).toBeLessThanOrEqual(timelineWidth);
          expect(to).toBeGreaterThan(from);
        }
        const all = [...drawn.parts, ...drawn.rest].toSorted((a, b) => a.from - b.from);
        let reached = 0;
        for (const { from, to } of all) {
          expect(from).toBeLessThanOrEqual(reached + 1e-6);
          reached = Math.max(reached, to);
        }
        expect(reached).toBe(timelineWidth);
      }),
    );
  });
});

import { describe, expect, it } from 'vitest';
import { dice } from '../random.ts';
import { metricNames } from './metrics.ts';
import { parseFrame } from './parsed.ts';
import { hugeFrame, malformedFrames, unknownFrames } from './rare-frames.ts';
import { slot } from './template.ts';

const style = { seqCursors: true, variedKeys: false };
const frames = [
  ...malformedFrames(style, dice(1)),
  ...unknownFrames(style, dice(1)),
  hugeFrame(100_000, style, dice(1)),
];

function stamped(text: string): string {
  const widths = new Map<string, string>([
    [slot.time, '1783175888085434'],
    [slot.seq, '100000000000001'],
  ]);
  return text.replace(/[\uE001-\uE008]/g, (mark) => widths.get(mark) ?? 'aaaaaaaa');
}

describe('rare frames', () => {
  it.each(frames.map(({ name, text, species }) => [name, text, species] as const))(
    'have a species that agrees with a full parse (%s)',
    (_, text, species) => {
      const { species: found } = parseFrame(stamped(text));
      expect({ ...found, metrics: found.metrics.toSorted() }).toEqual({
        ...species,
        metrics: species.metrics.toSorted(),
      });
    },
  );

  it('together increment every metric', () => {
    const raised = new Set(frames.flatMap(({ species }) => species.metrics));
    expect(metricNames.filter((name) => !raised.has(name))).toEqual([]);
  });

  it('have distinct names', () => {
    expect(new Set(frames.map(({ name }) => name)).size).toBe(frames.length);
  });
});

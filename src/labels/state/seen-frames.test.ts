import { hash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LastFrame } from './reading-events.ts';
import { SeenFrames } from './seen-frames.ts';

const markOf = (label: number): string => hash('sha256', String(label));

/** Plain list of frames with labels that behaves like `SeenFrames`. */
type Model = readonly { readonly seq: number; readonly tail: string }[];

function followed(model: Model, frames: readonly LastFrame[]): Model {
  const labelled = frames.flatMap(({ seq, tail }) => (tail === null ? [] : [{ seq, tail }]));
  return [...model, ...labelled].slice(-512);
}

function endsWith(model: Model, seq: number, mark: string): boolean {
  return model.findLast((one) => one.seq === seq)?.tail === mark;
}

const frame = fc.record({
  seq: fc.integer({ min: 0, max: 40 }),
  tail: fc.option(fc.integer({ min: 0, max: 3 }).map(markOf)),
});
/** Frames of one read, and the number of the state that they follow, counted back from the newest. */
const reads = fc.array(
  fc.record({ frames: fc.array(frame, { maxLength: 300 }), back: fc.integer({ min: 0, max: 3 }) }),
  { minLength: 1, maxLength: 30 },
);

describe('the frames that a stream has delivered', () => {
  it('equal a list of the newest 512 with labels, also if several reads follow the same frames', () => {
    fc.assert(
      fc.property(reads, (steps) => {
        const states: { seen: SeenFrames; model: Model }[] = [{ seen: SeenFrames.none, model: [] }];
        for (const { frames, back } of steps) {
          const from = states.at(-1 - back) ?? states[0];
          if (!from) throw new Error('there is no state');
          states.push({ seen: from.seen.followedBy(frames), model: followed(from.model, frames) });
        }
        const probes = Array.from({ length: 41 * 4 }, (_, i) => [i % 41, markOf(Math.floor(i / 41))] as const);
        const found = states.map(({ seen }) => probes.map(([seq, mark]) => seen.endsWith(seq, mark)));
        expect(found).toEqual(states.map(({ model }) => probes.map(([seq, mark]) => endsWith(model, seq, mark))));
      }),
      { numRuns: 60 },
    );
  });

  it('do not remember the frame before the newest 512', () => {
    const frames = Array.from({ length: 513 }, (_, seq) => ({ seq, tail: markOf(seq) }));
    const seen = frames.reduce((state, one) => state.followedBy([one]), SeenFrames.none);
    expect([0, 1, 512].map((seq) => seen.endsWith(seq, markOf(seq)))).toEqual([false, true, true]);
  });
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { eventFrames } from '../../harness/classifier/frames.ts';
import { createReader, eventMeaningOf } from '../../harness/classifier/reference.ts';
import { createEventsClassifier, ResyncMemory } from '../../src/weather/classify/classify-events.ts';

/** A re-sync detector that remembers no rows, because the full parse classifies each frame separately. */
class NoRows extends ResyncMemory {
  override isRow(): boolean {
    return false;
  }
}

it('a frame of the subscribeEvents method has the same result in one pass as in a full parse', () => {
  const read = createReader(createEventsClassifier(new NoRows(1)));
  const outcomes = new Map<string, number>();
  fc.assert(
    fc.property(eventFrames, (frame) => {
      const meaning = read(frame);
      outcomes.set(meaning.outcome, (outcomes.get(meaning.outcome) ?? 0) + 1);
      expect(meaning, frame.toString('latin1')).toEqual(eventMeaningOf(frame));
    }),
    { numRuns: 10_000 },
  );
  expect(outcomes.get('counted')).toBeGreaterThan(1000);
  expect(outcomes.get('no_time_us')).toBeGreaterThan(200);
});

it('a damaged frame of the subscribeEvents method has the same result in one pass as in a full parse', () => {
  const read = createReader(createEventsClassifier(new NoRows(1)));
  let refused = 0;
  fc.assert(
    fc.property(eventFrames, fc.nat(), fc.nat(255), (frame, place, byte) => {
      const damaged = Buffer.from(frame);
      damaged[place % frame.length] = byte;
      const meaning = read(damaged);
      if (meaning.outcome === 'parse_error') refused += 1;
      expect(meaning, damaged.toString('latin1')).toEqual(eventMeaningOf(damaged));
    }),
    { numRuns: 10_000 },
  );
  expect(refused).toBeGreaterThan(1000);
});

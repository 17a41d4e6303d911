import { describe, expect, it } from 'vitest';
import { noon, numberedBatch } from '../../../../harness/conformance/labels.ts';
import { IdentitySet } from '../../common/identity-set.ts';
import { duplicateHorizon } from '../../port.ts';
import { micros } from '../../time.ts';
import { WaitingBatches } from './commit.ts';
import { SourceNumbers } from './source-numbers.ts';

const ignore = (): void => undefined;
/** Time of a mark that is set while batches have waited for 36 s. */
const at = micros(noon + 36_000_000);

function waitingBatches(): WaitingBatches {
  return new WaitingBatches(new IdentitySet(duplicateHorizon), new SourceNumbers(), ignore);
}

describe('a mark', () => {
  it('is not later than a batch that has waited for a long time, which is then accepted', () => {
    const batches = waitingBatches();
    batches.add(numberedBatch(1, noon, 2), ignore, ignore);
    batches.add(numberedBatch(2, noon + 1_000_000, 2), ignore, ignore);
    const time = batches.mark(at);
    expect(batches.take().map(({ first, last }) => [first, last])).toEqual([
      [noon, noon + 1],
      [noon + 1_000_000, noon + 1_000_001],
    ]);
    expect(time).toBe(noon);
  });

  it('precedes the rows of a batch that is appended later', () => {
    const batches = waitingBatches();
    batches.mark(at);
    batches.add(numberedBatch(1, at - 1_000_000, 2), ignore, ignore);
    expect(batches.take()).toMatchObject([{ first: at, last: at + 1 }]);
  });
});

import { describe, expect, it } from 'vitest';
import { noon, numberedBatch } from '../../../../harness/conformance/labels.ts';
import { micros } from '../../time.ts';
import { UnansweredCommits } from './unanswered.ts';

const batch = numberedBatch(1, noon, 3);
const [repeat, ...fresh] = batch.observations;
const sent = [{ batch, fresh: fresh.map((observation) => ({ observation })), first: micros(noon + 5) }];
const before = { last: noon, through: noon };
const after = { last: micros(noon + 6), through: micros(noon + 5) };
const later = { last: micros(noon + 20), through: micros(noon + 19) };
const nothing = { accepted: 0, duplicates: [], first: null, last: null };

describe('a commit whose reply was lost', () => {
  it('leaves nothing of its batch to append if the database contains it, and is reported as its reply would have been', () => {
    const commits = new UnansweredCommits();
    commits.add(sent, before, after);
    commits.settle(after);
    expect(commits.rest(batch)).toEqual({ ...batch, observations: [], refusals: [] });
    expect(commits.complete(batch, nothing)).toEqual({
      ...{ accepted: 2, duplicates: [0], first: noon + 5, last: noon + 6 },
    });
    expect(commits.rest(batch)).toBe(batch);
  });

  it('leaves its whole batch to append if the database does not contain it', () => {
    const commits = new UnansweredCommits();
    commits.add(sent, before, after);
    commits.settle(before);
    expect(commits.rest(batch)).toBe(batch);
  });

  it('is still recognized if the database stores it after a later commit has failed', () => {
    const commits = new UnansweredCommits();
    commits.add(sent, before, after);
    commits.settle(before);
    commits.add([{ ...sent[0], batch, fresh: [], first: noon }], before, later);
    commits.settle(after);
    expect(commits.rest({ ...batch, observations: fresh })).toMatchObject({ observations: [], refusals: [] });
  });

  it('is not recognized after a later commit with a reply', () => {
    const commits = new UnansweredCommits();
    commits.add(sent, before, after);
    commits.clear();
    commits.settle(after);
    expect(commits.rest(batch)).toBe(batch);
  });

  it('completes the result of a part that is appended with other labels', () => {
    const commits = new UnansweredCommits();
    commits.add(sent, before, after);
    commits.settle(after);
    const others = numberedBatch(2, noon, 2).observations;
    const again = { ...batch, observations: [...others, ...(repeat ? [repeat] : []), ...fresh] };
    const stored = { accepted: 1, duplicates: [1], first: micros(noon + 30), last: micros(noon + 30) };
    expect([commits.rest(again).observations, commits.complete(again, stored)]).toEqual([
      others,
      { accepted: 3, duplicates: [1, 2], first: noon + 5, last: noon + 30 },
    ]);
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { labelers, labelNumber, noon, observationOf, subjects } from '../../../harness/conformance/labels.ts';
import { StoreModel } from '../../../harness/conformance/model.ts';
import { kinds, later, problems } from '../../../harness/conformance/suite.ts';
import type { Micros } from '../../../src/contract/timestamp.ts';
import { signatureVerdicts, targetKinds } from '../../../src/contract/vocabulary.ts';
import type { AccountChunk, AccountFilter, Batch, Observation, StoreWriter } from '../../../src/store/port.ts';
import { day, hour, micros, minute, second } from '../../../src/store/time.ts';

describe.each(kinds)('a $name store', (kind) => {
  // The histories are divided into several tests, because each test has a time limit and a loaded machine is slow.
  it.each([1, 2, 3, 4])(
    'agrees with a model on rows, chunks, intervals, counts, refusals and positions, in sealed and open days (part %i)',
    async () => {
      await fc.assert(
        fc.asyncProperty(history, fc.array(question, { minLength: 4, maxLength: 4 }), async (steps, questions) => {
          const own = await kind.place();
          const subject = await own.write(noon);
          try {
            await agree(subject, steps, questions);
          } finally {
            await subject.close();
            await own.remove();
          }
        }),
        { numRuns: 30 },
      );
    },
  );
});

/** Generates a step in a store's history, in which time passes, labels arrive, and maintenance may run. */
const step = fc.record({
  wait: fc.oneof(
    fc.integer({ min: 0, max: 90 * second }),
    fc.integer({ min: 0, max: 3 * hour }),
    fc.constantFrom(day / 2, day, day + 1, 3 * day),
  ),
  labels: fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 25 }),
  refused: fc.array(
    fc.record({
      source: fc.constantFrom(...labelers),
      reason: fc.constantFrom('late', 'future'),
      count: fc.integer({ min: 1, max: 9 }),
    }),
    { maxLength: 2 },
  ),
  position: fc.option(fc.record({ source: fc.constantFrom(...labelers), value: fc.option(fc.constantFrom('1', '2')) })),
  maintain: fc.boolean(),
});
const history = fc.array(step, { minLength: 1, maxLength: 10 });
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Generates a query whose start and end are fractions of the history, with the kind of read. */
const question = fc.record({
  from: fc.double({ min: 0, max: 1, noNaN: true }),
  to: fc.double({ min: 0, max: 1, noNaN: true }),
  align: fc.constantFrom(1, second, minute, hour),
  // With an offset, the interval starts and ends at a row, or one microsecond before or after it, to detect off-by-one
  // errors.
  offset: fc.option(fc.constantFrom(-1, 0, 1)),
  account: fc.constantFrom(...subjects),
  order: fc.constantFrom('oldest', 'newest'),
  limit: fc.integer({ min: 1, max: 7 }),
  filter: fc.record(
    {
      labeler: fc.constantFrom(...labelers, 'did:web:nobody.example'),
      value: fc.constantFrom('spam', 'porn', 'none'),
      removed: fc.boolean(),
      target: fc.constantFrom(...targetKinds),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<AccountFilter>,
});
type Question = typeof question extends fc.Arbitrary<infer T> ? T : never;

async function agree(store: StoreWriter, steps: readonly Step[], questions: readonly Question[]): Promise<void> {
  const model = new StoreModel();
  let now = noon;
  // Give the labels of each period of two days another `exp`, because the store need not detect older duplicates.
  for (const [i, { wait, labels, refused, position, maintain }] of steps.entries()) {
    now = later(now, wait);
    const age = Math.floor((now - noon) / (2 * day));
    const observations = labels.map((n) => ({
      ...observationOf(labelNumber(n, { exp: `${age}` })),
      signature: signatureVerdicts[n % signatureVerdicts.length] ?? 'verified',
      live: n % 2 === 0,
    }));
    const positions = position ? [{ ...position, endpoint: 'https://e.example' }] : [];
    const asked: Batch = { at: now, observations, refusals: refused as Batch['refusals'], positions };
    expect(await store.append(asked), `step ${i}`).toEqual(model.append(asked));
    if (maintain) await store.maintain(now);
  }
  const end = later(now, hour);
  for (const { from, to, align, offset, account, order, limit, filter } of questions) {
    const instant = (share: number): number => {
      const row = model.rows[Math.floor(share * (model.rows.length - 1))];
      return offset !== null && row
        ? row.observedAt + offset
        : Math.floor((noon + share * (end - noon)) / align) * align;
    };
    const length = offset === null ? align : 1;
    const start = Math.max(noon, Math.min(instant(from), instant(to)));
    const interval = { start: micros(start), end: micros(Math.max(start + length, instant(from), instant(to))) };
    const rows: Observation[] = [];
    let next: Micros | null = null;
    do {
      const chunk = await store.readAccount({ account, ...interval, order, after: next, limit });
      expect(chunk.rows.length).toBeLessThanOrEqual(limit);
      rows.push(...chunk.rows);
      next = chunk.next;
    } while (next !== null);
    expect(rows).toEqual(model.account(account, interval, order));
    expect(await store.accountIntervals({ account, ...interval, maxRows: limit, budget: 1e6 })).toEqual(
      model.intervals(account, interval, limit),
    );
    const filtered = await store.readAccount({ account, ...interval, order, after: null, limit: 500, filter });
    expect(filtered).toEqual({ rows: model.account(account, interval, order, filter), next: null });
    const bounded: Observation[] = [];
    for (let after: Micros | null = null, first = true; first || after !== null; first = false) {
      const asked = { account, ...interval, order: 'oldest', after, limit: 500, filter, passes: 40 } as const;
      const chunk: AccountChunk = await store.readAccount(asked);
      bounded.push(...chunk.rows);
      after = chunk.next;
    }
    expect(bounded).toEqual(model.account(account, interval, 'oldest', filter));
    expect(await store.tallyAccount({ account, ...interval, filter, budget: 1e6 })).toEqual(
      model.tally(account, interval, filter),
    );
    expect(await store.countsByLabeler(interval)).toEqual(model.byLabeler(interval));
    expect(await store.labelersActive(interval)).toBe(model.byLabeler(interval).length);
    expect(await store.refusals(interval)).toEqual(model.refusals(interval));
    expect(await store.labelerCounters(interval)).toEqual(model.labelerCounters(interval, noon));
    if (interval.start % hour === 0 && interval.end % hour === 0) {
      expect(await store.countsOverTime({ ...interval, bucket: 'hour' })).toEqual(model.overTime(interval, hour));
    }
  }
  expect(await store.positions()).toEqual(model.positions());
  expect(await problems(store)).toEqual([]);
}

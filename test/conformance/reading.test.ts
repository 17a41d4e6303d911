import { describe, expect, it } from 'vitest';
import { scanAccount } from '../../src/store/scan.ts';
import { dayStart, micros } from '../../src/store/time.ts';
import { labelers, labelNumber, noon, observationOf, subjects } from './labels.ts';
import { around, batch, collect, kinds, later, useStore } from './suite.ts';

const [alice = '', bob = ''] = subjects;
const [mod = '', other = ''] = labelers;

describe.each(kinds)('reading over $name', (kind) => {
  const on = useStore(kind);

  describe('reading an account', () => {
    it('finds labels of the account and of its records together, and nobody else’s', async () => {
      const uris = [alice, `at://${alice}/app.bsky.feed.post/3l`, `at://${alice}`, bob, `at://${bob}/a.b.c/${alice}`];
      const observations = uris.map((uri, i) => observationOf(labelNumber(i, { uri })));
      await on.store.append({ ...batch(noon, []), observations });
      const chunk = await on.store.readAccount({
        account: alice,
        ...around(noon),
        order: 'oldest',
        after: null,
        limit: 500,
      });
      expect(chunk.rows.map((row) => row.label.uri)).toEqual(uris.slice(0, 3));
      expect(chunk.next).toBeNull();
    });

    it('refuses an interval that begins before the floor, even by a microsecond', async () => {
      const query = { account: alice, order: 'oldest', after: null, limit: 1, end: later(noon, 1) } as const;
      await expect(on.store.readAccount({ ...query, start: micros(noon - 1) })).rejects.toMatchObject({
        code: 'out_of_window',
      });
      await expect(on.store.readAccount({ ...query, start: noon })).resolves.toEqual({ rows: [], next: null });
    });

    it.each([[0], [501], [1.5]])('refuses a chunk of %s rows', async (limit) => {
      const query = { account: alice, ...around(noon), order: 'oldest', after: null, limit } as const;
      await expect(on.store.readAccount(query)).rejects.toMatchObject({ code: 'invalid_query' });
    });

    it('stops a scan beyond its budget', async () => {
      await on.store.append(batch(noon, [0, 4, 8]));
      const query = { account: alice, ...around(noon), order: 'oldest' } as const;
      expect(await collect(scanAccount(on.store, query, 3))).toHaveLength(3);
      await expect(collect(scanAccount(on.store, query, 2))).rejects.toMatchObject({ code: 'budget_exceeded' });
      await expect(on.store.accountIntervals({ ...query, maxRows: 9, budget: 2 })).rejects.toMatchObject({
        code: 'budget_exceeded',
      });
    });
  });

  it('counts today anew, however often it was asked before', async () => {
    const today = dayStart(20_001);
    const whole = { start: today, end: dayStart(20_002) };
    for (let n = 0; n < 3; n++) {
      await on.store.append({
        ...batch(later(today, n), [3 * n + 1]),
        refusals: [{ source: mod, reason: 'late', count: 1 }],
      });
      expect(await on.store.countsByLabeler(whole)).toMatchObject([{ labeler: other, applied: n + 1 }]);
      expect(await on.store.refusals(whole)).toEqual([{ source: mod, reason: 'late', count: n + 1 }]);
    }
  });

  it('refuses to read where there is no store', async () => {
    const empty = await kind.place();
    await expect(empty.read()).rejects.toMatchObject({ code: 'not_a_store' });
    await empty.remove();
  });
});

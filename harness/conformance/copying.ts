import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CopyEvent, copyStore } from '../../src/store/copy/copy-store.ts';
import type { CopiedRow, CopySource, CopyTarget } from '../../src/store/copy/parts.ts';
import type { StoreWriter } from '../../src/store/port.ts';
import { day, micros } from '../../src/store/time.ts';
import { everything, fill, filledDays, observations } from '../copy/content.ts';
import { noon } from './labels.ts';
import { kinds, later, problems, type StoreKind, type StorePlace } from './suite.ts';

/** Direction of a copy: the implementations of the source and of the target. */
interface Direction {
  readonly from: StoreKind;
  readonly to: StoreKind;
}

/** Directions that make every implementation the source of one copy and the target of another copy. */
export const eachOnce: readonly Direction[] = kinds.flatMap((from, at) => {
  const to = kinds[(at + 1) % kinds.length];
  return to === undefined ? [] : [{ from, to }];
});

/** All other directions, including copies to the same implementation. */
export const otherDirections: readonly Direction[] = kinds
  .flatMap((from) => kinds.map((to) => ({ from, to })))
  .filter(({ from, to }) => !eachOnce.some((one) => one.from === from && one.to === to));

/** Defines the conformance tests of copies. */
export function describeCopies(directions: readonly Direction[]): void {
  describe.each(directions)('a copy from $from.name to $to.name', ({ from, to }) => {
    let old: StorePlace;
    let place: StorePlace;
    let store: StoreWriter;
    let through = 0;
    let events: CopyEvent[] = [];
    beforeEach(async () => {
      [old, place] = [await from.place(), await to.place()];
      store = await old.write(noon);
      through = await fill(store, 1);
      events = [];
    });
    afterEach(async () => {
      await store.close();
      await old.remove();
      await place.remove();
    });

    /** Copies the source. `wait` is called while another process writes to the source. */
    async function copy({ once = false, wait = () => Promise.resolve(), wrap = (ends: Ends): Ends => ends } = {}) {
      const source = await old.copied();
      try {
        const { epoch } = await source.look();
        const target = await place.copy(epoch.generationId);
        try {
          return await copyStore({ ...wrap({ source, target }), once, report: (event) => events.push(event), wait });
        } finally {
          await target.close();
        }
      } finally {
        await source.close();
      }
    }

    it('contains everything in the source, keeps its generation and can be opened for writing', async () => {
      const before = await everything(store, through, store);
      await store.close();
      expect(await copy()).toBe(true);
      const reader = await place.read();
      expect(await problems(reader)).toEqual([]);
      const { rows, ...rest } = await everything(reader, through);
      await reader.close();
      expect(rows).toEqual(before.rows);
      expect(before).toMatchObject(rest);
      const writer = await place.write(later(through, 10));
      expect(await everything(writer, through, writer)).toEqual(before);
      const again = observations(400, 1).slice(380);
      const result = await writer.append({ at: later(through, 20), observations: again, refusals: [], positions: [] });
      expect(result.duplicates).toHaveLength(again.length);
      await writer.maintain(later(through, 3 * day));
      expect(await problems(writer)).toEqual([]);
      expect(await everything(writer, through)).toMatchObject({ rows });
      await writer.close();
    });

    it('follows the rows, removals, sealed days and expired days of a store that is being written, until its writer stops', async () => {
      const [gone = ''] = (await store.countsByLabeler({ start: noon, end: micros(through + day) })).map(
        ({ labeler }) => labeler,
      );
      const steps = [
        () => store.append({ at: later(through, day), observations: observations(30, 2), refusals: [], positions: [] }),
        async () => {
          await store.requestPurge({ source: gone, at: later(through, day + 5_000_000) });
          while (await store.purge(later(through, day + 6_000_000)));
        },
        async () => {
          await store.close();
          store = await old.write(later(through, 2 * day), { windowDays: filledDays });
          await store.append({
            at: later(through, 2 * day),
            observations: observations(9, 3),
            refusals: [],
            positions: [],
          });
          await store.maintain(later(through, 2 * day));
        },
      ];
      let expected: unknown;
      const wait = async (): Promise<void> => {
        const step = steps.shift();
        if (step) await step();
        else {
          expected = await everythingSince(store);
          await store.close();
        }
      };
      expect(await copy({ wait })).toBe(true);
      const reader = await place.read();
      expect(await problems(reader)).toEqual([]);
      expect(await everythingSince(reader)).toEqual(expected);
      await reader.close();
      expect(events.map(({ kind }) => kind)).toEqual(
        expect.arrayContaining(['following', 'again', 'dropped', 'verified']),
      );
    });

    it('cannot be opened before it is complete, and then makes the source reject writers until the source is reopened', async () => {
      expect(await copy({ once: true })).toBe(false);
      await expect(place.read()).rejects.toMatchObject({ code: 'unfinished_copy' });
      await expect(place.write(noon)).rejects.toMatchObject({ code: 'unfinished_copy' });
      await store.append({ at: later(through, 5), observations: observations(9, 4), refusals: [], positions: [] });
      await store.close();
      expect(await copy()).toBe(true);
      await expect(copy()).rejects.toMatchObject({ code: 'occupied' });
      await expect(old.write(noon)).rejects.toMatchObject({ code: 'moved' });
      const [before, after] = [await old.read(), await place.read()];
      expect(await everything(after, through)).toEqual(await everything(before, through));
      await before.close();
      await after.close();
      const source = await old.copied();
      await expect(source.freeze()).resolves.toBe(true);
      await expect(source.reopen()).resolves.toBe(true);
      await source.close();
      store = await old.write(later(through, 10));
    });

    it('is not completed if a stored row differs from the row that was read', async () => {
      await store.close();
      const altered = ({ source, target }: Ends): Ends => {
        const add = target.add.bind(target);
        target.add = (rows, progress) => add(rows.map(alteredRow), progress);
        return { source, target };
      };
      await expect(copy({ wrap: altered })).rejects.toMatchObject({
        code: 'damaged',
        message: expect.stringContaining('digest'),
      });
      await expect(place.read()).rejects.toMatchObject({ code: 'unfinished_copy' });
      expect(await copy()).toBe(true);
    });

    it('cannot be continued as a copy of another store', async () => {
      await copy({ once: true });
      await expect(place.copy('another')).rejects.toMatchObject({ code: 'occupied' });
    });
  });
}

interface Ends {
  readonly source: CopySource;
  readonly target: CopyTarget;
}

function alteredRow(row: CopiedRow, i: number): CopiedRow {
  return i === 7 ? { ...row, observation: { ...row.observation, live: true, signature: 'invalid' } } : row;
}

/**
 * Returns the frontier and the purges of a store, and its counts from the floor onwards. Days before the floor have
 * expired.
 */
async function everythingSince(
  store: Pick<StoreWriter, 'frontier' | 'countsByLabeler' | 'labelerCounters' | 'refusals' | 'purges'>,
) {
  const frontier = await store.frontier();
  const span = { start: frontier.floor, end: micros(frontier.end + day) };
  return {
    frontier,
    counts: await store.countsByLabeler(span),
    counters: await store.labelerCounters(span),
    purges: await store.purges(),
  };
}

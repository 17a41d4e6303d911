import { isDeepStrictEqual } from 'node:util';
import type { Sim } from '../../sim/index.ts';
import { type Expected, verdict } from '../../sim/labelers/truth.ts';
import { readPosition } from '../../src/labels/label/position.ts';
import { openStoreReader } from '../../src/store/open.ts';
import { type Interval, micros } from '../../src/store/time.ts';

/** Compares the store of an interrupted process with the labels emitted so far. With `verified`, it also verifies each day. */
export async function compareStore(sim: Sim, url: string, { verified = true } = {}) {
  const store = await openStoreReader(url);
  const problems: string[] = [];
  try {
    const { startedAt } = await store.epoch();
    const span: Interval = { start: startedAt, end: micros(Date.now() * 1000 + 3_600_000_000) };
    // Read the positions before the rows, because an instrument may still store both.
    const positions = await store.positions();
    const counts = new Map((await store.countsByLabeler(span)).map(({ labeler, ...actions }) => [labeler, actions]));
    const wanted = sim.labelers.truth.expected({ epochUs: startedAt, which: 'emitted' });
    for (const { source, value } of positions) {
      const position = readPosition(value);
      // An entry without a position stores which refused rows were counted.
      if (position === null) continue;
      // Live labels are read before earlier missing ones, so a number becomes a position only when all labels before it
      // are stored.
      const through = Math.max(position.seq ?? 0, position.cursor ?? 0);
      // The seq numbers of this labeler are the labels' own numbers.
      const due = [...sim.labelers.truth.emitted(startedAt - 1_000_000, Number.POSITIVE_INFINITY, source)].filter(
        (label) => label.n <= through && verdict(label, startedAt, label.emittedUs) === null,
      ).length;
      const { applied = 0, removed = 0 } = counts.get(source) ?? {};
      if (applied + removed < due) problems.push(`the position of ${source} is ${due - applied - removed} rows ahead`);
    }
    for (const [labeler, { applied, removed }] of counts) {
      const { applied: most = 0, removed: emittedRemoved = 0 } = wanted.byAction.get(labeler) ?? {};
      if (applied > most || removed > emittedRemoved)
        problems.push(`more rows of ${labeler} are stored than it emitted`);
    }
    const refused: Record<string, number> = {};
    for (const { reason, count } of await store.refusals(span)) {
      if (reason !== 'duplicate') refused[reason] = (refused[reason] ?? 0) + count;
    }
    const due = refusedOf(wanted);
    for (const [reason, count] of Object.entries(refused)) {
      if (count > (due[reason] ?? 0))
        problems.push(`${count} refusals as ${reason} were counted, but only ${due[reason] ?? 0} are expected`);
    }
    if (verified) for await (const day of store.verify()) problems.push(...day.problems);
    const rows = [...counts.values()].reduce((sum, { applied, removed }) => sum + applied + removed, 0);
    const whole = isDeepStrictEqual(counts, wanted.byAction) && isDeepStrictEqual(refused, due);
    const missing = [...wanted.byAction].flatMap(([labeler, { applied, removed }]) => {
      const found = counts.get(labeler) ?? { applied: 0, removed: 0 };
      const count = applied + removed - found.applied - found.removed;
      const at = positions.find(({ source, value }) => source === labeler && readPosition(value) !== null)?.value;
      return count === 0 ? [] : [`${count} rows of ${labeler}, which is read to ${at ?? 'no position'}`];
    });
    return { rows, refused, emitted: wanted.accepted, whole, missing, problems };
  } finally {
    await store.close();
  }
}

/**
 * Returns the expected refusals by the store's reasons. Omits duplicates, because their number depends on how labels
 * were read.
 */
function refusedOf({ refused: { foreign, duplicate: _, ...others } }: Expected): Record<string, number> {
  return Object.fromEntries(Object.entries({ foreign_src: foreign, ...others }).filter(([, count]) => count > 0));
}

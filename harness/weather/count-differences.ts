import type { Sim } from '../../sim/index.ts';
import type { Certainty } from '../../sim/truth.ts';
import { windowUs } from '../../src/weather/window/window.ts';
import { deliveredMinutes, deliveredResync, type Kept, minutesOf } from './weather-kept.ts';

/** The part of a store that contains counts. */
type Counted = Pick<Kept, 'endpoint' | 'fromUs' | 'toUs' | 'countedAtEnd' | 'rows'>;

/**
 * Returns the differences between the stored counts and the delivered events. If a write of the host failed, the
 * host's record does not show which events arrived: every count between the certain and the possible number is then
 * correct.
 */
export function countDifferences(sim: Pick<Sim, 'truth'>, kept: Counted): string[] {
  const { least, most } = bounds(sim, kept);
  const stored = new Map(minutesOf(kept).map((minute) => [minute.startUs, minute]));
  const problems: string[] = [];
  for (const [startUs, atMost] of most) {
    const minute = countsOf(stored.get(startUs));
    const atLeast = countsOf(least.get(startUs));
    stored.delete(startUs);
    const different = Object.entries(countsOf(atMost)).filter(([name, maximum]) => {
      const count = minute[name] ?? 0;
      return count < (atLeast[name] ?? 0) || count > maximum;
    });
    const [first] = different;
    if (first === undefined) continue;
    const [name, maximum] = first;
    const minimum = atLeast[name] ?? 0;
    const wanted = minimum === maximum ? `${maximum}` : `${minimum} to ${maximum}`;
    problems.push(
      `${instant(startUs)}: ${different.length} counts differ, ${name} is ${minute[name] ?? 0}, not ${wanted}`,
    );
  }
  for (const startUs of stored.keys())
    problems.push(`${instant(startUs)}: events were counted, but none were delivered`);
  return [...problems, ...resyncDifferences(sim, kept)];
}

function resyncDifferences(sim: Pick<Sim, 'truth'>, kept: Counted): string[] {
  const rows = kept.rows.reduce((sum, { resync }) => sum + resync, 0);
  const [least, most] = [deliveredResync(sim, kept, 'certain'), deliveredResync(sim, kept, 'possible')];
  return rows >= least && rows <= most ? [] : [`${rows} rows of a re-sync are stored, expected ${least} to ${most}`];
}

type Minute = Pick<ReturnType<typeof deliveredMinutes>[number], 'startUs' | 'events'> & { readonly metrics: object };

function byStart(sim: Pick<Sim, 'truth'>, kept: Counted, certainty: Certainty): Map<number, Minute> {
  return new Map(deliveredMinutes(sim, kept, certainty).map((minute) => [minute.startUs, minute]));
}

/**
 * Returns the lowest and the highest correct counts by minute. Several events can share the last `time_us`.
 * `countedAtEnd` is the number of these events that must be counted; if it is null, at least one must be counted.
 */
function bounds(sim: Pick<Sim, 'truth'>, kept: Counted): Record<'least' | 'most', Map<number, Minute>> {
  const before = { ...kept, toUs: kept.toUs - 1 };
  const [least, most] = [byStart(sim, before, 'certain'), byStart(sim, kept, 'possible')];
  const last = most.get(Math.floor(kept.toUs / windowUs) * windowUs);
  if (last === undefined) return { least, most };
  const { startUs } = last;
  const certain = least.get(startUs) ?? { startUs, events: 0, metrics: {} };
  const possible = byStart(sim, before, 'possible').get(startUs)?.events ?? 0;
  const atEnd = last.events - possible;
  const counted =
    kept.countedAtEnd === null ? { least: 1, most: atEnd } : { least: kept.countedAtEnd, most: kept.countedAtEnd };
  least.set(startUs, { ...certain, events: certain.events + Math.min(counted.least, atEnd) });
  most.set(startUs, { ...last, events: possible + Math.min(counted.most, atEnd) });
  return { least, most };
}

function countsOf(minute: Pick<Minute, 'events' | 'metrics'> | undefined): Readonly<Record<string, number>> {
  return minute === undefined ? {} : { events: minute.events, ...minute.metrics };
}

function instant(us: number): string {
  return new Date(us / 1000).toISOString();
}

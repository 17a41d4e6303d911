import { type LabelsHours, recogniseLabelsHours } from '../../src/artifact/hours/labels-hours.ts';
import { closedHours, FilledInCounts, HourCounts, SourceHistory } from '../../src/labels/publish/hours/hour-counts.ts';
import { makeHours } from '../../src/labels/publish/hours/labels-hours.ts';
import { FilledInReader } from '../../src/labels/state/filled-in.ts';
import { hour, micros, minute } from '../../src/store/time.ts';
import { type SimulatedOutage, SimulatedOutages } from './simulated-outages.ts';

/** One hour of one labeler, as the hours files state it. */
export interface RatedHour {
  /** Number of the hour since 1970. */
  readonly hour: number;
  readonly labels: number;
  readonly observedSeconds: number;
  readonly lateLabels: number;
  readonly lateSeconds: number;
}

/** The hours of a simulated observation, as the archive would keep them. */
export interface RatedHours {
  readonly byLabeler: ReadonlyMap<string, ReadonlyMap<number, RatedHour>>;
  /** Published sum of the labelers' rates, by hour; null if no labeler was observed long enough. */
  readonly sums: ReadonlyMap<number, number | null>;
  /** Every published hours file, oldest first. */
  readonly files: readonly LabelsHours[];
}

/** Options of a simulated observation. */
interface RatedOptions {
  readonly dids: readonly string[];
  readonly startedAt: number;
  readonly days: number;
  readonly perHour: (labeler: number, hourNumber: number) => number;
  readonly outages: readonly SimulatedOutage[];
}

/** Minutes with the number of accepted rows of each labeler. */
type RowsByMinute = Map<number, Map<string, number>>;

/**
 * Lets the instrument observe through the outages, publishes an hours file every twelve hours, and keeps the newest
 * statement about each complete hour.
 */
export async function ratedHours({ days, ...options }: RatedOptions): Promise<RatedHours> {
  const rows: RowsByMinute = new Map();
  const accepted = (labeler: string, at: number): void => {
    const own = rows.get(Math.floor(at / minute)) ?? new Map<string, number>();
    own.set(labeler, (own.get(labeler) ?? 0) + 1);
    rows.set(Math.floor(at / minute), own);
  };
  const simulated = new SimulatedOutages({ ...options, accepted });
  const result = {
    byLabeler: new Map(options.dids.map((did) => [did, new Map<number, RatedHour>()])),
    sums: new Map<number, number | null>(),
    files: [] as LabelsHours[],
  };
  const publisher = createPublisher(rows, options.startedAt);
  for (let at = options.startedAt + 12 * hour; at <= options.startedAt + days * 24 * hour; at += 12 * hour) {
    await simulated.runTo(at + 2 * minute);
    const file = await publisher(simulated, at + 2 * minute);
    result.files.push(file);
    for (const [index, one] of file.hours.entries()) {
      if (!one.complete) continue;
      const number = (Date.parse(one.start) * 1_000) / hour;
      result.sums.set(number, one.labels_per_hour ?? null);
      for (const labeler of file.labelers) {
        const late = labeler.filled_in?.find((part) => part.at === index);
        result.byLabeler.get(labeler.labeler_did)?.set(number, {
          ...{ hour: number, labels: labeler.applications[index] ?? 0 },
          observedSeconds: labeler.observed_seconds[index] ?? 0,
          ...{ lateLabels: late?.applications ?? 0, lateSeconds: late?.observed_seconds ?? 0 },
        });
      }
    }
  }
  return result;
}

function createPublisher(rows: RowsByMinute, startedAt: number) {
  const sumsIn = (from: number, until: number) => {
    const sums = new Map<string, number>();
    for (let at = from; at < until; at += 1) {
      for (const [labeler, count] of rows.get(at) ?? []) sums.set(labeler, (sums.get(labeler) ?? 0) + count);
    }
    return [...sums].map(([labeler, applied]) => ({ labeler, applied, removed: 0 }));
  };
  const frontierAt = (now: number) => ({
    ...{ generationId: '00000000-0000-4000-8000-000000000000', floor: micros(startedAt), revision: 0 },
    ...{ end: micros(now), observedThrough: micros(now) },
  });
  let now = startedAt;
  const store = {
    frontier: async () => frontierAt(now),
    countsByLabeler: async ({ start, end }: { start: number; end: number }) => sumsIn(start / minute, end / minute),
    countsOverTime: async ({ start, end }: { start: number; end: number }) =>
      Array.from({ length: (end - start) / minute }, (_, at) => start / minute + at).flatMap((at) =>
        sumsIn(at, at + 1).map((sum) => ({ ...sum, start: micros(at * minute) })),
      ),
  };
  const [counts, filledIn] = [new HourCounts(store), new FilledInCounts(store)];
  return async (simulated: SimulatedOutages, at: number): Promise<LabelsHours> => {
    now = at;
    const frontier = frontierAt(now);
    const hours = closedHours(now, frontier, startedAt);
    const window = { start: micros(now - 30 * 24 * hour), end: micros(now) };
    const reading = {
      ...{ window, frontier, bursts: new Map(), gaps: simulated.gaps },
      epoch: { generationId: frontier.generationId, startedAt: micros(startedAt) },
      filledIn: await new FilledInReader().read([...simulated.positions.values()]),
    };
    const { head, labelers } = await makeHours({
      ...{ reading, hours, filledIn, counted: await counts.read(hours), entries: simulated.entries() },
      ...{ sources: new SourceHistory(), origin: 'simulated' },
    });
    const recognised = recogniseLabelsHours({ ...head, labelers: labelers.map((json): unknown => JSON.parse(json)) });
    if (recognised.kind !== 'recognised') throw new Error(JSON.stringify(recognised));
    return recognised.artifact;
  };
}

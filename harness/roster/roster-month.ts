import { dice } from '../../sim/random.ts';
import type { RecentOverview } from '../../src/artifact/overview.ts';
import type { Micros } from '../../src/contract/timestamp.ts';
import { windowOf } from '../../src/labels/publish/coverage.ts';
import { makeOverview, type OverviewReading } from '../../src/labels/publish/overview.ts';
import { absenceOf } from '../../src/labels/reading/source-runner.ts';
import { departureOf, isEnrolled } from '../../src/labels/roster/known-labeler.ts';
import { isUnreachable, Reachability } from '../../src/labels/roster/reachability.ts';
import { type Log, silentLog } from '../../src/ops/log.ts';
import { clip } from '../../src/store/gaps.ts';
import { day, hour, micros } from '../../src/store/time.ts';
import { drawLives } from './labeler-life.ts';
import { SimulatedLabeler } from './simulated-labeler.ts';

/** An overview, and the number of labelers that were unreachable when it was created. */
interface Publication {
  readonly at: Micros;
  readonly overview: Omit<RecentOverview, 'hold'>;
  readonly unreachable: number;
}

/** Result of a simulated month. */
interface Month {
  readonly start: Micros;
  readonly labelers: readonly SimulatedLabeler[];
  /** Overviews at intervals of three hours. */
  readonly publications: readonly Publication[];
  /** Number of log messages about labelers that left or returned, by message. */
  readonly logged: ReadonlyMap<string, number>;
}

const start = micros(1_780_000_000_000_000);
const days = 30;

/**
 * Simulates 30 days in which labelers are unreliable, stop and return, after 31 days without a gap. Creates an overview
 * every three hours. The result depends only on the parameters.
 */
export async function simulateMonth({ labelers: count = 700, seed = 1 } = {}): Promise<Month> {
  const chance = dice(seed);
  const epoch = micros(start - 31 * day);
  const labelers = drawLives(count, chance).map((life, i) => {
    const did = `did:plc:${chance.text('abcdefghijklmnopqrstuvwxyz234567', 24)}`;
    return new SimulatedLabeler(did, life, { epoch, start }, dice(seed + i + 1));
  });
  const logged = new Map<string, number>();
  const info: Log['info'] = (message) => void logged.set(message, (logged.get(message) ?? 0) + 1);
  const reachability = new Reachability({ ...silentLog, info });
  const publications: Publication[] = [];
  for (let at = micros(start + 3 * hour); at <= start + days * day; at = micros(at + 3 * hour)) {
    for (const labeler of labelers) {
      labeler.advance(at);
      const absence = absenceOf(labeler.known, 'read', at);
      if (absence) labeler.record(labeler.known.tracker.apply(absence));
    }
    const known = labelers.map(({ known }) => known);
    reachability.look(known, at);
    const unreachable = known.filter((one) => isUnreachable(one, at)).length;
    publications.push({ at, unreachable, overview: await overviewOf(labelers, epoch, at) });
  }
  return { start, labelers, publications, logged };
}

function overviewOf(labelers: readonly SimulatedLabeler[], epoch: Micros, now: Micros) {
  const known = labelers.map(({ known }) => known);
  const enrolled = known.filter((one) => isEnrolled(one, now));
  const window = windowOf(now, days);
  return makeOverview(readingOf(labelers, epoch, now), {
    now,
    windowDays: days,
    origin: 'simulated',
    sources: enrolled.map(({ did, origin, tracker }) => ({ did, origin, state: tracker.state })),
    departures: known.flatMap((one) => departureOf(one, window) ?? []),
    notEnrolled: known.length - enrolled.length,
    unreachable: known.filter((one) => isUnreachable(one, now)).length,
    delayed: enrolled.filter(({ tracker }) => tracker.delayed).length,
    ...{ directoryOnly: 0, dropped: 0, waiting: 0, denied: 0, paused: null, capped: [], dailyRows: 2_000_000 },
  });
}

/** Formats the overviews at the end of selected days as a Markdown table. */
export function monthTable({ start, publications }: Month): string {
  const head = [
    'day',
    'enrolled',
    '`established`',
    'failing',
    'unreachable',
    'status',
    'gaps',
    'their hours',
    'labelers with gaps',
    'over a day',
  ];
  const rows = publications.flatMap(({ at, overview: { coverage, caveats }, unreachable }) => {
    const days = (at - start) / day;
    if (![1, 5, 10, 15, 20, 25, 30].includes(days)) return [];
    const { enrolled, established } = coverage.sources;
    const hours = coverage.gaps.reduce(
      (sum, gap) => sum + (Date.parse(gap.end) - Date.parse(gap.start)) / 3_600_000,
      0,
    );
    const [, some = '0', many = '0', one] =
      /; (\d+) ha\w+ gaps, (?:(\d+|none) of them )?for (more than|at most) a day/.exec(caveats.at(-1) ?? '') ?? [];
    const long = some === '1' ? Number(one === 'more than') : Number(many.replace('none', '0'));
    const cells = [days, enrolled, established, enrolled - established, unreachable, coverage.status];
    return [[...cells, coverage.gaps.length, Math.round(hours), some, long]];
  });
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** Returns the content of a store to which every labeler adds labels while it responds. */
function readingOf(labelers: readonly SimulatedLabeler[], epoch: Micros, now: Micros): OverviewReading {
  const window = windowOf(now, days);
  const since = (from: number): OverviewReading['inWindow'] => ({
    counts: labelers.flatMap(({ known: { did, tracker } }) =>
      (tracker.tracked.lastAnswered ?? 0) >= Math.max(epoch, from) ? [{ labeler: did, events: 1 }] : [],
    ),
    ...{ leftOut: 0, labelers: 0 },
  });
  return {
    epoch: { generationId: '00000000-0000-4000-8000-000000000000', startedAt: epoch },
    frontier: { observedThrough: now, floor: epoch },
    gaps: labelers.flatMap(({ gaps }) => clip(gaps, window)),
    ...{ refusals: [], purges: [], spaceRemoval: null },
    ...{ inWindow: since(window.start), inWeek: since(now - 7 * day), inDay: since(now - day) },
  };
}

import { type Dice, dice } from '../../sim/random.ts';
import type { RecentOverview } from '../../src/artifact/recognise.ts';
import type { Micros } from '../../src/contract/timestamp.ts';
import { admissionLimits } from '../../src/labels/ingest/admission.ts';
import { windowOf } from '../../src/labels/publish/coverage.ts';
import { makeOverview } from '../../src/labels/publish/overview.ts';
import {
  absenceOf,
  departureOf,
  isEnrolled,
  isUnreachable,
  type KnownLabeler,
  Reachability,
} from '../../src/labels/roster/known-labeler.ts';
import type { ReadingEvent } from '../../src/labels/state/reading-events.ts';
import { untracked } from '../../src/labels/state/reading-state.ts';
import { Tracker } from '../../src/labels/state/tracker.ts';
import { liveTimings } from '../../src/labels/stream/outbound.ts';
import { createBackoff } from '../../src/network/websocket/backoff.ts';
import { type Log, silentLog } from '../../src/ops/log.ts';
import { changedGaps, clip, withoutGap } from '../../src/store/gaps.ts';
import type { GapChange, StoredGap } from '../../src/store/port.ts';
import { day, hour, micros } from '../../src/store/time.ts';
import { drawLives, fraction, type Life } from './labeler-life.ts';

type OverviewReading = Parameters<typeof makeOverview>[0];

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
    sources: enrolled.map(({ did, origin, tracker: { tracked } }) => {
      return { did, origin, state: tracked.state, answered: tracked.lastAnswered !== null };
    }),
    departures: known.flatMap((one) => departureOf(one, window) ?? []),
    notEnrolled: known.length - enrolled.length,
    unreachable: known.filter((one) => isUnreachable(one, now)).length,
    delayed: enrolled.filter(({ tracker }) => tracker.delayed).length,
    ...{
      directoryOnly: 0,
      dropped: 0,
      waiting: 0,
      denied: 0,
      paused: null,
      capped: new Map<string, never>(),
      dailyRows: 2_000_000,
    },
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

const never = Number.POSITIVE_INFINITY;

/** Creates the event for a source that has been read completely from `reached` to `now`. */
function caughtUp(reached: Micros, now: Micros): ReadingEvent {
  return { kind: 'caught_up', now, through: now, reached, before: { since: reached, target: reached } };
}

/**
 * A labeler and its reader on a simulated clock, without sockets. The instrument's code determines the states, the
 * delays between attempts and the gaps; the outages determine which attempts succeed.
 */
class SimulatedLabeler {
  readonly known: KnownLabeler;
  readonly life: Life;
  /** Gaps that the store would contain. */
  gaps: readonly StoredGap[] = [];
  /** Times of read attempts while the labeler was not enrolled. */
  readonly lateAttempts: number[] = [];
  readonly #start: number;
  readonly #backoff;
  /** Index of the next or current outage. */
  #outage = 0;
  /** Time of the next read attempt, or `never` while the labeler is being read. */
  #attemptAt = never;

  /** Creates a labeler that was read from `epoch` to `start` without a gap. */
  constructor(did: string, life: Life, { epoch, start }: { epoch: number; start: number }, dice: Dice) {
    this.life = life;
    this.#start = start;
    const tracker = new Tracker(did, untracked(micros(epoch)));
    tracker.apply({ kind: 'asked', now: micros(epoch) });
    tracker.apply({ kind: 'answered', now: micros(epoch), dated: 1, undated: 0, live: null });
    tracker.apply(caughtUp(micros(epoch), micros(start)));
    this.known = {
      ...{ did, origin: 'discovered', provenance: new Set(['relay relay.example']), resolutionStatus: 'labeler' },
      ...{ endpoint: `https://${did.slice('did:plc:'.length)}.example`, pds: null, handle: null },
      ...{ handleConfirmed: false, denied: false, tracker },
    };
    const random = () => fraction(dice);
    const { firstRetryMs: firstMs, maxRetryMs: capMs } = liveTimings;
    this.#backoff = createBackoff({ firstMs, capMs, random });
  }

  /** Advances the clock. A labeler that is being read at that time emits a label. */
  advance(until: number): void {
    for (;;) {
      const breaksAt = this.#attemptAt === never ? this.#outageAfter(this.#lastLive).from : never;
      const next = Math.min(breaksAt, this.#attemptAt);
      if (next > until) break;
      if (next === this.#attemptAt) this.#attempt(Math.floor(next));
      else {
        this.#live(next);
        this.#attemptAt = next + 1_000 * this.#backoff.next();
      }
    }
    if (this.#attemptAt === never) this.#live(until);
  }

  /** Records or withdraws a gap, as the instrument does. */
  record(change: GapChange | null): void {
    if (change?.kind === 'record') this.gaps = changedGaps(this.gaps, { kind: 'record', gap: change.gap });
    if (change?.kind === 'withdraw') this.gaps = withoutGap(this.gaps, change.gap);
  }

  get #lastLive(): number {
    return this.known.tracker.tracked.lastAnswered ?? this.#start;
  }

  /** Returns the first outage that ends after `at`, converted to the clock of the simulation. */
  #outageAfter(at: number): { readonly from: number; readonly until: number } {
    for (;;) {
      const outage = this.life.outages[this.#outage];
      if (!outage) return { from: never, until: never };
      const [from, until] = [this.#start + outage.from, this.#start + outage.until];
      if (until > at) return { from, until };
      this.#outage += 1;
    }
  }

  #attempt(at: number): void {
    const { tracker } = this.known;
    const now = micros(at);
    if (!tracker.enrolled(now)) this.lateAttempts.push(at);
    tracker.apply({ kind: 'asked', now });
    const { from, until } = this.#outageAfter(at);
    if (at < from) {
      this.record(tracker.apply({ kind: 'answered', now, dated: 1, undated: 0, live: null }));
      this.record(tracker.apply(caughtUp(micros(now - admissionLimits.maxLateness), now)));
      this.#backoff.reset();
      this.#attemptAt = never;
      return;
    }
    const isRefused = this.life.kind === 'refusing' && until === never;
    this.record(tracker.apply({ kind: 'failed', now, fault: isRefused ? 'refusing' : 'failed' }));
    const waitMs = tracker.enrolled(now) ? 100 + this.#backoff.next() : liveTimings.notEnrolledMs;
    this.#attemptAt = at + 1_000 * waitMs;
  }

  #live(at: number): void {
    const now = micros(Math.floor(at));
    this.known.tracker.apply({ kind: 'answered', now, dated: 1, undated: 0, live: now });
  }
}

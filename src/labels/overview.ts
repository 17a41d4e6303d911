import type { RecentOverview } from '../artifact/recent-overview.ts';
import { maxTopLabelers } from '../contract/limits.ts';
import type { Micros } from '../contract/timestamp.ts';
import type { LabelerCount, RefusalCount, StoredGap, StoreReader } from '../store/port.ts';
import { removalSentence } from '../store/removals.ts';
import { day, micros } from '../store/time.ts';
import { coverageOf, type EnrolledSource, timestamp, windowOf } from './coverage.ts';
import { maxKnown } from './roster.ts';

/** Input of the overview besides the store. */
export interface OverviewInputs {
  readonly now: Micros;
  readonly windowDays: number;
  readonly origin: 'live' | 'simulated';
  readonly sources: readonly EnrolledSource[];
  /** Gaps of labelers that left the enrolment: from when each is last known to be complete until now. */
  readonly departures: readonly StoredGap[];
  /** Known labelers that are not enrolled. */
  readonly notEnrolled: number;
  /** Enrolled sources whose tries fail just now. */
  readonly delayed: number;
  /** Labelers that were named beyond the bound on how many are known. */
  readonly dropped: number;
  /** Labelers that would be enrolled, beyond the bound on how many are read. */
  readonly waiting: number;
  /** Labelers that the operator denies. */
  readonly denied: number;
  /** Why acceptance stands still, or null. */
  readonly paused: string | null;
  /** DIDs of sources that gave too much today, and are paused. */
  readonly capped: readonly string[];
  /** The most rows that a source may give in a day. */
  readonly dailyRows: number;
}

/** Exclusions of a label overview. */
const doesNotMeasure = [
  'labels that are active now: applications and removals are observed, current state is not',
  'labels of labelers that this instrument does not follow, and labels that were applied before its observation began',
  'what a labeler that keeps only the newest row of each label applied and removed again between two readings',
];

/** Reads the store and makes the overview. Whether it is held is said when it is written. */
export async function makeOverview(store: StoreReader, inputs: OverviewInputs): Promise<Omit<RecentOverview, 'hold'>> {
  const { now, windowDays, origin, sources } = inputs;
  const window = windowOf(now, windowDays);
  const [{ generationId, startedAt }, { observedThrough, floor }] = await Promise.all([
    store.epoch(),
    store.frontier(),
  ]);
  const since = (days: number) => ({ start: micros(Math.max(floor, now - days * day)), end: now });
  const counted = since(windowDays);
  const [inWindow, inWeek, inDay, refusals, gaps] = await Promise.all([
    store.countsByLabeler(counted),
    store.countsByLabeler(since(7)),
    store.countsByLabeler(since(1)),
    store.refusals(counted),
    store.gaps(window),
  ]);
  const removed = removalSentence(await store.purges());
  const unranked = cutShort(await store.gaps(since(7)), inputs.capped);
  const facts = {
    now,
    windowDays,
    startedAt,
    observedThrough,
    gaps: gapsOf(gaps, inputs, inWindow),
    sources,
    refusals,
  };
  return {
    schema: 'labels.recent-overview.v1',
    generated_at: timestamp(now),
    origin,
    window_days: windowDays,
    acquisition: { generation_id: generationId, started_at: timestamp(startedAt), basis: 'local_acceptance_clock' },
    coverage: coverageOf(facts),
    counts: {
      events_24h: total(inDay),
      events_7d: total(inWeek),
      events_window: total(inWindow),
      labelers_active_7d: inWeek.length,
      labelers_active_window: inWindow.length,
    },
    labeler_count: inWindow.length,
    top_labelers_7d: inWeek
      .filter(({ labeler }) => !unranked.has(labeler))
      .slice(0, maxTopLabelers)
      .map((count) => ({ labeler_did: count.labeler, count: count.applied + count.removed })),
    does_not_measure: doesNotMeasure,
    caveats: [...caveatsOf(inputs, inWindow, refusals, unranked.size), ...(removed === null ? [] : [removed])],
  };
}

/** The gaps of every source that the window's facts rest on: those enrolled, and those whose events it counts. */
function gapsOf(
  gaps: readonly StoredGap[],
  { sources, departures }: OverviewInputs,
  inWindow: readonly LabelerCount[],
): StoredGap[] {
  const counted = new Set([...sources.map(({ did }) => did), ...inWindow.map(({ labeler }) => labeler)]);
  return [...gaps, ...departures].filter(({ source }) => source === null || counted.has(source));
}

/** Sources that are counted only in part, because they sent more in a day than is stored: they are not ranked. */
function cutShort(week: readonly StoredGap[], capped: readonly string[]): ReadonlySet<string> {
  const paused = week.flatMap(({ source, reason }) => (source !== null && reason === 'ingest_paused' ? [source] : []));
  return new Set([...capped, ...paused]);
}

/** The instrument's own limits, each with what it is a share of. */
export function caveatsOf(
  { sources, notEnrolled, waiting, delayed, dropped, denied, paused, capped, dailyRows }: OverviewInputs,
  inWindow: readonly LabelerCount[],
  refusals: readonly RefusalCount[],
  unranked: number,
): string[] {
  const reading = new Set(sources.filter(({ state }) => state === 'established').map(({ did }) => did));
  const emitting = inWindow.filter(({ labeler }) => reading.has(labeler));
  const [rows, all] = [total(emitting), total(inWindow)];
  const caveats = [
    `${share(reading.size, sources.length)} that this instrument follows ${are(reading.size)} being read.`,
    `${share(emitting.length, inWindow.length)} whose labels were observed in the window ${are(emitting.length)} being ` +
      `read; ${emitting.length === 1 ? 'it' : 'they'} gave ${rows} of its ${all} events.`,
    `${share(notEnrolled, sources.length + notEnrolled, 'known labeler')} ${are(notEnrolled)} not followed: ` +
      `no document names ${notEnrolled === 1 ? 'its' : 'their'} address, or that never answered. Each is contacted again daily.`,
    'Some labelers keep only one row for each thing and value: what such a one applied and removed again between two ' +
      'readings is not seen.',
  ];
  if (delayed > 0) {
    const late = delayed === 1 ? 'does not respond at the moment; its' : 'do not respond at the moment; their';
    caveats.push(`${share(delayed, sources.length)} that this instrument follows ${late} events arrive late.`);
  }
  if (paused !== null) {
    const all = sources.length === 1 ? 'the one labeler' : `any of the ${sources.length} labelers`;
    caveats.push(`No labels of ${all} are accepted at the moment (${paused}).`);
  }
  if (unranked > 0) {
    caveats.push(
      `${share(capped.length, sources.length)} that this instrument follows ${are(capped.length)} paused until midnight UTC ` +
        `or until there is room, because ${capped.length === 1 ? 'it' : 'they'} used up a share of the day, which is ${dailyRows} labels at most; ` +
        `${unranked} that ${unranked === 1 ? 'was' : 'were'} paused within 7 days ${are(unranked)} not ranked.`,
    );
  }
  if (waiting > 0) {
    const wait = waiting === 1 ? 'waits' : 'wait';
    caveats.push(`${share(waiting, sources.length + waiting)} ${wait}, because no more are read at a time.`);
  }
  if (dropped > 0) {
    const further =
      dropped === 1 ? ' further labeler was' : `${dropped >= maxKnown ? ' or more' : ''} further labelers were`;
    caveats.push(`${dropped}${further} announced beyond the limit of known labelers.`);
  }
  if (denied > 0) {
    caveats.push(
      `${denied} ${denied === 1 ? 'labeler is' : 'labelers are'} denied by the operator of this instrument and not read.`,
    );
  }
  const refused = refusals.filter(({ reason }) => shapeless.has(reason)).reduce((sum, { count }) => sum + count, 0);
  if (refused > 0) {
    caveats.push(
      `${refused} ${refused === 1 ? 'row' : 'rows'} of the window ${refused === 1 ? 'was' : 'were'} refused for form, size or foreign author, of ${all + refused}.`,
    );
  }
  return caveats;
}

/** So many of all: `1 of 11 labelers`. The noun is that of all. */
function share(some: number, all: number, noun = 'labeler'): string {
  return `${some} of ${all} ${noun}${all === 1 ? '' : 's'}`;
}

function are(some: number): string {
  return some === 1 ? 'is' : 'are';
}

const shapeless: ReadonlySet<string> = new Set(['malformed', 'oversized', 'foreign_src']);

function total(counts: readonly LabelerCount[]): number {
  return counts.reduce((sum, { applied, removed }) => sum + applied + removed, 0);
}

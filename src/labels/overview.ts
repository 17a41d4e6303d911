import type { RecentOverview } from '../artifact/recent-overview.ts';
import { maxTopLabelers } from '../contract/limits.ts';
import type { Micros } from '../contract/timestamp.ts';
import type { LabelerCount, RefusalCount, StoredGap, StoreReader } from '../store/port.ts';
import { day, micros } from '../store/time.ts';
import { coverageOf, type EnrolledSource, timestamp, windowOf } from './coverage.ts';
import { maxKnown } from './roster.ts';

/** What the overview is made from besides the store. */
export interface OverviewInputs {
  readonly now: Micros;
  readonly windowDays: number;
  readonly held: boolean;
  readonly origin: 'live' | 'simulated';
  readonly sources: readonly EnrolledSource[];
  /** Known labelers that are not enrolled. */
  readonly notEnrolled: number;
  /** Enrolled sources whose tries fail just now. */
  readonly delayed: number;
  /** Labelers that were named beyond the bound on how many are known. */
  readonly dropped: number;
  /** Labelers that would be enrolled, beyond the bound on how many are read. */
  readonly waiting: number;
  /** Why acceptance stands still, or null. */
  readonly paused: string | null;
  /** DIDs of sources that gave too much today, and are paused. */
  readonly capped: readonly string[];
  /** The most rows that a source may give in a day. */
  readonly dailyRows: number;
}

/** What a label overview never says. */
const doesNotMeasure = [
  'labels that are active now: applications and removals are observed, current state is not',
  'labels of labelers that are not enrolled, and labels that a labeler applied before the epoch',
  'what an account-replacing labeler applied and removed again between two readings',
];

/** Reads the store and makes the overview. */
export async function makeOverview(store: StoreReader, inputs: OverviewInputs): Promise<RecentOverview> {
  const { now, windowDays, held, origin, sources } = inputs;
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
  const unranked = cutShort(await store.gaps(since(7)), inputs.capped);
  const facts = { now, windowDays, startedAt, observedThrough, gaps: gapsOf(gaps, sources), sources, refusals };
  return {
    schema: 'labels.recent-overview.v1',
    generated_at: timestamp(now),
    hold: held,
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
    caveats: caveatsOf(inputs, inWindow, refusals, unranked.size),
  };
}

/** Gaps of sources that are not enrolled any more say nothing about those that are. */
function gapsOf(gaps: readonly StoredGap[], sources: readonly EnrolledSource[]): StoredGap[] {
  const enrolled = new Set(sources.map(({ did }) => did));
  return gaps.filter(({ source }) => source === null || enrolled.has(source));
}

/** Sources that are counted in part alone, because they gave more in a day than is stored: their counts rank nobody. */
function cutShort(week: readonly StoredGap[], capped: readonly string[]): ReadonlySet<string> {
  const paused = week.flatMap(({ source, reason }) => (source !== null && reason === 'ingest_paused' ? [source] : []));
  return new Set([...capped, ...paused]);
}

/** The instrument's own limits, each with what it is a share of. */
export function caveatsOf(
  { sources, notEnrolled, waiting, delayed, dropped, paused, capped, dailyRows }: OverviewInputs,
  inWindow: readonly LabelerCount[],
  refusals: readonly RefusalCount[],
  unranked: number,
): string[] {
  const reading = new Set(sources.filter(({ state }) => state === 'established').map(({ did }) => did));
  const emitting = inWindow.filter(({ labeler }) => reading.has(labeler));
  const [rows, all] = [total(emitting), total(inWindow)];
  const caveats = [
    `${reading.size} of ${sources.length} enrolled sources are being read.`,
    `${emitting.length} of ${inWindow.length} labelers that emitted in the window are being read; ` +
      `they gave ${rows} of its ${all} events.`,
    `${notEnrolled} of ${sources.length + notEnrolled} known labelers are not enrolled: ` +
      'no document names an endpoint of theirs, or that never answered. They are asked again daily.',
    'Labelers that keep one row for each subject and value show what is there at a reading: ' +
      'what came and went between two readings is not seen.',
  ];
  if (delayed > 0) {
    caveats.push(`${delayed} of ${sources.length} enrolled sources do not answer just now; their events come late.`);
  }
  if (paused !== null) caveats.push(`Acceptance is paused for all ${sources.length} sources (${paused}).`);
  if (unranked > 0) {
    caveats.push(
      `${capped.length} of ${sources.length} enrolled sources are paused until midnight UTC, because they gave more than ` +
        `${dailyRows} labels, or a gigabyte of them, in a day; ${unranked} that were paused within 7 days are not ranked.`,
    );
  }
  if (waiting > 0) {
    caveats.push(`${waiting} of ${sources.length + waiting} labelers wait, because no more are read at a time.`);
  }
  if (dropped > 0) {
    const more = dropped >= maxKnown ? ' or more' : '';
    caveats.push(`${dropped}${more} further labelers were named, beyond the bound on how many are known.`);
  }
  const refused = refusals.filter(({ reason }) => shapeless.has(reason)).reduce((sum, { count }) => sum + count, 0);
  if (refused > 0) {
    caveats.push(
      `${refused} rows of the window were refused for their form, size or foreign author, of ${all + refused}.`,
    );
  }
  return caveats;
}

const shapeless: ReadonlySet<string> = new Set(['malformed', 'oversized', 'foreign_src']);

function total(counts: readonly LabelerCount[]): number {
  return counts.reduce((sum, { applied, removed }) => sum + applied + removed, 0);
}

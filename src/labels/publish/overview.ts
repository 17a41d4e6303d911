import type { RecentOverview } from '../../artifact/recognise.ts';
import { maxTopLabelers } from '../../contract/limits.ts';
import type { Micros } from '../../contract/timestamp.ts';
import type { Epoch, Frontier, RefusalCount, RefusalReason, StoredGap } from '../../store/port.ts';
import { type Purge, removalSentence, type SpaceRemoval, spaceRemovalSentence } from '../../store/removals.ts';
import { day, micros } from '../../store/time.ts';
import { maxKnown } from '../roster/roster.ts';
import type { CapReason } from '../shares/daily-cap.ts';
import { coverageOf, type EnrolledSource, summarizeGaps, timestamp, windowOf } from './coverage.ts';
import type { Counted } from './window/day-counts.ts';

/** Input of the overview that does not come from the store. */
export interface OverviewInputs {
  readonly now: Micros;
  readonly windowDays: number;
  readonly origin: 'live' | 'simulated';
  readonly sources: readonly EnrolledSource[];
  /**
   * Gaps of labelers that left the enrolment, wait for a reading slot, or were evicted from the roster. Each gap begins
   * when the labeler was last complete, or with its last row, and ends now.
   */
  readonly departures: readonly StoredGap[];
  /** Number of known labelers that are not enrolled. */
  readonly notEnrolled: number;
  /** Number of labelers among `notEnrolled` that responded once and have been unreachable for 7 days. */
  readonly unreachable: number;
  /** Number of enrolled sources that only the directory named. */
  readonly directoryOnly: number;
  /** Number of enrolled sources whose attempts currently fail. */
  readonly delayed: number;
  /** Number of labelers that were named but not added, because the maximum number of known labelers was reached. */
  readonly dropped: number;
  /** Number of labelers that are not contacted, because the maximum number of labelers is being read. */
  readonly waiting: number;
  /** Number of labelers that the operator denies. */
  readonly denied: number;
  /** Reason for the current pause of acceptance, or null if acceptance is not paused. */
  readonly paused: string | null;
  /** DIDs of sources that are paused because a share is used up or because the disk is nearly full, with the reason. */
  readonly capped: ReadonlyMap<string, CapReason>;
  /** Maximum number of rows of a source in a day. */
  readonly dailyRows: number;
}

/** Published list of exclusions (`does_not_measure`). */
export const labelExclusions = [
  'labels that are active now: applications and removals are observed, current state is not',
  'labels of labelers that this instrument does not follow, and labels that were applied before its observation began',
  'labels that a labeler which keeps only the newest row of each label applied and removed again between two reads',
];

/** Data read from the store to build an overview. */
interface OverviewReading {
  readonly epoch: Epoch;
  readonly frontier: Pick<Frontier, 'observedThrough' | 'floor'>;
  /** Gaps of the window. */
  readonly gaps: readonly StoredGap[];
  readonly refusals: readonly RefusalCount[];
  readonly purges: readonly Purge[];
  readonly spaceRemoval: SpaceRemoval | null;
  readonly inWindow: Counted;
  readonly inWeek: Counted;
  readonly inDay: Counted;
}

/**
 * Returns the overview without `hold`, which is added when the artifact is written. Yields to the event loop while it
 * summarizes gaps, so the inputs must not change.
 */
export async function makeOverview(
  reading: OverviewReading,
  inputs: OverviewInputs,
): Promise<Omit<RecentOverview, 'hold'>> {
  const { now, windowDays, origin, sources } = inputs;
  const { epoch, frontier, refusals, purges } = reading;
  const { generationId, startedAt } = epoch;
  const { observedThrough, floor } = frontier;
  const window = windowOf(now, windowDays);
  const { counts: inWindow, ...leftOut } = reading.inWindow;
  const { counts: inWeek } = reading.inWeek;
  const removed = [removalSentence(purges), spaceRemovalSentence(reading.spaceRemoval)];
  const notCounted = repeatsCaveat(leftOut);
  const week = { start: micros(Math.max(floor, now - 7 * day)), end: now };
  const counted = labelersOf(inputs, inWindow);
  const { gaps, times, cutShort } = await summarizeGaps({
    ...{ gaps: reading.gaps, departures: inputs.departures, counted, window, week },
    observed: { start: micros(Math.max(window.start, startedAt)), end: now },
  });
  const unranked = new Set([...inputs.capped.keys(), ...cutShort]);
  const facts = { now, windowDays, startedAt, observedThrough, gaps, sources, refusals };
  return {
    schema: 'labels.recent-overview.v1',
    generated_at: timestamp(now),
    origin,
    window_days: windowDays,
    acquisition: { generation_id: generationId, started_at: timestamp(startedAt), basis: 'local_acceptance_clock' },
    coverage: coverageOf(facts),
    counts: {
      events_24h: total(reading.inDay.counts),
      events_7d: total(inWeek),
      events_window: total(inWindow),
      labelers_active_7d: inWeek.length,
      labelers_active_window: inWindow.length,
    },
    labeler_count: inWindow.length,
    top_labelers_7d: inWeek
      .filter(({ labeler }) => !unranked.has(labeler))
      .slice(0, maxTopLabelers)
      .map(({ labeler, events }) => ({ labeler_did: labeler, count: events })),
    does_not_measure: labelExclusions,
    caveats: [
      ...caveatsOf(inputs, reading.inWindow, refusals, unranked.size),
      ...[notCounted, ...removed].filter((caveat) => caveat !== null),
      gapCaveat(times, { labelers: counted.size, unread: neverRead(sources, times) }),
    ],
  };
}

/**
 * Returns the labelers that the facts about the window cover: enrolled labelers, and labelers whose events are counted.
 */
function labelersOf({ sources }: OverviewInputs, inWindow: Counted['counts']): ReadonlySet<string> {
  return new Set([...sources.map(({ did }) => did), ...inWindow.map(({ labeler }) => labeler)]);
}

/** Returns the number of sources without a gap only because they never responded and were thus never read. */
function neverRead(sources: readonly EnrolledSource[], gapped: ReadonlyMap<string, unknown>): number {
  return sources.filter(({ did, answered }) => !answered && !gapped.has(did)).length;
}

/**
 * Returns the caveat with the number of labelers that the listed gaps concern. The list is the union of the gaps of
 * all labelers, so it does not distinguish a gap of one labeler from a failure of hundreds of labelers. Labelers that
 * were never read (`unread`) are counted separately, because nothing is known about them.
 */
function gapCaveat(
  bySource: ReadonlyMap<string, { readonly missed: number }>,
  { labelers, unread }: { readonly labelers: number; readonly unread: number },
): string {
  const long = [...bySource.values()].filter(({ missed }) => missed > day).length;
  const whole = labelers - bySource.size - unread;
  const none = `${share(whole, labelers)} ${whole === 1 ? 'has' : 'have'} no gap of ${whole === 1 ? 'its' : 'their'} own in the window`;
  const rest = unread === 0 ? '.' : `; ${unread} ${unread === 1 ? 'has' : 'have'} not responded yet.`;
  if (bySource.size === 0) return `${none}${rest}`;
  if (bySource.size === 1) {
    return `${none}; 1 has gaps, for ${long === 1 ? 'more than' : 'at most'} a day in total${rest}`;
  }
  return `${none}; ${bySource.size} have gaps, ${long === 0 ? 'none' : long} of them for more than a day in total${rest}`;
}

/** Returns the caveats about the limits of the instrument. A caveat that counts a part also states the total. */
export function caveatsOf(
  inputs: OverviewInputs,
  { counts, leftOut }: Pick<Counted, 'counts' | 'leftOut'>,
  refusals: readonly RefusalCount[],
  unranked: number,
): string[] {
  return [
    ...readingCaveats(inputs, counts),
    ...responseCaveats(inputs),
    ...pauseCaveats(inputs, unranked),
    ...rosterCaveats(inputs),
    ...refusalCaveats(refusals, total(counts) + leftOut),
  ];
}

/** Returns the caveats about the labelers that are being read, and about labels that cannot be observed. */
function readingCaveats({ sources, notEnrolled, unreachable }: OverviewInputs, inWindow: Counted['counts']): string[] {
  const reading = new Set(sources.filter(({ state }) => state === 'established').map(({ did }) => did));
  const emitting = inWindow.filter(({ labeler }) => reading.has(labeler));
  const [rows, all] = [total(emitting), total(inWindow)];
  return [
    `${share(reading.size, sources.length)} that this instrument follows ${are(reading.size)} being read.`,
    `${share(emitting.length, inWindow.length)} whose labels were observed in the window ${are(emitting.length)} being ` +
      `read; ${emitting.length === 1 ? 'it accounts' : 'they account'} for ${rows} of the ${all} events.`,
    notFollowed(notEnrolled, unreachable, sources.length + notEnrolled),
    'Some labelers keep only one row for each subject and value: if such a labeler applies and removes a label between two ' +
      'reads, neither event is observed.',
  ];
}

/** Returns the caveats about labelers that only the directory named, and about labelers that do not respond. */
function responseCaveats({ sources, directoryOnly, delayed }: OverviewInputs): string[] {
  const caveats: string[] = [];
  if (directoryOnly > 0) {
    const names = directoryOnly === 1 ? 'it' : 'them';
    caveats.push(
      `${share(directoryOnly, sources.length)} that this instrument follows ${are(directoryOnly)} known only from the directory: ` +
        `no seeds file, relay or Jetstream named ${names}.`,
    );
  }
  if (delayed > 0) {
    const late = delayed === 1 ? 'does not respond at the moment; its' : 'do not respond at the moment; their';
    caveats.push(`${share(delayed, sources.length)} that this instrument follows ${late} events arrive late.`);
  }
  return caveats;
}

/**
 * Returns the caveats about a pause of acceptance, and about sources that are paused. Sources that used up their own
 * allowance are counted separately from those that a limit of the instrument pauses.
 */
function pauseCaveats(inputs: OverviewInputs, unranked: number): string[] {
  const { sources, paused, capped, dailyRows } = inputs;
  const caveats: string[] = [];
  if (paused !== null) {
    const all = sources.length === 1 ? 'the one labeler' : `any of the ${sources.length} labelers`;
    caveats.push(`No labels of ${all} are accepted at the moment (${paused}).`);
  }
  if (unranked > 0) {
    const own = [...capped.values()].filter((reason) => reason === 'source').length;
    const wait = waitClause(capped.size - own, sources.length);
    const past = unranked === 1 ? 'labeler that was' : 'labelers that were';
    caveats.push(
      `${allowanceClause(own, sources.length, dailyRows)}${wait}${unranked} ${past} paused within 7 days ${are(unranked)} not ranked.`,
    );
  }
  return caveats;
}

/** Returns the clause about labelers that are paused because they used up their own allowance. */
function allowanceClause(count: number, all: number, dailyRows: number): string {
  if (count === 0) return '';
  return (
    `${share(count, all)} that this instrument follows ${are(count)} paused until midnight UTC, ` +
    `because ${count === 1 ? 'it' : 'they'} used up a daily allowance of at most ${dailyRows} labels; `
  );
}

/** Returns the clause about labelers that are paused although they did not use up their own allowance. */
function waitClause(count: number, all: number): string {
  if (count === 0) return '';
  const [verb, whose] = count === 1 ? ['waits', 'its'] : ['wait', 'their'];
  return (
    `${share(count, all)} that this instrument follows ${verb} because of a limit of this instrument: ` +
    `the share of ${whose} domain or of ${whose} class, or disk space; `
  );
}

/** Returns the caveats about labelers that wait, exceed the maximum number of known labelers, or are denied. */
function rosterCaveats({ sources, waiting, dropped, denied }: OverviewInputs): string[] {
  const caveats: string[] = [];
  if (waiting > 0) {
    const wait = waiting === 1 ? 'waits' : 'wait';
    caveats.push(
      `${share(waiting, sources.length + waiting)} ${wait}, because the maximum number of labelers is already being read.`,
    );
  }
  if (dropped > 0) {
    const further =
      dropped === 1 ? ' further labeler was' : `${dropped >= maxKnown ? ' or more' : ''} further labelers were`;
    caveats.push(`${dropped}${further} announced after the maximum number of known labelers was reached.`);
  }
  if (denied > 0) {
    caveats.push(
      `${denied} ${denied === 1 ? 'labeler is' : 'labelers are'} denied by the operator of this instrument and not read.`,
    );
  }
  return caveats;
}

/**
 * Returns the caveats about rows that were refused for reasons other than their date; `accepted` is the number of
 * stored rows, including those that are not counted as events.
 */
function refusalCaveats(refusals: readonly RefusalCount[], accepted: number): string[] {
  const sum = (caveat: 'form' | 'space'): number =>
    refusals.reduce((total, { reason, count }) => total + (caveatOfReason[reason] === caveat ? count : 0), 0);
  const refused = (count: number): string =>
    `${share(count, accepted + count, 'row')} of the window ${count === 1 ? 'was' : 'were'} refused because`;
  const [odd, inSpaces] = [sum('form'), sum('space')];
  const caveats: string[] = [];
  if (odd > 0) caveats.push(`${refused(odd)} of ${odd === 1 ? 'its' : 'their'} form, size or author.`);
  if (inSpaces > 0)
    caveats.push(
      `${refused(inSpaces)} ${inSpaces === 1 ? 'it labels a record' : 'they label records'} of a space, which is not public.`,
    );
  return caveats;
}

/**
 * Returns the caveat with the reasons why known labelers are not followed. Events of a labeler that responded once and
 * is now unreachable are still counted.
 */
function notFollowed(count: number, unreachable: number, known: number): string {
  const others = count - unreachable;
  const never = `no document names ${others === 1 ? 'its address, or it' : 'their addresses, or they'} never responded`;
  const gone = `${unreachable} responded once and ${unreachable === 1 ? 'has' : 'have'} been unreachable for 7 days`;
  const why = unreachable === 0 ? never : others === 0 ? gone : `for ${others}, ${never}; ${gone}`;
  return `${share(count, known, 'known labeler')} ${are(count)} not followed: ${why}. Each is contacted again at least daily.`;
}

/** Formats a share, such as `1 of 11 labelers`. */
function share(some: number, all: number, noun = 'labeler'): string {
  return `${some} of ${all} ${noun}${all === 1 ? '' : 's'}`;
}

function are(some: number): string {
  return some === 1 ? 'is' : 'are';
}

/** Caveat that counts the refusals of a reason. Null for duplicates, and for reasons that the coverage counts. */
const caveatOfReason: Readonly<Record<RefusalReason, 'form' | 'space' | null>> = {
  foreign_src: 'form',
  malformed: 'form',
  oversized: 'form',
  space_uri: 'space',
  undated: null,
  future: null,
  pre_epoch: null,
  late: null,
  duplicate: null,
};

function total(counts: Counted['counts']): number {
  return counts.reduce((sum, { events }) => sum + events, 0);
}

/** Returns the caveat with the number of rows that are stored and not counted, or null if there are no such rows. */
function repeatsCaveat({ leftOut, labelers }: Pick<Counted, 'leftOut' | 'labelers'>): string | null {
  if (leftOut === 0) return null;
  const rows = `${leftOut} ${leftOut === 1 ? 'row' : 'rows'} of the window`;
  const whose = `${labelers} ${labelers === 1 ? 'labeler that changed its key' : 'labelers that changed their keys'}`;
  return `${rows}, from ${whose}, repeat known labels with a new date: they are stored, but not counted as new events.`;
}

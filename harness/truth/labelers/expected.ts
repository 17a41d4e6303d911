import type { Sim } from '../../../sim/index.ts';
import type { Labeler } from '../../../sim/labelers/labeler.ts';
import type { Micros } from '../../../src/contract/timestamp.ts';
import type {
  DiscoveryWay,
  GapReason,
  LabelerProblem,
  LabelerState,
  ReadingTransport,
} from '../../../src/contract/vocabulary.ts';
import { day, type Interval, micros, minute, second } from '../../../src/store/time.ts';
import { type Moment, roleAt, stateOf } from '../cast.ts';
import { departs, type Role } from '../roles.ts';
import { type Course, settledAfter, type Unread, widened } from './course.ts';
import { type AcceptedRow, acceptedRows } from './rows.ts';
import { type ExpectedValues, expectedValues, noValues } from './values.ts';

/** The expected document of one labeler, derived from the network's record. */
export interface ExpectedLabeler {
  readonly did: string;
  /** Name of the labeler's role or ailment, for messages. */
  readonly name: string;
  /** True if the operator denies the labeler. */
  readonly isDenied: boolean;
  readonly handle: { readonly name: string; readonly confirmed: boolean } | null;
  readonly enrolled: boolean;
  readonly state: LabelerState;
  /** Published problems that would be correct for the state; null stands for no problem. */
  readonly problems: readonly (LabelerProblem | null)[];
  /** Ways in which the instrument can discover the labeler. */
  readonly foundBy: readonly DiscoveryWay[];
  readonly readBy: ReadingTransport | null;
  /** Interval that contains the first response; null if the labeler never responded. */
  readonly firstAnswered: Interval | null;
  /** Interval that contains the last response; null if the labeler never responded. */
  readonly lastAnswered: Interval | null;
  /** Accepted rows, without rows that only repeat known labels after a key change. */
  readonly rows: readonly AcceptedRow[];
  readonly repeats: number;
  /** Interval that contains the acceptance of the last row; null if there are no rows. */
  readonly lastRow: Interval | null;
  readonly unread: Unread;
  /** Reasons of the labeler's own gaps, in chronological order. */
  readonly gaps: readonly GapReason[];
  /** True if there may be no gap because another instrument may have read the labels that one instrument missed. */
  readonly mayHaveNoGap: boolean;
  /** Times at which the labeler's database was recreated. Each must lie in a gap. */
  readonly resets: readonly Micros[];
  readonly signatures: ExpectedSignatures;
  readonly values: ExpectedValues;
  /** True if the labeler keeps only the newest row of a label. */
  readonly replaces: boolean;
}

/**
 * Expected number of rows by verdict. `verified` includes rows verified with an earlier key: the key in use depends on
 * when a row was read.
 */
interface ExpectedSignatures {
  readonly verified: number;
  readonly invalid: number;
  readonly unsigned: number;
}

interface OracleInput {
  readonly sim: Sim;
  readonly course: Course;
  readonly moment: Moment;
  /** Time at which the artifact was written. */
  readonly now: Micros;
  /** Returns true if the network confirms a labeler's handle. */
  readonly confirms: (labeler: Labeler) => boolean;
}

/** Returns the expected documents by DID. A labeler that was never enrolled has none. */
export function expectedLabelers(input: OracleInput): ReadonlyMap<string, ExpectedLabeler> {
  const { list } = input.sim.labelers;
  return new Map(
    list.flatMap((labeler) => {
      const expected = expectedLabeler(labeler, roleAt(labeler.profile.index, list.length), input);
      return expected === null ? [] : [[labeler.did, expected]];
    }),
  );
}

function expectedLabeler(labeler: Labeler, role: Role | null, input: OracleInput): ExpectedLabeler | null {
  const { course, moment, now, confirms } = input;
  const state = stateOf(labeler, role, moment);
  if (state === null && !wasEnrolled(labeler, role, moment)) return null;
  const { rows, repeats, all, refusedInDay } = acceptedRows(labeler, role, course, now);
  const times = readTimes(labeler, role, { course, moment, now });
  const last = rows.at(-1) ?? null;
  const isDenied = role?.act === 'denied' && state === null;
  return {
    did: labeler.did,
    name: role?.name ?? labeler.profile.ailment,
    // Expect no handle and no definitions of a denied labeler: nothing that it wrote is published.
    isDenied,
    handle: isDenied ? null : { name: labeler.handle, confirmed: confirms(labeler) },
    enrolled: state !== null,
    state: state ?? (isDenied ? 'denied' : 'departed'),
    problems: state === 'established' ? problemsOfReading(refusedInDay, input) : problemsOf(labeler, role, state),
    foundBy: foundBy(labeler, role),
    readBy: state !== 'established' ? null : transportOf(labeler),
    ...times,
    rows,
    repeats,
    // Allow a minute, because the time of the last row is published in whole minutes.
    lastRow:
      last === null
        ? null
        : { start: micros(last.acceptedUs - minute), end: settledAfter(course, last.acceptedUs, now) },
    gaps: gapsOf(labeler, role, moment, state),
    mayHaveNoGap: course.hasStandby && role?.affectsOneStream === true,
    resets: labeler.faults.log.flatMap(({ fault, atUs }) => (fault === 'recreate' ? [micros(atUs)] : [])),
    signatures: {
      verified: all.filter(({ signature }) => signature === 'verified').length,
      invalid: all.filter(({ signature }) => signature === 'invalid').length,
      unsigned: all.filter(({ signature }) => signature === 'unsigned').length,
    },
    values: isDenied ? noValues(all) : expectedValues(labeler, all),
    replaces: labeler.profile.software === 'ozone',
  };
}

/** Returns the transport by which a labeler is read: its stream while one is open, otherwise its pages. */
function transportOf({ profile, streams }: Labeler): ReadingTransport {
  return streams.length > 0 || profile.ailment === 'no_query' ? 'stream' : 'pages';
}

/** Returns true if the labeler was enrolled at an earlier moment of the proof. */
function wasEnrolled(labeler: Labeler, role: Role | null, moment: Moment): boolean {
  return moment === 'after two days' && stateOf(labeler, role, 'begun') !== null;
}

/**
 * Returns the problems that may be published for a labeler that is being read: a refused label of the last 24 hours is
 * one. While labels are still arriving, it is not known whether one was refused.
 */
function problemsOfReading(refused: number, { moment }: OracleInput): readonly (LabelerProblem | null)[] {
  if (moment === 'begun') return [null, 'labels_refused'];
  return [refused > 0 ? 'labels_refused' : null];
}

/**
 * Returns the problems that may be published for a labeler that is not being read. The labeler's operator can observe
 * these problems at the endpoint.
 */
function problemsOf({ profile: { ailment } }: Labeler, role: Role | null, state: string | null) {
  if (role?.act === 'outage') return ['connection_failed'] as const;
  if (role?.act === 'leaves') return ['no_labeler_service'] as const;
  if (role?.act === 'denied') return ['denied_by_operator'] as const;
  const problems = ailmentProblems[ailment] ?? ['unknown'];
  // Accept `unknown` for a labeler that is no longer enrolled: it is tried only once a day, so the instrument may have
  // made no attempt since the restart.
  return state === null ? ([...problems, 'unknown'] as const) : problems;
}

const noResponse = ['timed_out', 'connection_failed', 'not_a_label_service'] as const;
const ailmentProblems: Readonly<Record<string, readonly (LabelerProblem | null)[]>> = {
  status_401: ['authentication_required'],
  status_403: ['authentication_required'],
  status_400: ['not_a_label_service'],
  status_404: ['not_a_label_service'],
  html: ['not_a_label_service'],
  redirect: ['not_a_label_service'],
  status_503: ['server_error'],
  dead: ['connection_failed'],
  hang: noResponse,
  drip: noResponse,
  endless: noResponse,
  broken_json: noResponse,
  // Accept several problems: a stream does not count as a response until it has sent data.
  no_query: [null, 'unknown', ...noResponse],
};

/** Returns the ways in which the instrument can discover a labeler. */
function foundBy({ profile, records }: Labeler, role: Role | null): DiscoveryWay[] {
  const listed = profile.relays.length > 0;
  return [
    ...(profile.seeded ? (['seeds'] as const) : []),
    ...(listed ? (['relay'] as const) : []),
    // Replacing a record causes a Jetstream event, which names the labeler.
    ...((profile.seeded || listed) && records.length === 1 ? [] : (['jetstream'] as const)),
    ...(role?.act === 'found' ? (['directory'] as const) : []),
  ];
}

function gapsOf(
  { profile }: Labeler,
  role: Role | null,
  moment: Moment,
  state: LabelerState | null,
): readonly GapReason[] {
  const own: readonly GapReason[] = role?.gaps ?? (profile.ailment === 'no_query' ? ['source_unavailable'] : []);
  if (role?.act === 'outage') return moment === 'after 20 minutes' ? ['source_unavailable'] : [];
  if (departs(role)) return state === null ? ['source_unavailable'] : [];
  if (role !== null && moment === 'begun') return [];
  return own;
}

/** Returns the times of a labeler's first and last response, and the time during which the labeler was not read. */
function readTimes(
  labeler: Labeler,
  role: Role | null,
  { course, moment, now }: { readonly course: Course; readonly moment: Moment; readonly now: Micros },
): Pick<ExpectedLabeler, 'firstAnswered' | 'lastAnswered' | 'unread'> {
  const always: Interval = { start: micros(now - 60 * day), end: now };
  const state = stateOf(labeler, role, moment);
  const first = firstResponse(labeler, role, course);
  const responded = first !== null && (departs(role) || role?.act === 'outage' || state === 'established');
  if (!responded) return { firstAnswered: null, lastAnswered: null, unread: { certain: [always], possible: [] } };
  const certain: Interval[] = [{ start: always.start, end: first.start }];
  const possible: Interval[] = [first];
  if (course.paused !== null) possible.push(widened(course.paused, 10 * second));
  if (course.disturbed !== null && (role?.gaps.length ?? 0) > 0) possible.push(course.disturbed);
  // Allow a reset of a labeler that replaces rows: the removal of the last row that was read looks like a reset.
  if (labeler.profile.software === 'ozone' && course.disturbed !== null) {
    possible.push({ start: course.startedUs, end: course.disturbed.end });
  }
  const absence = absenceOf(role, course);
  if (absence !== null) {
    certain.push({ start: absence.end, end: now });
    possible.push(absence);
  }
  const until = absence?.end ?? now;
  // Before an absence, the last response may be up to 10 minutes old, as for any labeler that is being read.
  const present = absence?.start ?? now;
  const since = course.settledUs.findLast((at) => at < present) ?? course.startedUs;
  return {
    firstAnswered: first,
    lastAnswered: { start: micros(Math.min(since, present - 10 * minute)), end: until },
    unread: { certain, possible },
  };
}

/** Returns the interval that contains the first response of a labeler; null for a labeler that was never discovered. */
function firstResponse({ profile }: Labeler, role: Role | null, course: Course): Interval | null {
  if (role?.act === 'found') return course.found;
  // A labeler without `queryLabels` first responds with the first label of its stream.
  const { start, end } = course.begun;
  return profile.ailment === 'no_query' ? { start, end: settledAfter(course, end, end) } : course.begun;
}

/** Returns the interval in which reading the labeler stopped; null for a labeler that is still being read. */
function absenceOf(role: Role | null, course: Course): Interval | null {
  if (role?.act === 'outage') return course.outage;
  return departs(role) ? course.left : null;
}

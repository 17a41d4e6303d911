import type { Labeler } from '../../../sim/labelers/labeler.ts';
import type { Micros } from '../../../src/contract/timestamp.ts';
import { day, type Interval, micros, minute, second } from '../../../src/store/time.ts';
import { type Moment, stateOf } from '../cast.ts';
import { departs, type Role } from '../roles.ts';
import { type Course, settledAfter, widened } from './course.ts';
import type { ExpectedLabeler } from './expected.ts';

/** Returns the times of a labeler's first and last response, and the time during which the labeler was not read. */
export function readTimes(
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

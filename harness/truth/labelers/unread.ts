import type { Labeler } from '../../../sim/labelers/labeler.ts';
import type { Micros } from '../../../src/contract/timestamp.ts';
import { day, type Interval, micros, minute, second } from '../../../src/store/time.ts';
import { type Moment, stateOf } from '../cast.ts';
import { departs, type Role } from '../roles.ts';
import { type Course, settledAfter, widened } from './course.ts';
import type { ExpectedLabeler } from './expected.ts';

/** Returns the instants of a labeler's responses and the time in which it was not read. */
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
  // A labeler that replaces rows may remove the last one that was read, which looks like a reset.
  if (labeler.profile.software === 'ozone' && course.disturbed !== null) {
    possible.push({ start: course.startedUs, end: course.disturbed.end });
  }
  const absence = absenceOf(role, course);
  if (absence !== null) {
    certain.push({ start: absence.end, end: now });
    possible.push(absence);
  }
  const until = absence?.end ?? now;
  // The last response before an absence may be as old as that of a labeler that is read: up to 10 minutes.
  const present = absence?.start ?? now;
  const since = course.settledUs.findLast((at) => at < present) ?? course.startedUs;
  return {
    firstAnswered: first,
    lastAnswered: { start: micros(Math.min(since, present - 10 * minute)), end: until },
    unread: { certain, possible },
  };
}

/** Returns the interval that contains the first response of a labeler; null if it does not respond. */
function firstResponse({ profile }: Labeler, role: Role | null, course: Course): Interval | null {
  if (role?.act === 'found') return course.found;
  // Without pages, the first label of the stream is the first response.
  const { start, end } = course.begun;
  return profile.ailment === 'no_query' ? { start, end: settledAfter(course, end, end) } : course.begun;
}

/** Returns the interval in which the labeler stopped being read; null while it is read. */
function absenceOf(role: Role | null, course: Course): Interval | null {
  if (role?.act === 'outage') return course.outage;
  return departs(role) ? course.left : null;
}

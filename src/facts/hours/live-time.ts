import type { LabelsHour, LabelsHours } from '../../artifact/hours/labels-hours.ts';

/**
 * The observed time of the hours of the labels chart. The instrument may run while no labeler can be reached, so its own
 * observed time may be longer than the time in which labels were read.
 */

/** Time of an hour in which labels were read live. */
interface LiveTime {
  readonly seconds: number;
  /** Reason why these are not all observed seconds of the instrument; null if they are. */
  readonly reason: string | null;
}

/** Minimum share of the labelers' time that must belong to rates; an hour below it is not drawn as observed entirely. */
const minLiveShare = 0.5;

/** Reason for an hour in which every labeler has a gap. Single labels may have been accepted in these gaps. */
const incomplete = 'no labeler was read completely';

/**
 * Returns the time of each hour in which labels were read live. It is never longer than the live time of the labeler
 * that was read for the longest time: the gaps of the labelers show an outage that is not filled in. After an outage is
 * filled in, its gap is withdrawn, and the counts of its hours are zero because the missed labels are counted later.
 */
export function liveTimes(file: LabelsHours): readonly LiveTime[] {
  const longest = longestLive(file);
  return file.hours.map((hour, at) => liveTime(hour, longest[at] ?? 0));
}

function liveTime(
  { observed_seconds: seconds, labeler_seconds: labelerSeconds, applications, removals, filled_in: late }: LabelsHour,
  longest: number,
): LiveTime {
  if (applications === null) {
    return { seconds: 0, reason: seconds === 0 ? null : removals === null ? 'no labeler was read' : incomplete };
  }
  const lateSeconds = late?.labeler_seconds ?? 0;
  // Labels of labelers that are no longer enrolled are counted without a time.
  const share = labelerSeconds > 0 ? 1 - lateSeconds / labelerSeconds : 1;
  const live = Math.min(longest, share < minLiveShare ? seconds * share : seconds);
  if (live >= seconds) return { seconds, reason: null };
  return { seconds: live, reason: lateSeconds > 0 ? 'read later, after an outage' : incomplete };
}

/**
 * Returns the seconds of each hour in which the labeler that was read live for the longest time was read live. Without
 * a list of labelers, these are the observed seconds of the instrument.
 */
function longestLive({ hours, labelers }: LabelsHours): readonly number[] {
  if (labelers.length === 0) return hours.map(({ observed_seconds: seconds }) => seconds);
  const longest = hours.map(() => 0);
  for (const { observed_seconds: observed, filled_in: parts = [] } of labelers) {
    const late = new Map(parts.map((part) => [part.at, part.observed_seconds]));
    for (const [at, seconds] of observed.entries()) {
      longest[at] = Math.max(longest[at] ?? 0, seconds - (late.get(at) ?? 0));
    }
  }
  return longest;
}

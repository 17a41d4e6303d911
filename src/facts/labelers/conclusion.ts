import type { LabelerLine, LabelersHeader } from '../../artifact/labelers.ts';
import type { LabelerFacts } from '../../contract/labelers.ts';
import { parseTimestamp } from '../../contract/timestamp.ts';
import { agreeing, countText, instantText } from '../../web/format.ts';

/** Sentences about the coverage of labelers. A sentence never claims more than the days and gaps show. */

const dayMs = 86_400_000;
/** Number of days that a sentence calls "the last days". */
const recentDays = 7;
const spanDays = { day: 1, week: recentDays };
const monthFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', timeZone: 'UTC' });
const yearFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

/** Parts of a labeler's line on which the sentence depends. */
type Covered = Pick<LabelerLine, 'state' | 'state_since' | 'days' | 'gaps'>;
type Window = LabelersHeader['window'];
type Span = keyof LabelerLine['events'];

/** Describes the coverage of one labeler in one sentence. */
export function labelerConclusion({ state, state_since: since, days, gaps }: Covered, window: Window): string {
  const isUnread = days.every(([, , share]) => share === 0);
  if (state === 'departed' || state === 'denied') {
    const unknown = isUnread ? 'what it did in the window' : 'what it has done since then';
    return `Not followed since ${dateIn(millis(since), window)}; ${unknown} is not known.`;
  }
  if (isUnread) {
    return 'Not read at any time in the window; what it did is not known.';
  }
  const unreadFrom = openGapStart(gaps, window);
  if (unreadFrom !== null) {
    return `Not read since ${dateIn(unreadFrom, window)}; what it has done since then is not known.`;
  }
  return recentGaps(days) ?? `Read without a gap since ${readSince(gaps, window)}.`;
}

/** Returns how many of the last 7 days were not read completely. */
export function unreadDays(days: LabelerLine['days']): number {
  return days.slice(-recentDays).filter(([, , share]) => share < 1).length;
}

/** Returns true if nothing was read in a span that ends with the window. A span includes the day on which it begins. */
export function isUnreadSpan({ state, state_since: since, days, gaps }: Covered, window: Window, span: Span): boolean {
  const last = span === 'window' ? days : days.slice(-spanDays[span] - 1);
  if (last.every(([, , share]) => share === 0)) return true;
  const isLeft = state === 'departed' || state === 'denied';
  const unreadFrom = isLeft ? millis(since) : openGapStart(gaps, window);
  const start = span === 'window' ? millis(window.start) : millis(window.end) - spanDays[span] * dayMs;
  return unreadFrom !== null && unreadFrom <= start;
}

function recentGaps(days: LabelerLine['days']): string | null {
  const recent = days.slice(-recentDays);
  const none = recent.filter(([, , share]) => share === 0).length;
  const part = unreadDays(days) - none;
  const of = `of the last ${recent.length} days`;
  if (none > 0 && part > 0) {
    return `Not read on ${none} and read only in part on ${part} ${of}; what it did then is not known.`;
  }
  if (none > 0) return `Not read on ${none} ${of}; what it did then is not known.`;
  return part > 0 ? `Read only in part on ${part} ${of}; what it did in the gaps is not known.` : null;
}

/** Returns the start of the unread time that lasts until the end of the window; null if no gap lasts until then. */
function openGapStart(gaps: LabelerFacts['gaps'], window: Window): number | null {
  let start = millis(window.end);
  for (const gap of gaps.toSorted((a, b) => millis(b.end) - millis(a.end))) {
    if (millis(gap.end) < start) break;
    start = Math.min(start, millis(gap.start));
  }
  return start < millis(window.end) ? start : null;
}

/**
 * Returns the first day after the last gap that was read from its beginning, as text; if there is no such day yet, the
 * instant at which the gap ended. Without gaps, the days are counted from the start of the window.
 */
function readSince(gaps: LabelerLine['gaps'], window: Window): string {
  const from = Math.max(millis(window.start), ...gaps.map(({ end }) => millis(end)));
  const day = Math.ceil(from / dayMs) * dayMs;
  return day < millis(window.end) ? dateIn(day, window) : instantText(new Date(from).toISOString());
}

/** Formats a UTC day. Adds the year only if it differs from the year in which the window ends. */
function dateIn(instant: number, { end }: Window): string {
  const isThisYear = new Date(instant).getUTCFullYear() === new Date(millis(end)).getUTCFullYear();
  return (isThisYear ? monthFormat : yearFormat).format(instant);
}

function millis(timestamp: string): number {
  return Math.floor((parseTimestamp(timestamp) ?? 0) / 1000);
}

/** Describes the coverage of all labelers. `complete` of the `enrolled` labelers were read without a gap for 7 days. */
export function listConclusion({
  enrolled,
  complete,
}: {
  readonly enrolled: number;
  readonly complete: number;
}): string {
  if (enrolled === 0) return 'Almanac follows no labeler, so nothing is known about any.';
  if (complete === 0 && enrolled > 1) {
    return `None of the ${countText(enrolled)} labelers that Almanac follows was read without a gap in the last ${recentDays} days: the activity of each is known only in part.`;
  }
  const others = enrolled - complete;
  const were = agreeing(complete, 'was', 'were');
  const all = `${countText(complete)} of the ${countText(enrolled)} labelers that Almanac follows ${were} read without a gap in the last ${recentDays} days.`;
  if (others === 0) return all;
  return others === 1
    ? `${all} The activity of the other one is known only in part.`
    : `${all} The activity of the other ${countText(others)} is known only in part.`;
}

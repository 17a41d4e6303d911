import { formatMicros, type Micros } from '../../contract/timestamp.ts';
import type { GapReason, LabelAction, SignatureVerdict, TargetKind } from '../../contract/vocabulary.ts';
import type { EventCount } from '../../store/account-counts.ts';
import { second } from '../../store/time.ts';
import { agreeing, countText, dateText, instantText, missedText, spanText } from '../../web/format.ts';
import type { Reading } from '../view/unread.ts';

/** Texts of the pages. No text states that a label is in effect, because only past events are known. */

/** Headings of observations by action. */
export const actionText: Readonly<Record<LabelAction, string>> = {
  application_observed: 'Applied',
  removal_observed: 'Removed',
};

/** Descriptions of the results of a signature check. */
export const signatureText: Readonly<Record<SignatureVerdict, string>> = {
  verified: 'Verified with the labeler’s key',
  verified_earlier_key: 'Verified with an earlier key of the labeler',
  invalid: 'Does not match any known key of the labeler',
  unsigned: 'Not signed',
  unverified: 'Not checked: no key was found',
};

/** Headings of the three parts of a page. */
export const targetText: Readonly<Record<TargetKind, string>> = {
  account: 'On the account itself',
  post: 'On posts',
  record: 'On other records',
};

/** Descriptions of reasons for gaps. */
export const reasonText: Readonly<Record<GapReason, string>> = {
  not_observed: 'not observed',
  source_unavailable: 'the labeler did not respond',
  ingest_paused: 'interruption of Almanac',
  cursor_reset: 'Almanac’s position in the labeler’s stream was lost',
  maintenance: 'maintenance of Almanac',
  warmup: 'before observation began',
  unknown: 'reason unknown',
};

/** Descriptions of labelers that were never read. */
export const unreadText: Readonly<Record<Exclude<Reading, 'read'>, string>> = {
  never_read: 'This labeler has never been read: the labels that it applied or removed are unknown.',
  not_known: 'This labeler is unknown: the labels that it applied or removed are unknown.',
};

/** Describes the state of `n` enrolled labelers, in the past tense if the state is old. */
export function describeState(state: string, n: number, past = false): string {
  const [one, several = one, then] = states.get(state) ?? ['in an unknown state'];
  return past && then !== undefined ? then : agreeing(n, one, several);
}

/** Descriptions of labeler states: for one labeler, for several if different, and in the past tense if different. */
const states: ReadonlyMap<string, readonly [one: string, several?: string, then?: string]> = new Map([
  ['established', ['being read, from the last stored position on']],
  ['unstarted', ['not asked yet']],
  ['probing', ['being tried']],
  ['refused', ['refuses to be read', 'refuse to be read', 'refused to be read']],
  ['cursor_order_unverified', ['read in an unverified order']],
  [
    'undated_only',
    ['gives only labels without a date', 'give only labels without a date', 'gave only labels without a date'],
  ],
  ['provider_rejects', ['rejected by the provider']],
  ['unavailable', ['does not answer', 'do not answer', 'did not answer']],
]);

/** Formats an instant to the minute: `20 Nov 2026, 14:03 UTC`. */
export function formatMinute(at: Micros): string {
  return instantText(formatMicros(at));
}

/** Formats the UTC day of an instant: `20 Nov 2026`. */
export function formatDay(at: Micros): string {
  return dateText(formatMicros(at));
}

/** Formats the UTC day of an instant for machines: `2026-11-20`. */
export function isoDay(at: Micros): string {
  return formatMicros(at).slice(0, 10);
}

/** Formats a duration in microseconds, in its two largest units. */
export function formatDuration(length: number): string {
  return spanText(length / second);
}

/** Formats a duration of missed time, rounded up, so that missed time is never understated. */
export function formatMissedTime(length: number): string {
  return missedText(length / second);
}

/** Formats a number with its noun: `1 row`, `165,000 rows`. */
export function counted(n: number, noun: string, plural = `${noun}s`): string {
  return `${countText(n)} ${n === 1 ? noun : plural}`;
}

/** Formats the number of events in an interval, as a minimum if days were not counted. */
export function eventsText({ applied, removed }: EventCount, uncounted: number): string {
  const sum = `${countText(applied)} applied and ${countText(removed)} removed`;
  return uncounted === 0 ? sum : `At least ${sum} (${counted(uncounted, 'day')} not counted)`;
}

import { gappedTime } from '../../store/gaps.ts';
import { agreeing, countText } from '../../web/format.ts';
import { hasFallenSilent } from '../view/unread.ts';
import type { AccountView } from '../view/view.ts';
import { counted, describeState, formatMinute, formatMissedTime } from './words.ts';

/** Returns sentences that describe the unobserved time of the interval. */
export function coverageSentences(view: AccountView): string[] {
  const { startedAt, shown, frontier, now, ownGaps, interval, network, missed, labelers } = view;
  const found: string[] = [];
  if (shown.start < interval.start) {
    const missing = formatMissedTime(interval.start - shown.start);
    found.push(
      interval.start > startedAt
        ? `Observations before ${formatMinute(interval.start)} have been removed: the first ${missing} of the interval are missing.`
        : `Observation began on ${formatMinute(startedAt)}: nothing was observed in the ${missing} before.`,
    );
  }
  const { observedThrough } = frontier;
  if (observedThrough === null) found.push('No labeler has sent a page yet: nothing was observed so far.');
  else if (hasFallenSilent(frontier, now)) {
    found.push(`No labeler has sent anything since ${formatMinute(observedThrough)}: later events are unknown.`);
  } else found.push(`The last page from any labeler was received on ${formatMinute(observedThrough)}.`);
  found.push(
    ownGaps.length === 0
      ? 'No interruption of Almanac is recorded in this interval.'
      : `Almanac was interrupted ${ownGaps.length === 1 ? 'once' : `${countText(ownGaps.length)} times`} in this interval, for ${formatMissedTime(gappedTime(ownGaps))} in total: nothing was observed then.`,
  );
  found.push(networkSentence(network, hasFallenSilent(frontier, now)));
  if (network.removed !== null) found.push(network.removed);
  if (missed.labelers > 0) found.push(missedSentence(missed, labelers.length > 0));
  found.push('Labels that a labeler applied and removed between two reads, or does not publish, are not observed.');
  return found;
}

function missedSentence({ labelers: n, longest }: AccountView['missed'], others: boolean): string {
  const length = formatMissedTime(longest);
  const part = n === 1 ? `${length} in total` : `one of them for ${length} in total`;
  return `${counted(n, 'labeler')}${others ? ' not listed below' : ''} ${agreeing(n, 'was', 'were')} not observed for some or all of this interval, ${part}: labels that ${agreeing(n, 'it', 'they')} applied or removed then are unknown. The export lists ${agreeing(n, 'it', 'them')}.`;
}

/** Describes how labelers are read. Uses the past tense if no labeler has sent a page for longer than the tolerance. */
function networkSentence({ byState, notEnrolled }: AccountView['network'], silent: boolean): string {
  const are = (n: number): string => (silent ? agreeing(n, 'was', 'were') : agreeing(n, 'is', 'are'));
  const read = byState.get('established') ?? 0;
  const all = [...byState.values()].reduce((sum, n) => sum + n, 0);
  const others = [...byState]
    .filter(([state]) => state !== 'established')
    .map(([state, n]) => `${countText(n)} ${describeState(state, n, silent)}`)
    .sort();
  const rest =
    others.length === 0
      ? ''
      : ` The others ${silent ? 'were' : 'are'} not, so their labels are missing here: ${others.join('; ')}.`;
  const since = silent
    ? ' when Almanac last received anything, each from the last stored position on'
    : ', each from the last stored position on';
  const known =
    notEnrolled === 0 ? '' : ` ${counted(notEnrolled, 'known labeler')} ${are(notEnrolled)} not read at all.`;
  return `${countText(read)} of ${counted(all, 'labeler')} that Almanac follows ${are(read)} being read${since}.${rest}${known}`;
}

import { gappedTime } from '../../store/gaps.ts';
import type { Removals } from '../../store/removals.ts';
import type { Texts } from '../texts/texts.ts';
import { hasFallenSilent } from '../view/unread.ts';
import type { AccountView } from '../view/view.ts';
import { describeState, formatMissed } from './describe.ts';

/** Returns the sentences about unobserved time in the interval of a page. */
export function coverageSentences(view: AccountView, t: Texts): string[] {
  const { startedAt, shown, frontier, ownGaps, interval, network, missed, labelers } = view;
  const { minute } = t.formats;
  const past = hasFallenSilent(frontier, view);
  const found: string[] = [];
  if (shown.start < interval.start) {
    const missing = formatMissed(t, interval.start - shown.start);
    found.push(
      interval.start > startedAt
        ? t.removedBefore(minute(interval.start), missing)
        : t.beganOn(minute(startedAt), missing),
    );
  }
  const { observedThrough } = frontier;
  if (observedThrough === null) found.push(t.nothingYet);
  else found.push(past ? t.silentSince(minute(observedThrough)) : t.lastPage(minute(observedThrough)));
  found.push(
    ownGaps.length === 0 ? t.noInterruption : t.interrupted(ownGaps.length, formatMissed(t, gappedTime(ownGaps))),
  );
  found.push(...networkSentences(network, past, t));
  found.push(...removalSentences(network.removed, t));
  if (missed.labelers > 0) {
    found.push(t.missed(missed.labelers, formatMissed(t, missed.longest), labelers.length > 0));
  }
  found.push(t.betweenReads);
  return found;
}

/**
 * Returns the sentences about the number of labelers that are read, and about the states of the other labelers.
 * `past` selects the past tense, for the time after the last accepted page.
 */
function networkSentences({ byState, notEnrolled }: AccountView['network'], past: boolean, t: Texts): string[] {
  const read = byState.get('established') ?? 0;
  const all = [...byState.values()].reduce((sum, n) => sum + n, 0);
  const others = [...byState]
    .filter(([state]) => state !== 'established')
    .map(([state, n]) => t.stateCount(n, describeState(t, { state, n, past })))
    .sort();
  return [
    [
      t.read(read, all, past),
      ...(others.length === 0 ? [] : [t.others(others.join('; '), past)]),
      ...(notEnrolled === 0 ? [] : [t.notEnrolled(notEnrolled, past)]),
    ].join(t.formats.sentenceSpace),
  ];
}

function removalSentences({ purged, pending, spaces }: Removals, t: Texts): string[] {
  const { day } = t.formats;
  return [
    ...(purged === null ? [] : [t.purged(purged.labelers, day(purged.last))]),
    ...(pending === null ? [] : [t.purging(pending.labelers, day(pending.since))]),
    ...(spaces === null ? [] : [t.spaces(spaces.rows, spaces.completedAt === null ? null : day(spaces.completedAt))]),
  ];
}

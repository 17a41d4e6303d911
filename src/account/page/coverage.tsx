import { gappedTime, isSilent, isUnobserved } from '../../store/gaps.ts';
import type { StoredGap } from '../../store/port.ts';
import type { Removals } from '../../store/removals.ts';
import type { Texts } from '../texts/en.ts';
import { unreadOf } from '../view/labelers.ts';
import type { AccountView, LabelerView } from '../view/view.ts';
import { formatMissed, Instant, Labeler } from './observation.tsx';

/** Maximum number of gaps in a list. The totals include all gaps. */
const maxGapsListed = 20;

/** Renders the unobserved time as text: of the whole interval, and of each listed labeler. */
export function CoverageSection({ view, t }: { readonly view: AccountView; readonly t: Texts }) {
  const { labelers, otherLabelers, query } = view;
  return (
    <section aria-labelledby="coverage">
      <h2 id="coverage">{t.coverage}</h2>
      <ul class="plain">
        {coverageSentences(view, t).map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <GapList gaps={view.ownGaps} heading={t.interruptions} t={t} />
      {labelers.length === 0 ? null : (
        <>
          <h3 id="labelers">{query.filters.labeler === undefined ? t.labelers : t.labelerAsked}</h3>
          <ul class="labelers" aria-labelledby="labelers">
            {labelers.map((labeler) => (
              <LabelerItem key={labeler.labeler} of={labeler} view={view} t={t} />
            ))}
          </ul>
          {otherLabelers > 0 && query.filters.labeler === undefined ? <p>{t.moreLabelers(otherLabelers)}</p> : null}
        </>
      )}
    </section>
  );
}

/** Returns the sentences about unobserved time in the interval of a page. */
function coverageSentences(view: AccountView, t: Texts): string[] {
  const { startedAt, shown, frontier, ownGaps, interval, network, missed, labelers } = view;
  const { minute } = t.formats;
  const past = hasFallenSilent(view);
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
    .map(([state, n]) => t.stateCount(n, describeState(t, state, n, past)))
    .sort();
  return [
    [
      t.read(read, all, past),
      ...(others.length === 0 ? [] : [t.others(others.join('; '))]),
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

function LabelerItem({ of, view, t }: { readonly of: LabelerView; readonly view: AccountView; readonly t: Texts }) {
  const { labeler, reading, applied, removed, state, lastAsked, gaps } = of;
  const name = view.network.names.get(labeler);
  if (reading !== 'read') {
    return (
      <li>
        <p>
          <Labeler did={labeler} name={name} t={t} />
        </p>
        <p>
          {t.unread[reading]}
          {state === null ? '' : ` ${stateSentence(state, view, t)}`}
        </p>
      </li>
    );
  }
  // The absence of recorded gaps means nothing if the labeler was not read: no gap is recorded for that time.
  const noGap = unreadOf(of, view.interval).length > 0 ? null : t.noOwnGap;
  const gapSentence = gaps.length > 0 ? t.ownGaps(gaps.length, formatMissed(t, gappedTime(gaps))) : noGap;
  return (
    <li>
      <p>
        <Labeler did={labeler} name={name} t={t} />
      </p>
      <p class="soft">
        {t.sums({ applied, removed }, view.timeline.uncounted)}
        {t.formats.sentenceSpace}
        {stateSentence(state, view, t)}
        {t.formats.sentenceSpace}
        {lastAsked === null ? t.lastReadUnknown : t.lastRead(<Instant at={lastAsked} t={t} />)}
        {gapSentence === null ? '' : `${t.formats.sentenceSpace}${gapSentence}`}
      </p>
      <GapList gaps={gaps} heading={t.itsGaps} t={t} />
    </li>
  );
}

/** Describes the state of one labeler, which is null if the labeler is not enrolled. */
export function stateSentence(state: string | null, view: AccountView, t: Texts): string {
  if (state === null) return t.notReadNow;
  const past = hasFallenSilent(view);
  const text = describeState(t, state, 1, past);
  return past ? t.statePast(text) : t.state(text);
}

/**
 * Returns true if pages were accepted before, but none for longer than the coverage tolerance, or none since the start
 * of the interval.
 */
function hasFallenSilent({ frontier, interval, askedAt }: AccountView): boolean {
  return frontier.observedThrough !== null && (isSilent(frontier, askedAt) || isUnobserved(frontier, interval));
}

/** Describes a state of `n` enrolled labelers. `past` selects the past tense, for a state that is out of date. */
function describeState({ states, formats }: Texts, state: string, n: number, past: boolean): string {
  const isKnown = (name: string): name is keyof typeof states => Object.hasOwn(states, name);
  const forms = states[isKnown(state) ? state : 'unknown'];
  return formats.plural(n, past ? forms.past : forms.now);
}

interface GapListProps {
  readonly gaps: readonly StoredGap[];
  readonly heading: string;
  readonly t: Texts;
}

function GapList({ gaps, heading, t }: GapListProps) {
  if (gaps.length === 0) return null;
  const newest = gaps.toReversed().slice(0, maxGapsListed);
  return (
    <details>
      <summary>{heading}</summary>
      <ul>
        {newest.map(({ start, end, reason }) => (
          <li key={`${start} ${reason}`}>
            {t.gap(
              <Instant at={start} t={t} />,
              <Instant at={end} t={t} />,
              formatMissed(t, end - start),
              t.reason[reason],
            )}
          </li>
        ))}
        {gaps.length > newest.length ? <li>{t.earlierGaps(gaps.length - newest.length)}</li> : null}
      </ul>
    </details>
  );
}

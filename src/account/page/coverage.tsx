import { gappedTime } from '../../store/gaps.ts';
import type { StoredGap } from '../../store/port.ts';
import type { LabelerHandle } from '../../store/roster.ts';
import { agreeing, countText } from '../../web/format.ts';
import { Instant, Labeler } from './observation.tsx';
import { isSilent } from './unread.ts';
import type { AccountView, LabelerView } from './view.ts';
import { counted, minuteWords, missedWords, reasonWords, stateWords, unreadWords } from './words.ts';

/** Gaps listed one by one; all of them count in the sums. */
const maxGapsListed = 20;

/** What could not be seen: in words, and for each labeler of the account. */
export function CoverageSection({ view }: { readonly view: AccountView }) {
  const { labelers, otherLabelers, query } = view;
  return (
    <section aria-labelledby="coverage">
      <h2 id="coverage">What could not be seen</h2>
      <ul class="plain">
        {sentences(view).map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <GapList gaps={view.ownGaps} heading="Our own interruptions" />
      {labelers.length === 0 ? null : (
        <>
          <h3 id="labelers">
            {query.filters.labeler === undefined ? 'Labelers of these observations' : 'The labeler you asked for'}
          </h3>
          <ul class="labelers" aria-labelledby="labelers">
            {labelers.map((labeler) => (
              <LabelerItem
                key={labeler.labeler}
                labeler={labeler}
                name={view.network.names.get(labeler.labeler)}
                uncounted={view.timeline.uncounted}
                silent={isSilent(view.frontier, view.now)}
              />
            ))}
          </ul>
          {otherLabelers > 0 && query.filters.labeler === undefined ? (
            <p>
              {counted(otherLabelers, 'more labeler')} with fewer observations {agreeing(otherLabelers, 'is', 'are')}{' '}
              not listed here.
            </p>
          ) : null}
        </>
      )}
    </section>
  );
}

function LabelerItem({
  labeler: { labeler, reading, applied, removed, state, lastAsked, gaps },
  name,
  uncounted,
  silent,
}: {
  readonly labeler: LabelerView;
  readonly name: LabelerHandle | undefined;
  /** Days of which nothing is in its sums. */
  readonly uncounted: number;
  readonly silent: boolean;
}) {
  if (reading !== 'read') {
    return (
      <li>
        <p>
          <Labeler did={labeler} name={name} />
        </p>
        <p>
          {unreadWords[reading]}
          {state === null ? '' : ` ${stateSentence(state, silent)}`}
        </p>
      </li>
    );
  }
  return (
    <li>
      <p>
        <Labeler did={labeler} name={name} />
      </p>
      <p class="soft">
        {uncounted > 0 ? 'At least ' : ''}
        {countText(applied)} applied, {countText(removed)} removed in this interval, whatever the filters.{' '}
        {state === null ? 'Not read at this time.' : stateSentence(state, silent)}{' '}
        {lastAsked === null ? (
          'When it last answered is not known.'
        ) : (
          <>
            Last asked successfully on <Instant at={lastAsked} />.
          </>
        )}{' '}
        {gaps.length === 0
          ? 'No gap of its own is recorded in this interval, which does not prove that there was none.'
          : `${counted(gaps.length, 'gap')} of its own, ${missedWords(gappedTime(gaps))} in all.`}
      </p>
      <GapList gaps={gaps} heading="Its gaps" />
    </li>
  );
}

function stateSentence(state: string, silent: boolean): string {
  return silent ? `State when we last heard of any: ${stateWords(state, 1, true)}.` : `State: ${stateWords(state, 1)}.`;
}

function GapList({ gaps, heading }: { readonly gaps: readonly StoredGap[]; readonly heading: string }) {
  if (gaps.length === 0) return null;
  const newest = gaps.toReversed().slice(0, maxGapsListed);
  return (
    <details>
      <summary>{heading}</summary>
      <ul>
        {newest.map(({ start, end, reason }) => (
          <li key={`${start} ${reason}`}>
            <Instant at={start} /> to <Instant at={end} /> ({missedWords(end - start)}): {reasonWords[reason]}
          </li>
        ))}
        {gaps.length > newest.length ? <li>and {counted(gaps.length - newest.length, 'earlier gap')}</li> : null}
      </ul>
    </details>
  );
}

function sentences(view: AccountView): string[] {
  const { startedAt, shown, frontier, now, ownGaps, interval, network, missed, labelers } = view;
  const found: string[] = [];
  if (shown.start < interval.start) {
    const missing = missedWords(interval.start - shown.start);
    found.push(
      interval.start > startedAt
        ? `Observations before ${minuteWords(interval.start)} are no longer kept: the interval lacks its first ${missing}.`
        : `Observation began on ${minuteWords(startedAt)}: of the ${missing} before it nothing was observed.`,
    );
  }
  const { observedThrough } = frontier;
  if (observedThrough === null) found.push('No labeler has given us a page yet: nothing was observed so far.');
  else if (isSilent(frontier, now)) {
    found.push(
      `Nothing was received from any labeler since ${minuteWords(observedThrough)}: what came later is not known.`,
    );
  } else found.push(`The last page of any labeler was received on ${minuteWords(observedThrough)}.`);
  found.push(
    ownGaps.length === 0
      ? 'No interruption of our own is recorded in this interval.'
      : `We were interrupted ${ownGaps.length === 1 ? 'once' : `${countText(ownGaps.length)} times`} in this interval, for ${missedWords(gappedTime(ownGaps))} in all: nothing was observed then.`,
  );
  found.push(networkSentence(network, isSilent(frontier, now)));
  if (missed.labelers > 0) found.push(missedSentence(missed, labelers.length > 0));
  found.push(
    'What a labeler applied and took back between two readings, and whatever it does not publish, is not seen.',
  );
  return found;
}

function missedSentence({ labelers: n, longest }: AccountView['missed'], others: boolean): string {
  const length = missedWords(longest);
  const part = n === 1 ? `${length} in all` : `one of them for ${length} in all`;
  return `${counted(n, 'labeler')}${others ? ' not listed below' : ''} ${agreeing(n, 'was', 'were')} not observed for some or all of this interval, ${part}: what ${agreeing(n, 'it', 'they')} applied or removed then is not known. The export lists ${agreeing(n, 'it', 'them')}.`;
}

/** How labelers are read; where nobody was heard for long, how they were read then, and not that they are. */
function networkSentence({ byState, notEnrolled }: AccountView['network'], silent: boolean): string {
  const are = (n: number): string => (silent ? agreeing(n, 'was', 'were') : agreeing(n, 'is', 'are'));
  const read = byState.get('established') ?? 0;
  const all = [...byState.values()].reduce((sum, n) => sum + n, 0);
  const others = [...byState]
    .filter(([state]) => state !== 'established')
    .map(([state, n]) => `${countText(n)} ${stateWords(state, n, silent)}`)
    .sort();
  const rest =
    others.length === 0
      ? ''
      : ` The others ${silent ? 'were' : 'are'} not, and labels of theirs are missing here: ${others.join('; ')}.`;
  const since = silent
    ? ' when we last heard of any, each from where we had stopped'
    : ', each from where we stopped last';
  const known =
    notEnrolled === 0 ? '' : ` ${counted(notEnrolled, 'known labeler')} ${are(notEnrolled)} not read at all.`;
  return `${countText(read)} of ${counted(all, 'labeler')} that we follow ${are(read)} being read${since}.${rest}${known}`;
}

import { gappedTime } from '../../store/gaps.ts';
import type { StoredGap } from '../../store/port.ts';
import type { LabelerHandle } from '../../store/roster.ts';
import { agreeing, countText } from '../../web/format.ts';
import { hasFallenSilent } from '../view/unread.ts';
import type { AccountView, LabelerView } from '../view/view.ts';
import { coverageSentences } from './coverage-sentences.ts';
import { Instant, Labeler } from './observation.tsx';
import { counted, describeState, formatMissedTime, reasonText, unreadText } from './words.ts';

/** Maximum number of gaps in a list; the sums include all gaps. */
const maxGapsListed = 20;

/** Shows the unobserved time as text: of the whole interval, and of each labeler with observations. */
export function CoverageSection({ view }: { readonly view: AccountView }) {
  const { labelers, otherLabelers, query } = view;
  return (
    <section aria-labelledby="coverage">
      <h2 id="coverage">What was not observed</h2>
      <ul class="plain">
        {coverageSentences(view).map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <GapList gaps={view.ownGaps} heading="Interruptions of Almanac" />
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
                silent={hasFallenSilent(view.frontier, view.now)}
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
  /** Number of days that the sums exclude. */
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
          {unreadText[reading]}
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
        {countText(applied)} applied, {countText(removed)} removed in this interval, regardless of the filters.{' '}
        {state === null ? 'Not read at this time.' : stateSentence(state, silent)}{' '}
        {lastAsked === null ? (
          'The time of its last response is unknown.'
        ) : (
          <>
            Last read successfully on <Instant at={lastAsked} />.
          </>
        )}{' '}
        {gaps.length === 0
          ? 'No gap of its own is recorded in this interval. This does not prove that there was none.'
          : `${counted(gaps.length, 'gap')} of its own, ${formatMissedTime(gappedTime(gaps))} in total.`}
      </p>
      <GapList gaps={gaps} heading="Its gaps" />
    </li>
  );
}

function stateSentence(state: string, silent: boolean): string {
  return silent
    ? `State when Almanac last received anything: ${describeState(state, 1, true)}.`
    : `State: ${describeState(state, 1)}.`;
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
            <Instant at={start} /> to <Instant at={end} /> ({formatMissedTime(end - start)}): {reasonText[reason]}
          </li>
        ))}
        {gaps.length > newest.length ? <li>and {counted(gaps.length - newest.length, 'earlier gap')}</li> : null}
      </ul>
    </details>
  );
}

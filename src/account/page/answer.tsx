import { maxValueBytes } from '../../contract/account.ts';
import { isDid } from '../../contract/identifiers.ts';
import { formatMicros, type Micros } from '../../contract/timestamp.ts';
import type { EventCount, EventSpan } from '../../store/counts.ts';
import type { Observation } from '../../store/port.ts';
import { dayName, dayOf, micros } from '../../store/time.ts';
import { Bar } from '../../web/shapes.tsx';
import { overlap, union } from '../query/intervals.ts';
import type { Texts } from '../texts/en.ts';
import { unreadOf } from '../view/labelers.ts';
import type { AccountView, LabelerView } from '../view/view.ts';
import { stateSentence } from './coverage.tsx';
import type { AccountLinks } from './links.ts';
import { formatMissed, Labeler, ValueText } from './observation.tsx';

interface AnswerProps {
  readonly view: AccountView;
  readonly links: AccountLinks;
  readonly t: Texts;
}

/**
 * Renders the table of labelers and values: the numbers of applications and removals, the first and the last
 * observation, links that filter, and the coverage of each labeler. Renders nothing without observations.
 */
export function AnswerSection({ view, links, t }: AnswerProps) {
  const { labelers, otherLabelers } = answerOf(view);
  if (labelers.length === 0) return null;
  const { total, uncounted } = view.timeline;
  const most = Math.max(...labelers.map(({ sum }) => sum.applied + sum.removed));
  const isExact = labelers.every(({ values }) => values.every(({ first, last }) => first.isExact && last.isExact));
  return (
    <section aria-labelledby="answer">
      <h2 id="answer">{t.answer.heading}</h2>
      <table class="answer">
        <caption>{t.answer.caption(t.events(total, uncounted))}</caption>
        <thead>
          <tr>
            <th scope="col">{t.answer.columns.name}</th>
            <th scope="col" class="number">
              {t.columns.applied}
            </th>
            <th scope="col" class="number">
              {t.columns.removed}
            </th>
            <th scope="col">{t.answer.columns.span}</th>
          </tr>
        </thead>
        {labelers.map((labeler) => (
          <LabelerRows key={labeler.labeler.labeler} found={labeler} {...{ most, view, links, t }} />
        ))}
      </table>
      {otherLabelers > 0 ? <p class="soft">{t.moreLabelers(otherLabelers)}</p> : null}
      {isExact ? null : <p class="soft">{t.answer.daysOnly}</p>}
    </section>
  );
}

interface LabelerRowsProps extends AnswerProps {
  readonly found: AnswerLabeler;
  /** Number of events of the labeler with the most, for the length of the bars. */
  readonly most: number;
}

function LabelerRows({ found, most, view, links, t }: LabelerRowsProps) {
  const { labeler, sum, values, otherValues } = found;
  const did = labeler.labeler;
  // No filter accepts an invalid DID.
  const own = isDid(did) ? links.ofLabeler(did) : null;
  return (
    <tbody>
      <tr class="labeler">
        <th scope="rowgroup" colSpan={4}>
          <Labeler did={did} name={view.network.names.get(did)} t={t} />
          <span class="soft">
            {coverageText(found, view, t)}{' '}
            {own !== null && view.query.filters.labeler === undefined ? (
              <a href={own.all}>{t.answer.onlyLabeler}</a>
            ) : null}
          </span>
          {/* Next to the numbers that it shows: above the coverage it would be taken for it. */}
          {most > 0 ? <Bar share={sum.applied / most} rest={sum.removed / most} /> : null}
        </th>
      </tr>
      {values.length + otherValues > 1 ? (
        <tr>
          <th scope="row">{t.answer.allValues}</th>
          <SpanCells span={sum} t={t} />
        </tr>
      ) : null}
      {values.map(({ value, ...span }) => (
        <tr key={value}>
          <th scope="row">
            {own !== null && isFilter(value) ? (
              <a href={own.withValue(value)}>
                <ValueText value={value} t={t} />
              </a>
            ) : (
              <ValueText value={value} t={t} />
            )}
          </th>
          <SpanCells span={span} t={t} />
        </tr>
      ))}
      {otherValues > 0 ? (
        <tr>
          <td colSpan={4}>{t.answer.moreValues(otherValues)}</td>
        </tr>
      ) : null}
    </tbody>
  );
}

/** Describes the coverage of a labeler: its unobserved time in the interval, and its state if it is not being read. */
function coverageText({ labeler: { state }, unseen }: AnswerLabeler, view: AccountView, t: Texts): string {
  const missed = unseen === 0 ? t.answer.noneMissed : t.answer.missed(formatMissed(t, unseen));
  if (state === 'established') return missed;
  return missed + t.formats.sentenceSpace + stateSentence(state, view, t);
}

function SpanCells({ span: { applied, removed, first, last }, t }: { readonly span: AnswerSpan; readonly t: Texts }) {
  const { count } = t.formats;
  const [from, to] = [timeText(first, t), timeText(last, t)];
  return (
    <>
      <td class="number">{count(applied)}</td>
      <td class="number">{count(removed)}</td>
      <td>
        <time dateTime={machineTime(first)}>{from}</time>
        {from === to ? null : ' '}
        {from === to ? null : <time dateTime={machineTime(last)}>{to}</time>}
      </td>
    </>
  );
}

function timeText({ at, isExact }: ObservedTime, { formats }: Texts): string {
  return isExact ? formats.minute(at) : formats.day(at);
}

function machineTime({ at, isExact }: ObservedTime): string {
  return isExact ? formatMicros(at) : dayName(dayOf(at));
}

/** Returns true if a filter can select a value. The query ignores an empty value and refuses a long one. */
function isFilter(value: string): boolean {
  return value !== '' && Buffer.byteLength(value) <= maxValueBytes;
}

/** Acceptance time of an observation: exact, or only the start of its UTC day if the page did not read the row. */
interface ObservedTime {
  readonly at: Micros;
  readonly isExact: boolean;
}

/** Number of observations, and the times of the first and the last of them. */
interface AnswerSpan extends EventCount {
  readonly first: ObservedTime;
  readonly last: ObservedTime;
}

/** Observations of one labeler that match the filters, by value. */
interface AnswerLabeler {
  /** The labeler with its coverage. */
  readonly labeler: LabelerView;
  readonly sum: AnswerSpan;
  readonly values: readonly ({ readonly value: string } & AnswerSpan)[];
  /** Number of the labeler's values that are not listed. */
  readonly otherValues: number;
  /** Time in microseconds for which the labeler was not observed. */
  readonly unseen: number;
}

/** Table of the labelers and values of an account's observations. */
interface Answer {
  readonly labelers: readonly AnswerLabeler[];
  /** Number of labelers with matching observations that are not listed. */
  readonly otherLabelers: number;
}

/**
 * Computes the table of labelers and values from the counts of the page's tally, and adds the coverage of each labeler.
 * The counts cost no further read, even for a hot account. They know only the days of a value's observations; the exact
 * times are those of the listed rows, and are given if the page lists every row of the value.
 */
export function answerOf({ tally: { groups }, parts, labelers, timeline, interval }: AccountView): Answer {
  const views = new Map(labelers.map((view) => [view.labeler, view]));
  const rows = Map.groupBy(
    parts.flatMap((part) => part.rows),
    ({ label }) => label.src,
  );
  const spanOf = (span: EventSpan, listed: readonly Observation[]): AnswerSpan =>
    timed(span, timeline.uncounted === 0 ? listed : []);
  const found = groups.flatMap(({ labeler: did, values, otherValues, ...sum }): AnswerLabeler[] => {
    const labeler = views.get(did);
    if (!labeler) return [];
    const own = rows.get(did) ?? [];
    const byValue = Map.groupBy(own, ({ label }) => label.val);
    const missed = union([...timeline.unseen, ...labeler.gaps, ...unreadOf(labeler, interval)], timeline);
    return [
      {
        labeler,
        sum: spanOf(sum, own),
        values: values.map(({ value, ...span }) => ({ value, ...spanOf(span, byValue.get(value) ?? []) })),
        otherValues,
        unseen: overlap(missed, timeline),
      },
    ];
  });
  return { labelers: found, otherLabelers: groups.length - found.length };
}

/** Adds the times of the first and the last row. `listed` contains the rows that the page lists, in any order. */
function timed({ applied, removed, firstDay, lastDay }: EventSpan, listed: readonly Observation[]): AnswerSpan {
  const isExact = listed.length === applied + removed;
  const times = listed.map(({ observedAt }) => observedAt);
  const time = (day: Micros, at: number): ObservedTime => ({ at: isExact ? micros(at) : day, isExact });
  return {
    applied,
    removed,
    first: time(firstDay, Math.min(...times)),
    last: time(lastDay, Math.max(...times)),
  };
}

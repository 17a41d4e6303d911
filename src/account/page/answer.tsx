import { maxValueBytes } from '../../contract/account.ts';
import { isDid } from '../../contract/identifiers.ts';
import { formatMicros } from '../../contract/timestamp.ts';
import { Bar } from '../../web/bar.tsx';
import { isoDay } from '../../web/language/formats.ts';
import type { Texts } from '../texts/texts.ts';
import { type AnswerLabeler, type AnswerSpan, answerOf, type ObservedTime } from '../view/answer.ts';
import type { AccountView } from '../view/view.ts';
import { hasFallenSilent, stateSentence } from './coverage.tsx';
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
  return missed + t.formats.sentenceSpace + stateSentence(t, state, hasFallenSilent(view));
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
  return isExact ? formatMicros(at) : isoDay(at);
}

/** Returns true if a filter can select a value. The query ignores an empty value and refuses a long one. */
function isFilter(value: string): boolean {
  return value !== '' && Buffer.byteLength(value) <= maxValueBytes;
}

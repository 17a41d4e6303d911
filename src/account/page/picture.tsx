import { formatMicros, type Micros } from '../../contract/timestamp.ts';
import { dayOf, dayStart, type Interval, micros } from '../../store/time.ts';
import { DayChart } from '../../web/day-chart.tsx';
import { countText } from '../../web/format.ts';
import { Legend, signText } from '../../web/legend.tsx';
import type { Timeline, TimelineDay } from '../view/timeline.ts';
import { counted, eventsText, formatDay, formatMinute, formatMissedTime, isoDay } from './words.ts';

/** Shows the interval as a chart with its legend, and as a table. */
export function TimelineSection({ timeline }: { readonly timeline: Timeline }) {
  const { days, start, end, unseen, partly, uncounted } = timeline;
  const length = end - start;
  const place = (interval: Interval) => ({
    from: (interval.start - start) / length,
    to: (interval.end - start) / length,
  });
  const highest = days.reduce((top, { counts }) => Math.max(top, counts?.applied ?? 0, counts?.removed ?? 0), 0);
  return (
    <section aria-labelledby="timeline">
      <h2 id="timeline">By day</h2>
      <p>{summaryOf(timeline)}</p>
      <figure class="timeline">
        {highest === 0 ? null : <p class="chart-top">Observations per day; the highest bar is {countText(highest)}</p>}
        <DayChart
          summary={`Bars for each day. ${summaryOf(timeline)} The table below has the same data in numbers.`}
          bars={days
            .filter((day) => day.counts !== null || !isUnseen(day))
            .map((day) => ({
              ...place(day),
              counts: day.counts && { up: day.counts.applied, down: day.counts.removed },
              title: `${formatDay(day.start)}${describePart(day)}: ${dayText(day)}`,
            }))}
          spans={[
            ...unseen.map((span) => ({ ...place(span), unseen: 'whole' as const })),
            ...partly.map((span) => ({ ...place(span), unseen: 'part' as const })),
          ]}
        />
        <p class="chart-ends" aria-hidden="true">
          <span>{formatDay(start)}</span>
          {days.length > 2 ? <span>{formatDay(micros((start + end) / 2))}</span> : null}
          <span>{formatDay(end)}</span>
        </p>
        <figcaption>
          <Legend
            signs={[
              ['up', 'applied, above the line'],
              ['down', 'removed, below it'],
              ['unseen', signText.unseen],
              ['part', signText.part],
              ...(uncounted > 0 ? [['uncounted', 'not counted'] as const] : []),
            ]}
          />
        </figcaption>
      </figure>
      <TimelineTable timeline={timeline} />
    </section>
  );
}

function TimelineTable({ timeline }: { readonly timeline: Timeline }) {
  const { days, total, uncounted } = timeline;
  return (
    <details>
      <summary>The same data as a table</summary>
      <table>
        <caption>
          {nothingSeen(timeline) ? 'Not observed' : eventsText(total, uncounted)}, by UTC day of Almanac’s clock
        </caption>
        <thead>
          <tr>
            <th scope="col">Day</th>
            <th scope="col" class="number">
              Applied
            </th>
            <th scope="col" class="number">
              Removed
            </th>
            <th scope="col">Not observed</th>
          </tr>
        </thead>
        <tbody>
          {days.map((day) => (
            <DayRow key={day.start} day={day} />
          ))}
        </tbody>
      </table>
    </details>
  );
}

function DayRow({ day }: { readonly day: TimelineDay }) {
  const { counts } = day;
  return (
    <tr>
      <th scope="row">
        <time dateTime={isoDay(day.start)}>{formatDay(day.start)}</time>
        {describePart(day)}
      </th>
      {counts ? (
        <>
          <td class="number">{countText(counts.applied)}</td>
          <td class="number">{countText(counts.removed)}</td>
        </>
      ) : (
        <td colSpan={2} class="number">
          {isUnseen(day) ? 'not observed' : 'not counted'}
        </td>
      )}
      <td>{unseenText(day)}</td>
    </tr>
  );
}

/** Returns true if no part of the interval was observed, so that the number of observations is unknown and not zero. */
export function nothingSeen({ days, uncounted }: Timeline): boolean {
  return uncounted === 0 && days.every((day) => day.counts === null && isUnseen(day));
}

/**
 * Describes which part of a UTC day the interval includes, unless it is the whole day: `, from 23:12`, `, until 12:00`.
 * The current day ends at the time of the query, so its counts are not those of a whole day.
 */
export function describePart({ start, end }: Interval): string {
  const from = start === dayStart(dayOf(start)) ? '' : ` from ${formatClock(start)}`;
  const until = end === dayStart(dayOf(end)) ? '' : ` until ${formatClock(end)}`;
  return from === '' && until === '' ? '' : `,${from}${until}`;
}

function formatClock(at: Micros): string {
  return formatMicros(at).slice('2026-11-20T'.length, '2026-11-20T12:00'.length);
}

function isUnseen(day: TimelineDay): boolean {
  return day.unseen === day.end - day.start;
}

function dayText(day: TimelineDay): string {
  const { counts } = day;
  const words = counts
    ? `${countText(counts.applied)} applied, ${countText(counts.removed)} removed`
    : isUnseen(day)
      ? 'not observed'
      : 'not counted';
  const unseen = unseenText(day);
  return unseen === '' || isUnseen(day) ? words : `${words}; not observed: ${unseen}`;
}

function unseenText(day: TimelineDay): string {
  if (isUnseen(day)) return 'all of it';
  const parts: string[] = [];
  if (day.unseen > 0) parts.push(formatMissedTime(day.unseen));
  if (day.partly > 0) parts.push(`some labelers for ${formatMissedTime(day.partly)}`);
  return parts.join('; ');
}

/** Describes the chart of a timeline in one or two sentences. */
export function summaryOf(timeline: Timeline): string {
  const { days, start, end, total, uncounted } = timeline;
  const when = `between ${formatMinute(start)} and ${formatMinute(end)}`;
  if (nothingSeen(timeline)) return `Nothing was observed ${when}; events of that time are unknown.`;
  const unseen = days.reduce((sum, day) => sum + day.unseen, 0);
  const what =
    total.applied + total.removed === 0
      ? uncounted > 0
        ? 'No observation was counted'
        : 'No observation'
      : `${countText(total.applied)} applied and ${countText(total.removed)} removed`;
  const missed =
    unseen > 0 ? ` ${formatMissedTime(unseen)} of it was not observed; events of that time are unknown.` : '';
  const left =
    uncounted > 0
      ? ` ${counted(uncounted, 'day')} had too many rows to be counted here and ${uncounted === 1 ? 'is' : 'are'} not part of these sums.`
      : '';
  return `${what} ${when}.${missed}${left}`;
}

import type { Micros } from '../../contract/timestamp.ts';
import { dayName, dayOf, dayStart, type Interval, micros } from '../../store/time.ts';
import { Legend } from '../../web/legend.tsx';
import type { Texts } from '../texts/en.ts';
import type { Timeline, TimelineDay } from '../view/view.ts';
import { DayChart } from './day-chart.tsx';
import { formatMissed } from './observation.tsx';

interface TimelineProps {
  readonly timeline: Timeline;
  /** True if the counts include only the observations that match filters. */
  readonly isFiltered: boolean;
  readonly t: Texts;
}

/** Renders the interval as a summary, as a chart with a legend, and as a table. */
export function TimelineSection({ timeline, isFiltered, t }: TimelineProps) {
  const { days, start, end, unseen, partly, uncounted } = timeline;
  const length = end - start;
  const place = (interval: Interval) => ({
    from: (interval.start - start) / length,
    to: (interval.end - start) / length,
  });
  const highest = days.reduce((top, { counts }) => Math.max(top, counts?.applied ?? 0, counts?.removed ?? 0), 0);
  const summary = summaryOf(timeline, isFiltered, t);
  const { day: formatDay } = t.formats;
  return (
    <section aria-labelledby="timeline">
      <h2 id="timeline">{t.byDay}</h2>
      <p>{summary}</p>
      <figure class="timeline">
        {highest === 0 ? null : <p class="chart-top">{t.chartTop(t.formats.count(highest))}</p>}
        <DayChart
          summary={t.chartSummary(summary)}
          bars={days
            .filter((day) => day.counts !== null || !isUnseen(day))
            .map((day) => ({
              ...place(day),
              counts: day.counts && { up: day.counts.applied, down: day.counts.removed },
              title: `${formatDay(day.start)}${describePart(day, t)}: ${dayText(day, t)}`,
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
              ['up', t.legend.up],
              ['down', t.legend.down],
              ['unseen', t.legend.unseen],
              ['part', t.legend.part],
              ...(uncounted > 0 ? [['uncounted', t.legend.uncounted] as const] : []),
            ]}
          />
        </figcaption>
      </figure>
      <TimelineTable timeline={timeline} t={t} />
    </section>
  );
}

function TimelineTable({ timeline, t }: { readonly timeline: Timeline; readonly t: Texts }) {
  const { days, total, uncounted } = timeline;
  const { columns } = t;
  return (
    <details>
      <summary>{t.asTable}</summary>
      <table>
        <caption>{nothingSeen(timeline) ? t.captionUnseen : t.caption(t.events(total, uncounted))}</caption>
        <thead>
          <tr>
            <th scope="col">{columns.day}</th>
            <th scope="col" class="number">
              {columns.applied}
            </th>
            <th scope="col" class="number">
              {columns.removed}
            </th>
            <th scope="col">{columns.unseen}</th>
          </tr>
        </thead>
        <tbody>
          {days.map((day) => (
            <DayRow key={day.start} day={day} t={t} />
          ))}
        </tbody>
      </table>
    </details>
  );
}

function DayRow({ day, t }: { readonly day: TimelineDay; readonly t: Texts }) {
  const { counts } = day;
  const { count, day: formatDay } = t.formats;
  return (
    <tr>
      <th scope="row">
        <time dateTime={dayName(dayOf(day.start))}>{formatDay(day.start)}</time>
        {describePart(day, t)}
      </th>
      {counts ? (
        <>
          <td class="number">{count(counts.applied)}</td>
          <td class="number">{count(counts.removed)}</td>
        </>
      ) : (
        <td colSpan={2} class="number">
          {isUnseen(day) ? t.notObserved : t.notCounted}
        </td>
      )}
      <td>{unseenText(day, t)}</td>
    </tr>
  );
}

/** Returns true if no part of the interval was observed: the number of observations is then unknown, not zero. */
export function nothingSeen({ days, uncounted }: Timeline): boolean {
  return uncounted === 0 && days.every((day) => day.counts === null && isUnseen(day));
}

/**
 * Describes which part of a UTC day is in the interval: `, from 23:12` or `, until 12:00`, or an empty string for a
 * whole day. The current day ends at the time of the query, so its counts do not cover a whole day.
 */
export function describePart({ start, end }: Interval, t: Texts): string {
  const clockUnlessMidnight = (at: Micros): string | null => (at === dayStart(dayOf(at)) ? null : t.formats.clock(at));
  const from = clockUnlessMidnight(start);
  const until = clockUnlessMidnight(end);
  return from === null && until === null ? '' : t.partOfDay(from, until);
}

function isUnseen(day: TimelineDay): boolean {
  return day.unseen === day.end - day.start;
}

function dayText(day: TimelineDay, t: Texts): string {
  const { counts } = day;
  const text = counts ? t.dayCounts(counts.applied, counts.removed) : isUnseen(day) ? t.notObserved : t.notCounted;
  const unseen = unseenText(day, t);
  return unseen === '' || isUnseen(day) ? text : t.dayMissed(text, unseen);
}

function unseenText(day: TimelineDay, t: Texts): string {
  if (isUnseen(day)) return t.allOfIt;
  const parts: string[] = [];
  if (day.unseen > 0) parts.push(formatMissed(t, day.unseen));
  if (day.partly > 0) parts.push(t.someLabelers(formatMissed(t, day.partly)));
  return parts.join('; ');
}

/** Summarizes the chart of a timeline in one to three sentences. */
export function summaryOf(timeline: Timeline, isFiltered: boolean, t: Texts): string {
  const { days, start, end, total, uncounted } = timeline;
  const from = t.formats.minute(start);
  const to = t.formats.minute(end);
  if (nothingSeen(timeline)) return t.nothingObserved(from, to);
  const unseen = days.reduce((sum, day) => sum + day.unseen, 0);
  const none = uncounted > 0 ? t.noneCounted : isFiltered ? t.noMatch : t.noObservation;
  return [
    total.applied + total.removed === 0 ? none(from, to) : t.observedBetween(total, from, to),
    ...(unseen > 0 ? [t.partMissed(formatMissed(t, unseen))] : []),
    ...(uncounted > 0 ? [t.daysUncounted(uncounted)] : []),
  ].join(t.formats.sentenceSpace);
}

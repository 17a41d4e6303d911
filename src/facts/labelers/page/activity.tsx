import type { LabelerFacts } from '../../../contract/labelers.ts';
import { parseTimestamp } from '../../../contract/timestamp.ts';
import type { Bin, Hole } from '../../../web/chart/series.ts';
import { TimeChart } from '../../../web/chart/time-chart.tsx';
import { Count, Percent } from '../../../web/figures.tsx';
import { countText, percentText } from '../../../web/format.ts';
import { formatsOf } from '../../../web/language.ts';
import { Legend } from '../../../web/legend.tsx';
import { type PageChart, peakText, signsOf, summaryOf } from '../../hours/chart-figure.tsx';
import { unlistedHoles, unlistedReason } from '../../hours/shown-hours.ts';
import { Picture, Stat, Unknown } from '../../page/pieces.tsx';
import { at, gapParts } from './words.ts';

/** Shows the events of each day as a picture and as a table, with holes where the labeler was not read. */
export function Activity({ facts }: { facts: LabelerFacts }) {
  const { repeats } = facts;
  const chart = activityChart(facts);
  return (
    <section aria-labelledby="activity">
      <h2 id="activity">Activity by day</h2>
      <Picture
        id="observed"
        title="Applications and removals observed"
        notShown={<p>What the labeler did while it was not read, and which labels are active now.</p>}
      >
        <dl class="stats">
          <Stat figure={<Events facts={facts} span="day" />}>in the last 24 hours</Stat>
          <Stat figure={<Events facts={facts} span="week" />}>in the last 7 days</Stat>
          <Stat figure={<Events facts={facts} span="window" />}>in the window</Stat>
        </dl>
        {chart === null ? null : <Chart chart={chart} facts={facts} />}
        {repeats === 0 ? null : (
          <p class="soft">
            Not counted: <Count value={repeats} at={`${at}/repeats`} /> rows that repeat known labels after a change of
            key.
          </p>
        )}
        <LateDays days={facts.days} />
        <DayTable days={facts.days} reasons={unreadReasons(chart)} />
      </Picture>
    </section>
  );
}

/** Shows the number of events of a span, which is unknown if nothing was read in it. */
function Events({ facts, span }: { facts: LabelerFacts; span: keyof LabelerFacts['events'] }) {
  const events = facts.events[span];
  return events === null ? <Unknown>not read</Unknown> : <Count value={events} at={`${at}/events/${span}`} />;
}

function Chart({ chart, facts }: { chart: PageChart; facts: LabelerFacts }) {
  return (
    <figure class="chart-figure" data-name="chart" data-bins={chart.series.bins.length}>
      <div class="plots">
        <TimeChart
          series={chart.series}
          unit={chart.unit}
          summary={`${summaryOf(chart)} The table below lists the same numbers.`}
          formats={formatsOf('en')}
          titleOf={dayTitles(facts)}
          peakText={(bin) => peakText(chart, bin)}
        />
      </div>
      <div class="chart-read" data-own="" />
      <figcaption>
        <Legend signs={signsOf(chart)} />
        <p class="chart-files">
          Exactly what is drawn: <a href={`./${facts.did}.csv`}>CSV</a>, <a href={`./${facts.did}.svg`}>SVG</a>
        </p>
      </figcaption>
    </figure>
  );
}

/** Explains the days on which the labeler was read late; nothing if there are none. */
function LateDays({ days }: { days: LabelerFacts['days'] }) {
  const late = days.filter(({ read_late: isLate }) => isLate === true);
  if (late.length === 0) return null;
  const which = late.length === 1 ? `On ${late[0]?.day}` : `On ${countText(late.length)} of these days`;
  return (
    <p data-name="late-days">
      {which}, labels were read late: after an outage they were accepted together, perhaps on the next day. Do not
      compare the numbers of these days and of the days after them with others.
    </p>
  );
}

function DayTable({ days, reasons }: { days: LabelerFacts['days']; reasons: ReadonlyMap<string, string> }) {
  return (
    <details>
      <summary>The same numbers as a table</summary>
      <table class="kinds day-table">
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            <th scope="col" class="number">
              Applied
            </th>
            <th scope="col" class="number">
              Removed
            </th>
            <th scope="col" class="number">
              Part of the day read
            </th>
          </tr>
        </thead>
        <tbody>
          {days.map(({ day, applied, removed, read_share: share, read_late: late = false }, index) => (
            <tr key={day}>
              <th scope="row">
                <time dateTime={day} data-said={`${at}/days/${index}/day`}>
                  {day}
                </time>
                {reasons.has(day) ? <small>Not read: {reasons.get(day)}</small> : null}
              </th>
              <Cell value={applied} at={`${at}/days/${index}/applied`} />
              <Cell value={removed} at={`${at}/days/${index}/removed`} />
              <td class="number">
                <Percent value={share} at={`${at}/days/${index}/read_share`} />
                {late ? ', read late' : null}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function Cell({ value, at: where }: { value: number | null; at: string }) {
  return <td class="number">{value === null ? <Unknown>not known</Unknown> : <Count value={value} at={where} />}</td>;
}

const dayMs = 86_400_000;
/** Maximum number of days in a chart: more than any window has. An older part of a longer window is not drawn. */
const maxDays = 100;
/** Reason of the part of the first day that is before the window. */
const beforeWindow = 'before the window';

type ActivityFacts = Pick<LabelerFacts, 'window' | 'days' | 'gaps' | 'state' | 'state_since'>;

/**
 * Creates the chart of a labeler's applications (above zero) and removals (below zero) by day. Returns null for a window
 * without a length. A day that was not read is a hole with its reason, and a day that was read in part states its share.
 */
export function activityChart(facts: ActivityFacts): PageChart | null {
  const [windowStart, through] = [millis(facts.window.start), millis(facts.window.end)];
  if (!(through > windowStart)) return null;
  const last = dayStart(through - 1);
  const first = Math.max(dayStart(windowStart), last - (maxDays - 1) * dayMs);
  const listed = gapParts(facts).map(
    ({ start, end, text }): Hole => ({ start: millis(start.value), end: millis(end.value), reason: text }),
  );
  if (windowStart > first) listed.push({ start: first, end: windowStart, reason: beforeWindow });
  const byDay = new Map(facts.days.map((day) => [Date.parse(day.day), day]));
  const starts = Array.from({ length: Math.round((last - first) / dayMs) + 1 }, (_, i) => first + i * dayMs);
  const unread = starts
    .filter((start) => (byDay.get(start)?.applied ?? null) === null)
    .map((start) => ({ start, end: start + dayMs }));
  const holes = [...listed, ...unlistedHoles(unread, listed, through)].sort((a, b) => a.start - b.start);
  return {
    series: {
      ...{ id: 'activity', shape: 'bars', paint: 'labels', holes, through },
      bins: starts.map((start) => binOf(start, byDay.get(start), { windowStart, through, holes })),
    },
    title: 'Labels applied (above) and removed (below), by day',
    unit: 'per day',
    answer: '',
    columns: { value: 'Applied', below: 'Removed' },
  };
}

/** Returns a function that describes a day of the chart: its counts, and how much of it was not read and why. */
export function dayTitles(facts: Pick<ActivityFacts, 'days' | 'window'>): (bin: Bin) => string {
  const late = new Set(facts.days.filter((day) => day.read_late === true).map(({ day }) => day));
  const through = millis(facts.window.end);
  return ({ start, end, value, below, observed, reason }) => {
    const day = dayName(start);
    const because = reason === null ? '' : `: ${reason}`;
    if (value === null) return `${day}: counts not known, nothing read${because}`;
    return [
      `${day}: ${countText(value)} applied`,
      `${countText(below ?? 0)} removed`,
      ...(late.has(day) ? ['read late'] : []),
      ...(end > through ? ['so far'] : []),
      ...(observed < 1 ? [`${percentText(observed)} read${because}`] : []),
    ].join(', ');
  };
}

/**
 * Returns the reasons why days were not read entirely, by day; the texts of the chart. The time before the window is not
 * a reason, because the share of a day is that of its part within the window.
 */
export function unreadReasons(chart: PageChart | null): ReadonlyMap<string, string> {
  const { bins = [], holes = [] } = chart?.series ?? {};
  const reasons = bins.flatMap((bin): [string, string][] => {
    if (bin.reason === null) return [];
    const own = reasonsOf(
      bin,
      holes.filter(({ reason }) => reason !== beforeWindow),
    );
    return own === '' && bin.reason === beforeWindow ? [] : [[dayName(bin.start), own === '' ? bin.reason : own]];
  });
  return new Map(reasons);
}

/** Returns the reasons of the holes that overlap a period, in words; empty if no hole does. */
function reasonsOf({ start, end }: Pick<Bin, 'start' | 'end'>, holes: readonly Hole[]): string {
  const found = holes.filter((hole) => hole.start < end && hole.end > start).map(({ reason }) => reason);
  return [...new Set(found)].join(', ');
}

function binOf(
  start: number,
  day: LabelerFacts['days'][number] | undefined,
  {
    windowStart,
    through,
    holes,
  }: { readonly windowStart: number; readonly through: number; readonly holes: readonly Hole[] },
): Bin {
  const end = start + dayMs;
  const value = day?.applied ?? null;
  // The share of a day is that of its part within the window; the strip shows the share of the day until `through`.
  const inWindow = (Math.min(end, through) - Math.max(start, windowStart)) / (Math.min(end, through) - start);
  const observed = value === null ? 0 : (day?.read_share ?? 0) * inWindow;
  const reason = observed >= 1 ? null : reasonsOf({ start, end: Math.min(end, through) }, holes) || unlistedReason;
  return { start, end, value, below: day?.removed ?? null, observed, reason };
}

function dayName(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

function dayStart(at: number): number {
  return Math.floor(at / dayMs) * dayMs;
}

function millis(timestamp: string): number {
  return (parseTimestamp(timestamp) ?? Number.NaN) / 1000;
}

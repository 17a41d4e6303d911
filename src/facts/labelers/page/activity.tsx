import type { LabelerFacts } from '../../../contract/labelers.ts';
import { TimeChart } from '../../../web/chart/time-chart.tsx';
import { Count, Percent } from '../../../web/figures.tsx';
import { countText } from '../../../web/format.ts';
import { formatsOf } from '../../../web/language/formats.ts';
import { Legend } from '../../../web/legend.tsx';
import { peakText, signsOf } from '../../hours/chart-figure.tsx';
import { type PageChart, summaryOf } from '../../hours/hours-chart.ts';
import { Picture, Stat, Unknown } from '../../page/pieces.tsx';
import { activityChart, dayTitle, unreadReasons } from './activity-chart.ts';
import { at } from './gap-parts.ts';

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
          titleOf={(bin) => dayTitle(bin, facts)}
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

import type { LabelerFacts } from '../../../contract/labelers.ts';
import { parseTimestamp } from '../../../contract/timestamp.ts';
import { type ChartBar, type ChartSpan, DayChart } from '../../../web/day-chart.tsx';
import { Count, Percent } from '../../../web/figures.tsx';
import { countText, dateText } from '../../../web/format.ts';
import { Legend, type Sign, signText } from '../../../web/legend.tsx';
import { Picture, Stat, Unknown } from '../../page/pieces.tsx';
import { at } from './places.ts';

const dayMs = 86_400_000;

/** Shows the events of each day as a picture and as a table, with holes where the labeler was not read. */
export function Activity({ facts }: { facts: LabelerFacts }) {
  const { repeats } = facts;
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
        <Chart facts={facts} />
        {repeats === 0 ? null : (
          <p class="soft">
            Not counted: <Count value={repeats} at={`${at}/repeats`} /> rows that repeat known labels after a change of
            key.
          </p>
        )}
        <LateDays days={facts.days} />
        <DayTable days={facts.days} />
      </Picture>
    </section>
  );
}

/** Shows the number of events of a span, which is unknown if nothing was read in it. */
function Events({ facts, span }: { facts: LabelerFacts; span: keyof LabelerFacts['events'] }) {
  const events = facts.events[span];
  return events === null ? <Unknown>not read</Unknown> : <Count value={events} at={`${at}/events/${span}`} />;
}

function Chart({ facts }: { facts: LabelerFacts }) {
  const { days, gaps, window } = facts;
  const start = millis(window.start);
  const length = millis(window.end) - start;
  if (!(length > 0)) return null;
  const place = (instant: number): number => Math.min(1, Math.max(0, (instant - start) / length));
  const bars = days.map(({ day, applied, removed, read_late: late = false }): ChartBar => {
    const from = Date.parse(`${day}T00:00:00Z`);
    const counted = applied === null || removed === null ? null : { up: applied, down: removed };
    const words = counted
      ? `${countText(counted.up)} applied, ${countText(counted.down)} removed`
      : 'not read: the counts are not known';
    return {
      from: place(from),
      to: place(from + dayMs),
      counts: counted,
      title: `${day}: ${words}${late ? ', read late' : ''}`,
    };
  });
  const spans = gaps.map(
    (gap): ChartSpan => ({ from: place(millis(gap.start)), to: place(millis(gap.end)), unseen: 'whole' }),
  );
  const signs: (readonly [Sign, string])[] = [
    ['up', 'applied'],
    ['down', 'removed'],
    ...(spans.length === 0 ? [] : [['unseen', signText.unseen] as const]),
    ...(bars.some(({ counts }) => counts === null) ? [['uncounted', 'nothing read: counts not known'] as const] : []),
  ];
  return (
    <div data-name="chart">
      <DayChart bars={bars.filter(({ from, to }) => to > from)} spans={spans} summary={summaryOf(facts)} />
      <p class="chart-ends">
        <span>{dateText(window.start)}</span>
        <span>{dateText(window.end)}</span>
      </p>
      <Legend signs={signs} />
    </div>
  );
}

function summaryOf({ gaps }: LabelerFacts): string {
  const holes = gaps.length === 0 ? 'without gaps' : 'with holes where the labeler was not read';
  return `Applications above the line and removals below it, by day, ${holes}. The table below lists the same numbers.`;
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

function DayTable({ days }: { days: LabelerFacts['days'] }) {
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

function millis(timestamp: string): number {
  return (parseTimestamp(timestamp) ?? Number.NaN) / 1000;
}

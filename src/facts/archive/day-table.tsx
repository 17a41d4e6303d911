import { countText, instantText, percentText, rateText } from '../../web/format.ts';
import { dayText, partShare } from './chart.tsx';
import type { ArchivedIssue, ChartDay, IssuesByDay } from './model.ts';

interface DayTableProps {
  readonly base: string;
  readonly days: readonly ChartDay[];
  readonly issues: IssuesByDay;
  readonly areLabelsShown: boolean;
}

/** Lists days, newest first, with their files and known issues. */
export function DayTable(props: DayTableProps) {
  const { base, days, issues, areLabelsShown } = props;
  const listed = listedIssues(issues.all);
  return (
    <div class="scroll">
      <table class="archive-days" id="days">
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            <th scope="col">Events per second</th>
            <th scope="col">{areLabelsShown ? 'Labels per hour' : 'Labels'}</th>
            <th scope="col">Files</th>
          </tr>
        </thead>
        <tbody>
          {days.toReversed().map((day) => (
            <tr key={day.day}>
              <th scope="row">{dayText(day.day)}</th>
              <td>{eventsText(day)}</td>
              <td>{areLabelsShown ? labelsText(day) : 'not shown'}</td>
              <td>
                {day.isArchived ? <Files base={base} day={day} /> : 'not archived'}
                <IssueLinks day={day.day} issues={issues} listed={listed} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Files({ base, day: { day, isClosed, hasFirstTables } }: { base: string; day: ChartDay }) {
  const folder = `${base}/archive/days/${day}`;
  return (
    <>
      {isClosed ? 'closed:' : 'open:'} <a href={`${folder}/day.json`}>record</a>{' '}
      {hasFirstTables ? (
        <>
          <a href={`${folder}/weather-by-hour.csv`}>weather</a> <a href={`${folder}/labels-by-hour.csv`}>labels</a>{' '}
        </>
      ) : (
        <>
          <a href={`${folder}/weather-totals.csv`}>weather</a> <a href={`${folder}/labels-totals.csv`}>labels</a>{' '}
        </>
      )}
      <a href={`${folder}/gaps.json`}>gaps</a>
    </>
  );
}

/** Maximum number of listed issues. */
const maxIssues = 10;
/** Maximum total length of the listed summaries, in characters. One issue is always listed, even if it is longer. */
const maxCharacters = 2_000;

/** Returns the newest issues, limited by number and length because a character takes up to six bytes in HTML. */
function listedIssues(issues: readonly ArchivedIssue[]): readonly ArchivedIssue[] {
  let characters = 0;
  const tooMany = issues.findIndex(({ summary }, at) => {
    characters += summary.length;
    return at >= maxIssues || (at > 0 && characters > maxCharacters);
  });
  return tooMany < 0 ? issues : issues.slice(0, tooMany);
}

/**
 * Lists the newest known issues in the words of the operator. Shows nothing if there are none. `issues` contains all
 * issues, newest first.
 */
export function IssueList({ base, issues }: { base: string; issues: readonly ArchivedIssue[] }) {
  if (issues.length === 0) return null;
  const listed = listedIssues(issues);
  const more = issues.length - listed.length;
  const file = `${base}/archive/known-issues.json`;
  return (
    <section aria-labelledby="issues">
      <h2 id="issues">Known issues</h2>
      <p>
        The operator lists known errors in published values in <a href={file}>known-issues.json</a>.
      </p>
      <ul>
        {listed.map(({ id, source, start, end, summary }) => (
          <li key={id} id={anchorOf(id)}>
            {source}, {instantText(start)} to {end === null ? 'now' : instantText(end)}: <bdi>{summary}</bdi>
          </li>
        ))}
        {more > 0 ? (
          <li>
            and <a href={file}>{countText(more)} more in the list</a>
          </li>
        ) : null}
      </ul>
    </section>
  );
}

/**
 * Links a day to the known issues that affect it. The link goes to the issue itself if there is only one and it is in
 * `listed`, and otherwise to the list. Shows nothing if no issue affects the day.
 */
function IssueLinks({ day, issues, listed }: IssueLinksProps) {
  const [first, ...more] = issues.on(day);
  if (!first) return null;
  const href = more.length === 0 && listed.includes(first) ? `#${anchorOf(first.id)}` : '#issues';
  return (
    <>
      {' '}
      <a href={href}>{more.length === 0 ? 'known issue' : `${countText(more.length + 1)} known issues`}</a>
    </>
  );
}

interface IssueLinksProps {
  readonly day: string;
  readonly issues: IssuesByDay;
  readonly listed: readonly ArchivedIssue[];
}

function anchorOf(id: string): string {
  return `issue-${id}`;
}

/** Describes the event rate of a day and, unless it is whole, its observed share. */
function eventsText({ eventsPerSecond, isArchived, isWeatherPartial, weatherObserved }: ChartDay): string {
  if (eventsPerSecond === null) return isArchived ? 'weather not observed' : 'weather unknown';
  return `${rateText(eventsPerSecond)}${isWeatherPartial ? partText(weatherObserved) : ''}`;
}

/** Describes the label rate of a day, the labels that are not part of it and, unless it is whole, its observed share. */
function labelsText({ labelsPerHour, isArchived, lateLabels, isLabelsPartial, labelsObserved }: ChartDay): string {
  const late = typeof lateLabels === 'number' ? `, ${countText(lateLabels)} read late` : '';
  if (labelsPerHour === null) return `${isArchived ? 'labels not observed' : 'labels unknown'}${late}`;
  return `${rateText(labelsPerHour)}${late}${isLabelsPartial ? partText(labelsObserved) : ''}`;
}

function partText(observed: number): string {
  return `, ${percentText(partShare(observed))} observed`;
}

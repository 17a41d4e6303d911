import { countText, instantText } from '../../web/format.ts';
import { type ArchivedIssue, issuesOn } from './model.ts';

/** Maximum number of issues that are listed. */
const maxIssues = 20;

/** Lists the known issues in the words of the operator, newest first; nothing without any. */
export function IssueList({ base, issues }: { base: string; issues: readonly ArchivedIssue[] }) {
  if (issues.length === 0) return null;
  const more = issues.length - maxIssues;
  return (
    <section aria-labelledby="issues">
      <h2 id="issues">Known issues</h2>
      <p>
        The operator lists in <a href={`${base}/archive/known-issues.json`}>known-issues.json</a> what is known to be
        wrong with published values.
      </p>
      <ul>
        {issues.slice(0, maxIssues).map(({ id, source, start, end, summary }) => (
          <li key={id} id={anchorOf(id)}>
            {source}, {instantText(start)} to {end === null ? 'now' : instantText(end)}: <bdi>{summary}</bdi>
          </li>
        ))}
        {more > 0 ? <li>and {countText(more)} more in the list</li> : null}
      </ul>
    </section>
  );
}

/** Links a day to its known issues that are listed. */
export function IssueLinks({ day, issues }: { day: string; issues: readonly ArchivedIssue[] }) {
  return issuesOn(day, issues.slice(0, maxIssues)).map(({ id }) => (
    <>
      {' '}
      <a key={id} href={`#${anchorOf(id)}`}>
        known issue
      </a>
    </>
  ));
}

function anchorOf(id: string): string {
  return `issue-${id}`;
}

import { addDays } from './days/calendar.ts';
import { formatIssues, issuesFile, issuesOf, type KnownIssue, parseIssues } from './days/known-issues.ts';
import { pathOf } from './days/paths.ts';
import type { ArchiveFiles } from './files/archive-files.ts';

/** Dependencies of `keepIssues`. */
interface IssueUpkeep {
  readonly files: ArchiveFiles;
  readonly findIdentityIn: (name: string, value: object) => string | null;
  readonly onDamage: (path: string) => void;
  readonly onIdentity: (path: string, why: string) => void;
}

/**
 * Copies the operator's known issues to the open days from `first` to `last` that they concern. An invalid list, or one
 * that contains an identity, changes nothing. A missing list is created without issues.
 */
export function keepIssues(upkeep: IssueUpkeep, first: string, last: string): void {
  const { files, findIdentityIn, onDamage, onIdentity } = upkeep;
  const bytes = files.read(issuesFile);
  if (!bytes) files.replace(issuesFile, formatIssues([]));
  const issues = bytes ? parseIssues(bytes) : [];
  const why = issues && findIdentityIn(issuesFile, { issues });
  if (!issues) onDamage(issuesFile);
  else if (why !== null) onIdentity(issuesFile, why);
  else copyIssues(files, issues, { first, last });
}

function copyIssues(
  files: ArchiveFiles,
  issues: readonly KnownIssue[],
  { first, last }: { first: string; last: string },
) {
  for (let day = first; day <= last; day = addDays(day, 1)) {
    const path = pathOf(day, issuesFile);
    const known = files.read(path);
    const own = issuesOf(day, issues);
    if (!known && own.length === 0) continue;
    const formatted = formatIssues(own);
    if (known?.equals(formatted) !== true) files.replace(path, formatted);
  }
}

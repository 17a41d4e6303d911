import { type SubjectKey, sameKey } from '../base/row.ts';
import { hotRows } from '../schema/day-schema.ts';
import { countsSql, targetSql } from '../schema/row-sql.ts';
import { type Group, type HotSubject, maxGroups } from './group.ts';

/** SQL that counts the rows of one subject by group, in group order. */
export const countedSql = `SELECT source, val, ${targetSql} AS target, ${countsSql} FROM main.observation
  WHERE subject = ? GROUP BY source, val, target ORDER BY source, val, target`;

/** SQL that counts the rows of every hot subject by group, ordered by subject. */
export const hotSubjectsSql = `SELECT subject, source, val, ${targetSql} AS target, ${countsSql} FROM main.observation
  WHERE subject IN (SELECT subject FROM main.observation GROUP BY subject HAVING count(*) >= ${hotRows})
  GROUP BY subject, source, val, target ORDER BY subject, source, val, target`;

/** Collects rows that are sorted by subject into the groups of each subject. */
export function* bySubject(rows: Iterable<readonly [SubjectKey, ...Group]>): Generator<HotSubject> {
  let last: { readonly subject: SubjectKey; readonly groups: Group[] } | null = null;
  for (const [subject, ...group] of rows) {
    if (last === null || !sameKey(last.subject, subject)) {
      if (last) yield last;
      last = { subject, groups: [] };
    }
    if (last.groups.length <= maxGroups) last.groups.push(group);
  }
  if (last) yield last;
}

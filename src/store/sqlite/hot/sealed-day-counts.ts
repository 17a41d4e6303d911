import type { Sqlite } from '../base/connection.ts';
import type { SubjectKey } from '../base/row.ts';
import { type Group, maxGroups } from './group.ts';
import { bySubject, hotSubjectsSql } from './group-sql.ts';
import { groupsSeed, packGroups } from './packed-groups.ts';

/**
 * Computes and stores the counts of hot subjects in a complete sealed day. Subjects with too many groups to read are
 * omitted.
 */
export function storeSealedDayCounts(db: Sqlite): void {
  const rows = db.prepare<[], [SubjectKey, ...Group]>(hotSubjectsSql).raw();
  // Insert after the query has ended, because the connection cannot write while a query runs.
  const packed: (readonly [SubjectKey, Buffer])[] = [];
  for (const { subject, groups } of bySubject(rows.iterate())) {
    if (groups.length <= maxGroups) packed.push([subject, packGroups(groups, groupsSeed(subject))]);
  }
  const insert = db.prepare('INSERT INTO main.busy_groups(subject, packed) VALUES (?, ?)');
  db.transaction(() => {
    for (const [subject, groups] of packed) insert.run(subject, groups);
  })();
}

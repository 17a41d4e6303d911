import type { Sqlite } from '../base/connection.ts';
import type { SubjectKey } from '../base/row.ts';
import { type Group, maxGroups } from './group.ts';
import { bySubject, hotSubjectsSql } from './group-sql.ts';
import { groupsSeed, packGroups } from './packed-groups.ts';

/** Stores the counts of a complete sealed day, except for subjects with too many groups to read. */
export function storeSealedDayCounts(db: Sqlite): void {
  const rows = db.prepare<[], [SubjectKey, ...Group]>(hotSubjectsSql).raw();
  // The rows are inserted after the query, because the query occupies the connection.
  const packed: (readonly [SubjectKey, Buffer])[] = [];
  for (const { subject, groups } of bySubject(rows.iterate())) {
    if (groups.length <= maxGroups) packed.push([subject, packGroups(groups, groupsSeed(subject))]);
  }
  const insert = db.prepare('INSERT INTO main.busy_groups(subject, packed) VALUES (?, ?)');
  db.transaction(() => {
    for (const [subject, groups] of packed) insert.run(subject, groups);
  })();
}

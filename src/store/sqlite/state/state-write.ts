import type { Micros } from '../../../contract/timestamp.ts';
import { StoreError } from '../../errors.ts';
import { addGap, withoutGap } from '../../gaps.ts';
import type { GapChange, StoredGap } from '../../port.ts';
import {
  type DefinitionShares,
  type Definitions,
  type LabelerKey,
  maxDefinitionRevisions,
  maxDefinitionsInAll,
  maxDefinitionsLength,
  maxDetailLength,
  maxKeysPerLabeler,
  maxNoteLength,
  type RosterRow,
} from '../../roster.ts';
import type { Sqlite } from '../base/connection.ts';
import { definitionSpace } from './definition-space.ts';
import { purgeChanges } from './purge-state.ts';
import { gapSource, stateQueries } from './state-read.ts';

/** Changes of the state file, each one durable commit; the caller owns the connection. */
export function stateChanges(db: Sqlite, definitionsInAll = maxDefinitionsInAll) {
  const queries = stateQueries(db);
  const insertGap = db.prepare('INSERT INTO gap(source, started, ended, reason) VALUES (?, ?, ?, ?)');
  const deleteGap = db.prepare('DELETE FROM gap WHERE source = ? AND started = ? AND ended = ? AND reason = ?');
  const beat = db.prepare('UPDATE epoch SET heartbeat = MAX(COALESCE(heartbeat, 0), ?)');
  const putRosterRow = db.prepare(
    `INSERT INTO roster(did, origin, provenance, enrolled, endpoint, state, state_since, detail)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(did) DO UPDATE SET origin = excluded.origin,
     provenance = excluded.provenance, enrolled = excluded.enrolled, endpoint = excluded.endpoint,
     state = excluded.state, state_since = excluded.state_since, detail = excluded.detail`,
  );
  const dropRosterRow = db.prepare('DELETE FROM roster WHERE did = ?');
  const putKeyRow = db.prepare(
    `INSERT INTO label_key(did, label_key, first_seen, last_seen) VALUES (?, ?, ?, ?)
     ON CONFLICT(did, label_key) DO UPDATE SET first_seen = MIN(first_seen, excluded.first_seen),
     last_seen = MAX(last_seen, excluded.last_seen)`,
  );
  const trimKeys = db.prepare(
    `DELETE FROM label_key WHERE did = ? AND label_key NOT IN
     (SELECT label_key FROM label_key WHERE did = ? ORDER BY last_seen DESC, label_key LIMIT ${maxKeysPerLabeler})`,
  );
  const insertDefinitions = db.prepare('INSERT INTO definitions(did, seen_at, content) VALUES (?, ?, ?)');
  const trimDefinitions = db.prepare(
    `DELETE FROM definitions WHERE did = ? AND id NOT IN
     (SELECT id FROM definitions WHERE did = ? ORDER BY id DESC LIMIT ${maxDefinitionRevisions})`,
  );
  const space = definitionSpace(db, definitionsInAll);
  const putNoteRow = db.prepare(
    'INSERT INTO note(name, content) VALUES (?, ?) ON CONFLICT(name) DO UPDATE SET content = excluded.content',
  );
  const deleteNote = db.prepare('DELETE FROM note WHERE name = ?');
  const addDay = db.prepare(
    'INSERT INTO day(day, sealed) VALUES (?, ?) ON CONFLICT(day) DO UPDATE SET sealed = excluded.sealed',
  );
  const forgetDay = db.prepare('DELETE FROM day WHERE day = ?');
  const removeDays = db.prepare('DELETE FROM day WHERE day < ?');
  const raiseFloor = db.prepare('UPDATE epoch SET floor = MAX(floor, ?)');
  const dropGaps = db.prepare('DELETE FROM gap WHERE ended <= ?');
  const dropPurges = db.prepare('DELETE FROM purge WHERE completed_at <= ?');

  function changeGaps(gap: StoredGap, change: (gaps: readonly StoredGap[], gap: StoredGap) => StoredGap[]): void {
    if (!(gap.start < gap.end)) throw new StoreError('invalid_query', 'a gap must end after it starts');
    const before = queries.gapsOf(gap.source);
    const after = change(before, gap);
    const source = gapSource(gap.source);
    for (const old of without(before, after)) deleteGap.run(source, old.start, old.end, old.reason);
    for (const made of without(after, before)) insertGap.run(source, made.start, made.end, made.reason);
  }

  const addDefinitions = db.transaction(({ did, seenAt, content }: Definitions, shares?: DefinitionShares): boolean => {
    bounded(content, maxDefinitionsLength, 'definitions');
    if (queries.definitions(did)[0]?.content === content) return false;
    insertDefinitions.run(did, seenAt, content);
    trimDefinitions.run(did, did);
    space.trim(did, shares);
    return true;
  });

  return {
    ...queries,
    ...purgeChanges(db, (gap) => changeGaps(gap, addGap)),
    beat: (at: Micros): void => void beat.run(at),
    recordGap: db.transaction((gap: StoredGap): void => changeGaps(gap, addGap)),
    withdrawGap: db.transaction((gap: StoredGap): void => changeGaps(gap, withoutGap)),
    changeGaps: db.transaction((changes: readonly GapChange[]): void => {
      for (const { kind, gap } of changes) changeGaps(gap, kind === 'record' ? addGap : withoutGap);
    }),
    dropRoster: db.transaction((dids: readonly string[]): void => {
      for (const did of dids) dropRosterRow.run(did);
    }),
    putRoster: db.transaction((rows: readonly RosterRow[]): void => {
      for (const row of rows) {
        bounded(row.detail, maxDetailLength, 'detail');
        const provenance = JSON.stringify(row.provenance);
        bounded(provenance, maxDetailLength, 'provenance');
        const { did, origin, endpoint, state, stateSince, detail } = row;
        putRosterRow.run(did, origin, provenance, row.enrolled ? 1 : 0, endpoint, state, stateSince, detail);
      }
    }),
    putKey: db.transaction(({ did, key, firstSeen, lastSeen }: LabelerKey): void => {
      bounded(key, maxDetailLength, 'key');
      putKeyRow.run(did, key, firstSeen, lastSeen);
      trimKeys.run(did, did);
    }),
    putDefinitions(definitions: Definitions, shares?: DefinitionShares): boolean {
      try {
        return addDefinitions.immediate(definitions, shares);
      } catch (error) {
        space.forget();
        throw error;
      }
    },
    putNote(name: string, text: string | null): void {
      if (text === null) deleteNote.run(name);
      else putNoteRow.run(name, bounded(text, maxNoteLength, 'note'));
    },
    /** Adds a day to the list before the first commit of its rows. */
    addDay: (day: number, sealed: boolean): void => void addDay.run(day, sealed ? 1 : 0),
    /** Removes a day with a lost file from the list. */
    forgetDay: (day: number): void => void forgetDay.run(day),
    /**
     * Raises the floor before any file below it is removed, so that a reader never takes a dropped day for an empty
     * one.
     */
    dropDaysBefore: db.transaction((day: number, floor: Micros): void => {
      raiseFloor.run(floor);
      removeDays.run(day);
      dropGaps.run(floor);
      dropPurges.run(floor);
    }),
  };
}

/** Changes of the state file. */
export type StateChanges = ReturnType<typeof stateChanges>;

function without(gaps: readonly StoredGap[], others: readonly StoredGap[]): StoredGap[] {
  const keys = new Set(others.map((gap) => `${gap.start} ${gap.end} ${gap.reason}`));
  return gaps.filter((gap) => !keys.has(`${gap.start} ${gap.end} ${gap.reason}`));
}

function bounded(text: string, longest: number, what: string): string {
  if (text.length > longest) throw new StoreError('invalid_query', `${what} is longer than ${longest} characters`);
  return text;
}

import type { Micros } from '../../../contract/timestamp.ts';
import type { Batch, NewObservation, Position, RefusalReason } from '../../port.ts';
import type { RefusedRows, RefusedRowsChange } from '../../refused-rows.ts';
import { hour, minute } from '../../time.ts';
import type { Sqlite } from '../base/connection.ts';
import { encodeRow, type Intern, type StoredRow } from '../base/row.ts';
import { metaNames, rowColumns } from '../schema/day-schema.ts';

/** Functions that write one commit's changes to each table, with prepared statements, in the caller's transaction. */

/** Number of rows of a source within a minute. */
interface MinuteCounter {
  readonly minute: number;
  readonly source: number;
  applied: number;
  removed: number;
}

/** Returns a function that stores observations, and returns the stored rows and their counts by minute and source. */
export function rowWriter(db: Sqlite, intern: Intern) {
  const insert = db.prepare(
    `INSERT INTO observation(${rowColumns}, identity) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  return (added: Commit['rows']) => {
    const minutes = new Map<string, MinuteCounter>();
    const rows: StoredRow[] = [];
    for (const { observation, at, identity } of added) {
      const row = encodeRow(at, observation, intern);
      insert.run(...row, identity);
      rows.push(row);
      count(minutes, Math.floor(at / minute), row[2], observation.label.neg === true);
    }
    return { rows, minutes: [...minutes.values()] };
  };
}

function count(minutes: Map<string, MinuteCounter>, at: number, source: number, isRemoval: boolean): void {
  const key = `${at} ${source}`;
  const counter = minutes.get(key) ?? { minute: at, source, applied: 0, removed: 0 };
  minutes.set(key, counter);
  if (isRemoval) counter.removed += 1;
  else counter.applied += 1;
}

/** Returns a function that adds rows to the counters of minutes and hours. */
export function counterWriter(db: Sqlite): (minutes: readonly MinuteCounter[]) => void {
  const add = (bucket: 'minute' | 'hour') =>
    db.prepare(
      `INSERT INTO counter_${bucket}(${bucket}, source, applied, removed) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET applied = applied + excluded.applied, removed = removed + excluded.removed`,
    );
  const [addMinute, addHour] = [add('minute'), add('hour')];
  return (minutes) => {
    for (const { minute: at, source, applied, removed } of minutes) {
      addMinute.run(at, source, applied, removed);
      addHour.run(Math.floor(at / 60), source, applied, removed);
    }
  };
}

/** Returns a function that adds refused labels to the counts of the hour that contains the given stamp. */
export function refusalWriter(db: Sqlite, intern: Intern): (refusals: Commit['refusals'], stamp: Micros) => void {
  const add = db.prepare(
    `INSERT INTO refusal(hour, source, reason, n) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n`,
  );
  return (refusals, stamp) => {
    for (const { source, reason, count: n } of refusals.values()) {
      add.run(Math.floor(stamp / hour), intern('source', source), reason, n);
    }
  };
}

/** Returns a function that stores changes to positions with the given acceptance time. */
export function positionWriter(db: Sqlite): (changes: Commit['positions'], at: Micros) => void {
  const put = db.prepare(
    `INSERT INTO position(source, endpoint, value, accepted_at) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET value = excluded.value, accepted_at = excluded.accepted_at`,
  );
  const remove = db.prepare('DELETE FROM position WHERE source = ? AND endpoint = ?');
  return (changes, at) => {
    for (const { source, endpoint, value } of changes) {
      if (value === null) remove.run(source, endpoint);
      else put.run(source, endpoint, value, at);
    }
  };
}

/** Returns a function that records the time of a commit, and the last stamp if the commit has rows. */
export function endWriter(db: Sqlite): (commit: Commit) => void {
  const setMeta = db.prepare(
    `INSERT INTO meta(name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = MAX(value, excluded.value)`,
  );
  return ({ rows, at }) => {
    const last = rows.at(-1)?.at;
    if (last !== undefined) setMeta.run(metaNames.last, last);
    setMeta.run(metaNames.through, at);
  };
}

/** Content of one commit to a day's file. */
export interface Commit {
  readonly rows: readonly { readonly observation: NewObservation; readonly at: number; readonly identity: Buffer }[];
  readonly refusals: ReadonlyMap<string, { source: string; reason: RefusalReason; count: number }>;
  readonly positions: Batch['positions'];
  readonly refusedRows: readonly RefusedRowsChange[];
  readonly at: Micros;
  /** First stamp of the commit. Set even without rows, because refusals are counted in the hour of this stamp. */
  readonly stamp: Micros;
  readonly bytes: number;
}

/** Data that a new day's file takes over from the previous day. */
export interface Carried {
  readonly generation: string;
  readonly positions: readonly Position[];
  readonly refusedRows: readonly RefusedRows[];
  readonly last: Micros | null;
  readonly through: Micros | null;
}

import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { writeHeartbeat } from '../../src/labels/assembly/heartbeat.ts';
import { openSqliteWriter, type SqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { day, hour, micros } from '../../src/store/time.ts';
import { labelers, labelNumber, noon, observationOf } from '../conformance/labels.ts';
import { generationId } from '../faults/store-state.ts';
import { rosterRow } from '../store/roster-row.ts';

const [mod = ''] = labelers;
const gapAt = micros(noon + 5 * day + hour);

async function append(writer: SqliteWriter, n: number, at: number, rows: number): Promise<void> {
  await writer.append({
    at: micros(at),
    observations: Array.from({ length: rows }, (_, i) => observationOf(labelNumber(1_000 * n + i))),
    refusals: [{ source: mod, reason: 'late', count: n + 1 }],
    positions: [{ source: mod, endpoint: 'wss://e.example', value: String(n) }],
  });
  await writeHeartbeat(writer, () => micros(at));
}

/** Durable changes that fill the store, in order. */
const changes: readonly ((writer: SqliteWriter) => Promise<unknown>)[] = [
  () => Promise.resolve(),
  (writer) =>
    writer.putRoster(
      labelers.map((did) =>
        rosterRow(did, { provenance: ['seeds'], endpoint: 'https://e.example', stateSince: noon, lastAnswered: noon }),
      ),
    ),
  (writer) => append(writer, 0, noon, 400),
  (writer) => writer.putNote('test', 'a note'),
  (writer) => writer.recordGap({ source: mod, reason: 'source_unavailable', start: noon, end: micros(noon + hour) }),
  (writer) => append(writer, 1, noon + 4 * day, 300),
  (writer) => append(writer, 2, noon + 4 * day + hour, 60),
  (writer) => writer.maintain(micros(noon + 4 * day + hour)),
  (writer) => append(writer, 3, noon + 5 * day, 100),
  (writer) => writer.recordGap({ source: null, reason: 'ingest_paused', start: gapAt, end: micros(gapAt + hour) }),
  (writer) => append(writer, 4, noon + 5 * day + 2 * hour, 40),
];

/**
 * Creates a store in `folder`/live, and a copy after each change in `folder`/0, /1 and so on. With `closes`, the store
 * is closed before each copy, so that no log remains. Otherwise each copy has the state that a power loss would leave.
 * Returns the number of copies.
 */
export async function makeStores(folder: string, closes: boolean): Promise<number> {
  const live = join(folder, 'live');
  let writer = openSqliteWriter({ folder: live, at: noon, generationId });
  for (const [n, change] of changes.entries()) {
    await change(writer);
    if (closes) await writer.close();
    cpSync(live, join(folder, String(n)), { recursive: true });
    if (closes) writer = openSqliteWriter({ folder: live, at: noon, generationId });
  }
  await writer.close();
  return changes.length;
}

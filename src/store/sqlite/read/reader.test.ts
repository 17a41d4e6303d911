import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { StoredGap } from '../../port.ts';
import { hour, micros } from '../../time.ts';
import { migrate } from '../base/connection.ts';
import { stateMigrations } from '../schema/state-schema.ts';
import { type StateChanges, stateChanges } from '../state/state.ts';
import { GapScan } from './reader.ts';

/** Number of stored gaps; reading them takes more than two turns of the event loop. */
const count = 5_000;
const reasons = ['source_unavailable', 'cursor_reset', 'ingest_paused'] as const;
const window = { start: micros(100 * hour), end: micros(800 * hour) };

let folder: string;
let opened: Database.Database[];
let writer: Database.Database;
let state: StateChanges;
let scan: GapScan;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-gaps-'));
  opened = [];
  const path = join(folder, 'state.sqlite');
  writer = new Database(path);
  writer.pragma('journal_mode = wal');
  writer.pragma('synchronous = off');
  migrate(writer, stateMigrations, '2026-07-01T00:00:00Z');
  state = stateChanges(writer);
  state.changeGaps(Array.from({ length: count }, (_, at) => ({ kind: 'record', gap: gapAt(at) })));
  scan = new GapScan(() => {
    const db = new Database(path, { readonly: true });
    opened.push(db);
    return db;
  });
});

afterEach(() => {
  scan.close();
  writer.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Returns gaps of 500 sources and of the instrument, some of which touch or extend beyond the window. */
function gapAt(at: number): StoredGap {
  const start = ((at * 7_919) % 1_000) * hour;
  const source = at % 50 === 0 ? null : `did:web:labeler-${at % 500}.example`;
  return {
    source,
    start: micros(start),
    end: micros(start + (1 + (at % 3)) * hour),
    reason: reasons[at % 3] ?? 'unknown',
  };
}

test('a scan returns the same clipped, merged and sorted gaps of all sources as a single query', async () => {
  const found = await scan.over(window);
  expect(found).toEqual(state.gaps(window));
  expect(found.length).toBeGreaterThan(2_000);
  expect(await scan.over({ start: micros(5_000 * hour), end: micros(5_001 * hour) })).toEqual([]);
  expect(opened).toHaveLength(1);
});

test('each scan returns the gaps as of the time of its call, even if the gaps change between its turns', async () => {
  const before = state.gaps(window);
  const reading = scan.over(window);
  const again = scan.over(window);
  state.dropDaysBefore(20_000, micros(500 * hour));
  const later = gapAt(1);
  state.recordGap({ ...later, source: 'did:web:zzz.example', start: window.start, end: window.end });
  expect(await reading).toEqual(before);
  expect(await again).toEqual(before);
  const after = await scan.over(window);
  expect(after).toEqual(state.gaps(window));
  expect(after.length).toBeLessThan(before.length);
});

test('a scan that is interrupted by close() rejects and leaves no connection open', async () => {
  await scan.over(window);
  const reading = scan.over(window);
  scan.close();
  await expect(reading).rejects.toMatchObject({ code: 'closed' });
  expect(opened.filter(({ open }) => open)).toEqual([]);
});

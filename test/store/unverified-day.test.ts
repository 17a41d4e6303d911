import { chmodSync, readdirSync, readlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { noon } from '../../harness/conformance/labels.ts';
import { startScript } from '../../harness/process/script.ts';
import { page, sealedToday, useSqliteFolder } from '../../harness/store/sqlite-folder.ts';
import type { FileEvent } from '../../src/store/sqlite/base/files.ts';
import { hotSubjectsSql } from '../../src/store/sqlite/hot/hot-counts.ts';
import { openSqliteReader } from '../../src/store/sqlite/read/reader.ts';
import { day, micros } from '../../src/store/time.ts';

const place = useSqliteFolder();
const later = micros(noon + 5 * day);

/**
 * Converts a sealed day to the format of version 2, which has no checksums and no filter, and stores counts in single
 * rows.
 */
async function sealedByVersion2(): Promise<void> {
  await place.sealBusyDay();
  chmodSync(place.dayPath(sealedToday), 0o644);
  place.change(
    sealedToday,
    `DROP TABLE counter_labeler; DROP TABLE block; DROP TABLE group_sum; DROP TABLE busy_groups; DROP TABLE subject_filter;
     CREATE TABLE busy(subject, source, val, target, applied, removed); INSERT INTO busy ${hotSubjectsSql};
     DELETE FROM migration WHERE version > 2; PRAGMA user_version = 2`,
  );
}

async function reports() {
  const reader = openSqliteReader(place.path);
  try {
    const found = [];
    for await (const report of reader.verify()) found.push(report);
    return found;
  } finally {
    await reader.close();
  }
}

/** Returns the target of a link, or an empty string if its descriptor is closed. */
function readLink(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/** Returns true if `verify` reports the sealed day as unverified, or undefined if it reports no sealed day. */
async function isUnverified(): Promise<boolean | undefined> {
  return (await reports()).find(({ sealed }) => sealed)?.unverified;
}

describe('a day that was sealed without checksums', () => {
  it('is unverified until upkeep rewrites it, even for open readers, and then has checksums and the same rows', async () => {
    await sealedByVersion2();
    const events: FileEvent[] = [];
    const reader = openSqliteReader(place.path);
    const before = await reader.readAccount(page);
    expect(await isUnverified()).toBe(true);
    const writer = place.open({ at: later, onFile: (event) => events.push(event) });
    await writer.maintain(later);
    await place.close();
    expect(events).toEqual([
      { name: sealedToday, day: '2024-10-04', action: 'rewritten', reason: 'the day now has checksums' },
    ]);
    expect(await isUnverified()).toBe(false);
    expect((await reports()).flatMap(({ problems }) => problems)).toEqual([]);
    expect(await reader.readAccount(page)).toEqual(before);
    // The open reader has closed the file that has no checksums.
    const held = readdirSync('/proc/self/fd').map((name) => readLink(`/proc/self/fd/${name}`));
    expect(held.filter((target) => target.startsWith(place.path) && target.endsWith('(deleted)'))).toEqual([]);
    await reader.close();
  });

  it.each([
    ['a changed counter', 'UPDATE counter_minute SET applied = applied + 1'],
    ['missing hours', 'DELETE FROM counter_hour'],
    ['a missing row', 'DELETE FROM observation WHERE id = (SELECT max(id) FROM observation)'],
  ])('stays unverified and is reported once if its counters do not match its rows (%s)', async (_, sql) => {
    await sealedByVersion2();
    place.change(sealedToday, sql);
    const events: FileEvent[] = [];
    const writer = place.open({ at: later, onFile: (event) => events.push(event) });
    for (let run = 0; run < 2; run++) await writer.maintain(later);
    await place.close();
    expect(events).toEqual([
      { name: sealedToday, day: '2024-10-04', action: 'left', reason: expect.stringMatching(/unverified.*--repair/) },
    ]);
    expect(await isUnverified()).toBe(true);
  });

  it.each(['checksums.written', 'checksums.renamed'])('gets its checksums after a kill (at %s)', async (point) => {
    await sealedByVersion2();
    const killed = startScript('store/killed-store.ts', ['maintain', place.path, String(later), point]);
    expect(await killed.ended).toBe('SIGKILL');
    expect((await reports()).flatMap(({ problems }) => problems)).toEqual([]);
    const writer = place.open({ at: later });
    await writer.maintain(later);
    await place.close();
    expect(await isUnverified()).toBe(false);
    expect(readdirSync(place.dayPath('')).filter((name) => name.includes('growing'))).toEqual([]);
  });
});

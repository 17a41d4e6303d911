import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { noon } from '../../harness/conformance/labels.ts';
import { batch, many, sealedToday, useSqliteFolder } from '../../harness/store/sqlite-folder.ts';
import type { labelsSettings } from '../../src/main/labels/labels-settings.ts';
import { upkeepActions } from '../../src/main/labels/labels-upkeep.ts';
import type { Values } from '../../src/ops/setting.ts';
import type { DayReport } from '../../src/store/port.ts';
import { pageBytes } from '../../src/store/sqlite/base/connection.ts';
import { DayReader } from '../../src/store/sqlite/day/day-reader.ts';
import { openSqliteReader } from '../../src/store/sqlite/read/reader.ts';
import { repairStore } from '../../src/store/sqlite/repair/repair.ts';
import { day, micros } from '../../src/store/time.ts';

const place = useSqliteFolder();
const later = micros(noon + 5 * day);

/** Creates a closed store with two sealed days, of which the first has many pages, and an open day. */
async function severalDays(): Promise<void> {
  const writer = place.open({ at: micros(noon - day) });
  for (let n = 0; n < 3; n++) await writer.append(many(n));
  await writer.append({ ...batch([10_000]), at: micros(noon + day) });
  await writer.append({ ...batch([20_000]), at: later });
  expect((await writer.maintain(later)).sealed).toEqual(['2024-10-04', '2024-10-05']);
  await place.close();
}

/** Returns the report of each day. `change` damages the store after it was opened. */
async function reports(change: () => unknown = () => undefined): Promise<DayReport[]> {
  const reader = openSqliteReader(place.path);
  try {
    await change();
    const found: DayReport[] = [];
    for await (const report of reader.verify()) found.push(report);
    return found;
  } finally {
    await reader.close();
  }
}

/** Overwrites one page of the first day's file. Pages are numbered from 0. */
async function damagePage(page: number): Promise<void> {
  chmodSync(place.dayPath(sealedToday), 0o644);
  const file = await open(place.dayPath(sealedToday), 'r+');
  await file.write(Buffer.alloc(pageBytes, 0xff), 0, pageBytes, page * pageBytes);
  await file.close();
}

/** Replaces the first day's file with a directory, which no user can read as a file. */
function makeUnreadable(): void {
  rmSync(place.dayPath(sealedToday));
  mkdirSync(place.dayPath(sealedToday));
}

const intact = [
  { day: '2024-10-05', sealed: true, unverified: false, rows: 1, problems: [] },
  { day: '2024-10-09', sealed: false, unverified: false, rows: 1, problems: [] },
];

describe('verify', () => {
  it('reports a day with a damaged page in the middle of its file, and checks the days after it', async () => {
    await severalDays();
    const pages = statSync(place.dayPath(sealedToday)).size / pageBytes;
    await damagePage(Math.floor(pages / 2));
    expect(await reports()).toEqual([
      { day: '2024-10-04', sealed: true, unverified: false, rows: 0, problems: expect.any(Array) },
      ...intact,
    ]);
    expect((await reports())[0]?.problems.at(-1)).toMatch(/2024-10-04.*malformed \(SQLITE_CORRUPT\)/);
  });

  it.each([
    ['is damaged in its first pages', () => damagePage(1)],
    ['is not a database', () => damagePage(0)],
    ['cannot be read', makeUnreadable],
    ['is missing', () => rmSync(place.dayPath(sealedToday))],
  ])('reports a day whose file %s while the store is open, and checks the days after it', async (_, change) => {
    await severalDays();
    expect(await reports(change)).toEqual([
      {
        day: '2024-10-04',
        sealed: true,
        unverified: false,
        rows: 0,
        problems: [expect.stringContaining('2024-10-04')],
      },
      ...intact,
    ]);
  });

  it('prints the problem of a damaged day, checks the days after it, and exits with 1 if it is run as a command', async () => {
    await severalDays();
    await damagePage(1);
    const lines: string[] = [];
    const values = { store: `sqlite:${place.path}`, repair: false } as Values<typeof labelsSettings>;
    expect(await upkeepActions.verify(values, (line) => lines.push(line), [])).toBe(1);
    expect(lines).toEqual([
      '2024-10-04 sealed 0 rows',
      expect.stringMatching(/^ {2}.*malformed/),
      '2024-10-05 sealed 1 rows in order',
      '2024-10-09 open 1 rows in order',
      'problems: 1',
    ]);
  });

  it('skips a day that expires during its check, and checks the days after it', async () => {
    await severalDays();
    const expired = vi.spyOn(DayReader.prototype, 'fileProblems').mockImplementationOnce(() => {
      // With a window of 30 days, the first day expires after 32 days.
      const script = fileURLToPath(new URL('../../harness/store/killed-store.ts', import.meta.url));
      const at = String(noon + 32 * day);
      expect(spawnSync(process.execPath, [script, 'maintain', place.path, at], { stdio: 'inherit' }).status).toBe(0);
      expect(existsSync(place.dayPath(sealedToday))).toBe(false);
      return [];
    });
    expect(await reports()).toEqual(intact);
    expect(expired).toHaveBeenCalled();
  });
});

it('a repair leaves a day with a damaged page unchanged, reports it, and checks the days after it', async () => {
  await severalDays();
  await damagePage(Math.floor(statSync(place.dayPath(sealedToday)).size / pageBytes / 2));
  const before = readFileSync(place.dayPath(sealedToday));
  const found = [];
  for await (const { day: report, repaired } of repairStore({ folder: place.path }))
    found.push({ ...report, repaired });
  expect(found).toEqual([
    expect.objectContaining({
      day: '2024-10-04',
      problems: expect.arrayContaining([expect.any(String)]),
      repaired: [],
    }),
    ...intact.map((report) => ({ ...report, repaired: [] })),
  ]);
  expect(readFileSync(place.dayPath(sealedToday)).equals(before)).toBe(true);
});

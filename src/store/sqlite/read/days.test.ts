import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dayStart, micros } from '../../time.ts';
import { storePaths } from '../base/files.ts';
import { Days } from './days.ts';

const interval = { start: dayStart(20_000), end: dayStart(20_001) };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-days-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a query over the days of an interval', () => {
  it('throws out_of_window if the floor rises during the read, so that a dropped day never counts as empty', () => {
    const days = new Days(storePaths(folder), {
      catalog: () => ({ floor: interval.start, days: [] }),
      generation: () => 'one',
      floor: () => micros(interval.start + 1),
    });
    expect(() => days.over(interval, () => 'read')).toThrowError(expect.objectContaining({ code: 'out_of_window' }));
  });

  it('retries while files are being moved, and throws damaged if a file stays missing', () => {
    let looks = 0;
    const days = new Days(storePaths(folder), {
      catalog: () => {
        looks += 1;
        return { floor: interval.start, days: looks < 3 ? [{ day: 20_000, sealed: 0, revision: 0 }] : [] };
      },
      generation: () => 'one',
      floor: () => interval.start,
    });
    expect(days.over(interval, (look) => look.days.length)).toBe(0);
    const lost = new Days(storePaths(folder), {
      catalog: () => ({ floor: interval.start, days: [{ day: 20_000, sealed: 1, revision: 0 }] }),
      generation: () => 'one',
      floor: () => interval.start,
    });
    expect(() => lost.over(interval, () => 'read')).toThrowError(expect.objectContaining({ code: 'damaged' }));
  });
});

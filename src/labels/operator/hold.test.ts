import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readHold, releaseHold, setHold, writeHeld } from './hold.ts';

const holdPath = (folder: string): string => join(folder, 'labels-hold.json');

const name = 'labels-overview.json';
const hold = { reason: 'a labeler floods us', since: '2026-11-20T12:00:00Z' };
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-hold-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const artifact = () => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Record<string, unknown>;

describe('a hold', () => {
  test('marks the current artifact, whose generation time stays the same, and all later artifacts until the hold is released', async () => {
    await writeHeld(folder, name, { generated_at: 'then' });
    expect(artifact()).toEqual({ generated_at: 'then', hold: false });
    await setHold(folder, name, hold);
    expect(artifact()).toEqual({ generated_at: 'then', hold: true });
    expect(await readHold(folder)).toEqual(hold);
    await writeHeld(folder, name, { generated_at: 'now' });
    expect(artifact()).toEqual({ generated_at: 'now', hold: true });
    expect(await releaseHold(folder, name)).toBe(true);
    expect(artifact()).toEqual({ generated_at: 'now', hold: false });
    expect(await releaseHold(folder, name)).toBe(false);
  });

  test('is marked in the hours file, which is rewritten as one line, until the hold is released', async () => {
    const hours = join(folder, 'labels-hours.json');
    writeFileSync(hours, '{"schema":"labels.hours.v1",\n"labelers":[]}');
    await setHold(folder, name, hold);
    expect(readFileSync(hours, 'utf8')).toBe('{"schema":"labels.hours.v1","labelers":[],"hold":true}\n');
    await releaseHold(folder, name);
    expect(readFileSync(hours, 'utf8')).toBe('{"schema":"labels.hours.v1","labelers":[],"hold":false}\n');
  });

  test('is released by the next attempt if the previous attempt failed after it removed the hold file', async () => {
    await writeHeld(folder, name, { generated_at: 'then' });
    await setHold(folder, name, hold);
    // A full disk can cause this state, in which the hold file is removed and the artifact still has the mark.
    rmSync(holdPath(folder));
    expect(await releaseHold(folder, name)).toBe(true);
    expect(artifact()).toEqual({ generated_at: 'then', hold: false });
  });

  test('is reported neither as set nor as released if the current artifact cannot be read', async () => {
    mkdirSync(join(folder, name));
    await expect(setHold(folder, name, hold)).rejects.toThrow('EISDIR');
    expect(await readHold(folder)).toEqual(hold);
    await expect(releaseHold(folder, name)).rejects.toThrow('EISDIR');
  });

  test.each([
    ['truncated', '{"reason": "a lab'],
    ['empty', ''],
    ['not an object', '[]'],
    ['without a reason', '{"since": "2026-11-20T12:00:00Z"}'],
    ['with a reason that is not a string', '{"reason": 7, "since": "2026-11-20T12:00:00Z"}'],
  ])('still applies to the artifact if the hold file is %s', async (_, text) => {
    await setHold(folder, name, hold);
    writeFileSync(holdPath(folder), text);
    expect(await readHold(folder)).toEqual({ reason: 'the hold file cannot be read', since: '' });
    await writeHeld(folder, name, { generated_at: 'now' });
    expect(artifact()).toEqual({ generated_at: 'now', hold: true });
  });

  test('applies if the hold file cannot be read', async () => {
    mkdirSync(holdPath(folder));
    await writeHeld(folder, name, { generated_at: 'now' });
    expect(artifact()).toEqual({ generated_at: 'now', hold: true });
  });

  test.each([name, 'labels-hours.json'])(
    'is released without restoring an older %s that the instrument has replaced in the meantime',
    async (file) => {
      const path = join(folder, file);
      const write = (value: object) => {
        writeFileSync(join(folder, 'next'), JSON.stringify(value));
        renameSync(join(folder, 'next'), path);
      };
      write({ generated_at: 'then', hold: true });
      const released = releaseHold(folder, name);
      // A temporary file exists from after the read until the rename, which is several turns of the event loop later.
      while (!readdirSync(folder).some((entry) => entry.startsWith(`.${file}.`))) await new Promise(setImmediate);
      write({ generated_at: 'now', hold: true });
      await released;
      expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ generated_at: 'now', hold: false });
      expect(readdirSync(folder)).toEqual([file]);
    },
  );

  test.each([name, 'labels-hours.json'])(
    'is set although an instrument that starts removes the temporary file of %s',
    async (file) => {
      writeFileSync(join(folder, file), '{"hold":false}');
      const set = setHold(folder, name, hold);
      const temporary = () => readdirSync(folder).find((entry) => entry.startsWith(`.${file}.`));
      while (temporary() === undefined) await new Promise(setImmediate);
      rmSync(join(folder, temporary() ?? ''));
      await set;
      expect(JSON.parse(readFileSync(join(folder, file), 'utf8'))).toEqual({ hold: true });
      expect(readdirSync(folder).toSorted()).toEqual(['labels-hold.json', file].toSorted());
    },
  );

  test('and its release take effect even in an artifact that is being written', async () => {
    const seen: unknown[] = [];
    for (let i = 0; i < 100; i += 1) {
      const change = i % 2 === 0 ? () => setHold(folder, name, hold) : () => releaseHold(folder, name);
      // The number of event-loop turns varies, so that the two operations overlap at different points.

      const written = writeHeld(folder, name, { i });
      for (let turn = 0; turn < i % 10; turn += 1) await new Promise(setImmediate);
      await Promise.all([written, change()]);
      seen.push(artifact().hold);
    }
    expect(seen).toEqual(Array.from({ length: 100 }, (_, i) => i % 2 === 0));
  });
});

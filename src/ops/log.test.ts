import fs, { closeSync, openSync } from 'node:fs';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createLog } from './log.ts';

/** Replaces the writes of the log by a disk with a number of free bytes, which the test may change. */
function smallDisk(free: number) {
  const disk = { free, text: '', writes: 0 };
  const write = vi.spyOn(fs, 'writeSync').mockImplementation(((_fd: number, data: string | Buffer): number => {
    disk.writes += 1;
    const written = Buffer.from(data).subarray(0, disk.free);
    if (written.length === 0 && data.length > 0) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
    disk.free -= written.length;
    disk.text += written.toString();
    return written.length;
  }) as typeof fs.writeSync);
  onTestFinished(() => write.mockRestore());
  return disk;
}

const messagesOf = (text: string): unknown[] =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { msg: unknown }).msg);

test.runIf(process.platform === 'linux')('a log on a full device does not throw', () => {
  const fd = openSync('/dev/full', 'w');
  onTestFinished(() => closeSync(fd));
  const log = createLog('x', 'info', fd);
  log.info('a');
  log.with({ part: 'weather' }).error('b');
});

test('lines that a full disk did not accept are written whole and in order once there is space', () => {
  const disk = smallDisk(150);
  const log = createLog('x', 'info');
  for (const message of ['a', 'b', 'c']) log.info(message);
  expect(disk.text.length).toBe(150);
  disk.free = Number.POSITIVE_INFINITY;
  log.info('d');
  expect(messagesOf(disk.text)).toEqual(['a', 'b', 'c', 'd']);
});

test('while the disk is full, at most 64 KiB of lines are kept, and writing resumes with the next line', () => {
  const disk = smallDisk(0);
  const log = createLog('x', 'info');
  const long = 'x'.repeat(1_000);
  for (let line = 0; line < 1_000; line += 1) log.info(long);
  expect(disk.writes).toBe(1_000);
  disk.free = Number.POSITIVE_INFINITY;
  log.info(long);
  const kept = disk.text.length;
  log.info('after');
  expect([kept > 60_000, kept <= 65_536, messagesOf(disk.text).at(-1)]).toEqual([true, true, 'after']);
});

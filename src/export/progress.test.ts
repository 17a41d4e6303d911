import { describe, expect, it } from 'vitest';
import { showProgress } from './progress.ts';

function shown(terminal: boolean) {
  let text = '';
  let now = 0;
  const progress = showProgress({
    write: (more) => {
      text += more;
    },
    terminal,
    clock: () => now,
  });
  return { progress, text: () => text, pass: (ms: number) => (now += ms) };
}

describe('showProgress', () => {
  it('rewrites one line on a terminal, and clears it before other messages and at the end', () => {
    const { progress, text } = shown(true);
    progress.rows(0, 1200, 1, 1);
    progress.rows(500, 1200, 1, 1);
    progress.waiting('the service is busy (store_busy)', 2000);
    progress.rows(1000, 1200, 1, 1);
    progress.end();
    expect(text()).toBe(
      '\r\x1b[K0 of at most 1,200 rows\r\x1b[K500 of at most 1,200 rows' +
        '\r\x1b[Kalmanac: the service is busy (store_busy); retrying in 2.0 s\n' +
        '\r\x1b[K1,000 of at most 1,200 rows\r\x1b[K',
    );
  });

  it('prints plain lines if the output is not a terminal, and the row count at most every five seconds', () => {
    const { progress, text, pass } = shown(false);
    progress.rows(0, 1200, 1, 3);
    pass(4999);
    progress.rows(500, 1200, 1, 3);
    pass(1);
    progress.rows(1000, 1200, 2, 3);
    progress.restarted();
    progress.narrowed(3);
    progress.end();
    expect(text()).toBe(
      'almanac: 0 of at most 1,200 rows, part 1 of 3\n' +
        'almanac: 1,000 of at most 1,200 rows, part 2 of 3\n' +
        'almanac: the export expired; restarting\n' +
        'almanac: the interval has more rows than one export may contain; requesting 3 parts\n',
    );
  });
});

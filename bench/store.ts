/**
 * Measures the observation store: `node bench/store.ts [--rows 1400000] [--batch 500] [--window FOLDER] [--out FILE]`.
 *
 *  1. One day of rows appended in batches, each durable, by quarters; the same rows into one plain table
 *     (unless `--no-plain`).
 *  2. That day sealed beside 500 labels a second; the store opened again.
 *  3. With `--window`, a store made by store-generator.ts: the overview's counts, account pages cold (the system's
 *     page cache dropped, where it lets us) and warm, and how long dropping a day stops acceptance.
 *
 * Making the labels is not in the times. Prints a table; `--out` adds the figures as JSON.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { measureDay } from './store-day.ts';
import { rowsOfDay } from './store-traffic.ts';
import { measureWindow } from './store-window.ts';

const { values } = parseArgs({
  allowNegative: true,
  options: {
    plain: { type: 'boolean', default: true },
    rows: { type: 'string', default: String(rowsOfDay) },
    batch: { type: 'string', default: '500' },
    window: { type: 'string' },
    'skip-day': { type: 'boolean', default: false },
    out: { type: 'string' },
  },
});
const figures: Record<string, number | string> = {};

function report(name: string, value: number | string): void {
  figures[name] = value;
  const text = typeof value === 'number' ? value.toLocaleString('en', { maximumFractionDigits: 2 }) : value;
  console.log(`${name.padEnd(62)} ${text}`);
}

if (!values['skip-day']) {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-bench-'));
  try {
    await measureDay(
      folder,
      { rows: Number(values.rows), batchRows: Number(values.batch), plain: values.plain },
      report,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
if (values.window !== undefined) await measureWindow(values.window, report);
if (values.out !== undefined) writeFileSync(values.out, `${JSON.stringify(figures, null, 1)}\n`);

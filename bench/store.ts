/**
 * Measures the observation store: `node bench/store.ts [--rows 1400000] [--batch 500] [--no-plain] [--skip-day]
 * [--window FOLDER] [--out FILE]`.
 *
 *  1. Appending one day of rows in durable batches, by quarters of the day; the same rows go into one plain table
 *     (unless `--no-plain`).
 *  2. Sealing that day with 500 labels per second, and opening the store again.
 *  3. With `--window`, a store created by store-generator.ts: the overview's counts, account pages with an empty page
 *     cache (if the system permits dropping it) and a warm one, how long dropping a day blocks acceptance, and
 *     appending to the full window.
 *
 * `--skip-day` leaves out the first two parts. The rates of appending exclude the time that creating the labels takes.
 * Prints a table; `--out` writes the figures as JSON.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { temporaryFolder } from '../harness/process/at-exit.ts';
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
  const { folder, remove } = temporaryFolder('bench');
  try {
    await measureDay(
      folder,
      { rows: Number(values.rows), batchRows: Number(values.batch), plain: values.plain },
      report,
    );
  } finally {
    remove();
  }
}
if (values.window !== undefined) await measureWindow(values.window, report);
if (values.out !== undefined) writeFileSync(values.out, `${JSON.stringify(figures, null, 1)}\n`);

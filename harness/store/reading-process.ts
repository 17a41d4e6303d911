/**
 * Reads a store while another process writes it: `reading-process.ts FOLDER`. Reads all rows repeatedly; each result
 * must begin with all rows of the previous result. Prints `reading` after each of the first five results. After it
 * has read the row whose value is `last`, prints the final number of rows and exits.
 */
import { writeSync } from 'node:fs';
import { openSqliteReader } from '../../src/store/sqlite/read/reader.ts';
import { micros } from '../../src/store/time.ts';
import { accounts } from './appender-batches.ts';
import { countRows, scanAccount } from './scan.ts';

const store = openSqliteReader(process.argv[2] ?? '');
const { floor } = await store.frontier();
let seen = 0;
let readings = 0;
for (let ended = false; !ended; ) {
  const { end } = await store.frontier();
  if (end <= floor) continue;
  const numbers: number[] = [];
  for (const account of accounts) {
    for await (const rows of scanAccount(store, { account, start: floor, end, order: 'newest' }, 1e6)) {
      for (const { label } of rows) {
        numbers.push(Number(label.exp));
        ended ||= label.val === 'last';
      }
    }
  }
  numbers.sort((a, b) => a - b);
  if (numbers.some((n, i) => n !== i)) throw new Error(`rows are missing from a read of ${numbers.length} rows`);
  const counted = await countRows(store, { start: floor, end });
  if (counted !== numbers.length) throw new Error(`${counted} rows were counted, but ${numbers.length} were read`);
  if (numbers.length < seen) throw new Error(`${seen} rows were read before, but now only ${numbers.length}`);
  seen = numbers.length;
  readings += 1;
  if (readings <= 5) writeSync(1, 'reading\n');
  await store.positions();
  if ((await store.frontier()).floor !== micros(floor)) throw new Error('the retention floor changed');
}
writeSync(1, `${JSON.stringify({ seen, several: readings > 5 })}\n`);
await store.close();

/**
 * Measures reading the counters of all labelers over many days: `node bench/store/labelers.ts [--labelers 700]
 * [--values 5] [--days 31] [--own-values]`. With `--own-values`, no two days and no two labelers share a value.
 */
import { parseArgs } from 'node:util';
import { temporaryFolder } from '../../harness/process/at-exit.ts';
import { maxBatchRows, type NewObservation } from '../../src/store/port.ts';
import { openSqliteReader } from '../../src/store/sqlite/read/reader.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { day as dayLength, dayStart, micros } from '../../src/store/time.ts';

const { values: options } = parseArgs({
  options: {
    labelers: { type: 'string', default: '700' },
    values: { type: 'string', default: '5' },
    days: { type: 'string', default: '31' },
    'own-values': { type: 'boolean', default: false },
  },
});
const [labelers, values, days] = [options.labelers, options.values, options.days].map(Number) as [
  number,
  number,
  number,
];
const first = 20_700;
const { folder, remove } = temporaryFolder('bench');

/** Returns the n-th row of a day. Over the day, each labeler applies each of its values once. */
function rowOf(day: number, n: number): NewObservation {
  const [labeler, value] = [n % labelers, Math.floor(n / labelers)];
  const delay = 20 * 2 ** ((n + day) % 18);
  return {
    live: true,
    signature: 'verified',
    label: {
      src: `did:plc:${String(labeler).padStart(24, 'a')}`,
      uri: `did:plc:${String(n % 997).padStart(24, 'c')}`,
      val: options['own-values'] ? `value-${value}-${labeler}-${day}` : `value-${value}`,
      cts: new Date(dayStart(day) / 1000 - delay).toISOString(),
    },
  };
}

async function fill(): Promise<void> {
  const store = openSqliteWriter({ folder, at: dayStart(first), durable: false });
  for (let day = first; day < first + days; day++) {
    for (let from = 0; from < labelers * values; from += maxBatchRows) {
      const length = Math.min(maxBatchRows, labelers * values - from);
      const observations = Array.from({ length }, (_, i) => rowOf(day, from + i));
      await store.append({ at: micros(dayStart(day) + from), observations, refusals: [], positions: [] });
    }
    await store.maintain(micros(dayStart(day) + dayLength / 2));
  }
  await store.close();
}

try {
  await fill();
  const reader = openSqliteReader(folder);
  for (const turn of ['first', 'second', 'third', 'fourth']) {
    const [started, before] = [performance.now(), process.cpuUsage()];
    const counted = await reader.labelerCounters({ start: dayStart(first), end: dayStart(first + days) });
    const { user, system } = process.cpuUsage(before);
    const took = `${(performance.now() - started).toFixed(1)} ms, ${((user + system) / 1000).toFixed(1)} ms of processor time`;
    console.log(`${turn} call, ${counted.labelers.length} labelers: ${took}`);
  }
  await reader.close();
} finally {
  remove();
}

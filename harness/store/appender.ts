/**
 * Appends to a store until it is killed: `appender.ts FOLDER [FAULT:COUNT]`. Prints `open N` with the number of the
 * next label. Continues from the stored position, sends half of each batch a second time, and prints `ack N` when all
 * labels before N are stored. Kills its own process when it reaches the fault point FAULT for the COUNT-th time. The
 * simulated clock runs fast, so that days begin, are sealed and, with a small window, are dropped.
 */
import { writeSync } from 'node:fs';
import type { Batch } from '../../src/store/port.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { hour, micros } from '../../src/store/time.ts';
import { batchFrom, firstInstant, rowsOfBatch, source } from './appender-batches.ts';

const [folder = '', fault = ''] = process.argv.slice(2);
const [point, count] = fault.split(':');
let left = Number(count ?? 0);

const store = openSqliteWriter({
  folder,
  at: firstInstant,
  faults: (reached) => {
    if (reached === point && --left === 0) process.kill(process.pid, 'SIGKILL');
  },
});

const [position] = await store.positions();
let next = Number(position?.value ?? 0);
// Continue the simulated wall clock from the last heartbeat.
let at: number = (await store.heartbeat()) ?? firstInstant;
writeSync(1, `open ${next}\n`);
for (;;) {
  await store.beat(micros(at));
  // Send half of each batch again, as a source does after a lost acknowledgement.
  const start = Math.max(0, next - rowsOfBatch / 2);
  next = start + rowsOfBatch;
  const batch: Batch = {
    at: micros(at),
    observations: batchFrom(start),
    refusals: [{ source, reason: 'late', count: 1 }],
    positions: [{ source, endpoint: 'wss://e.example', value: String(next) }],
  };
  await store.append(batch);
  writeSync(1, `ack ${next}\n`);
  at += hour;
  if ((next / rowsOfBatch) % 10 === 0) await store.maintain(micros(at));
}

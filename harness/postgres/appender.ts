/**
 * Appends to a store in PostgreSQL until it is killed: `appender.ts URL LEASE_MS`. Prints `open N` with the number of
 * the next label. Continues from the stored position, sends half of each batch a second time, without waiting for the
 * first batch of three, and prints `ack N` when all labels before N are stored. Retries after a transient error. Prints `refused CODE` and exits if the store refuses
 * a batch. The simulated clock runs fast, so that days begin, are sealed and are dropped.
 */
import { writeSync } from 'node:fs';
import { StoreError } from '../../src/store/errors.ts';
import { parsePostgresUrl } from '../../src/store/postgres/base/place.ts';
import { openPostgresWriter } from '../../src/store/postgres/write/writer.ts';
import { hour, micros } from '../../src/store/time.ts';
import { batchFrom, firstInstant, rowsOfBatch, source } from '../store/appender-batches.ts';

const [url = '', leaseMs = ''] = process.argv.slice(2);

const store = await openPostgresWriter({
  place: parsePostgresUrl(url),
  at: firstInstant,
  leaseMs: Number(leaseMs),
});
const [position] = await store.positions();
let next = Number(position?.value ?? 0);
// Continue the simulated wall clock from the last heartbeat.
let at: number = (await store.heartbeat()) ?? firstInstant;
writeSync(1, `open ${next}\n`);

/** Appends the batch with the labels before `end`. Half of them were sent before, as after a lost acknowledgement. */
async function append(end: number): Promise<void> {
  await store.append({
    at: micros(at),
    observations: batchFrom(end - rowsOfBatch),
    refusals: [{ source, reason: 'late', count: 1 }],
    positions: [{ source, endpoint: 'wss://e.example', value: String(end) }],
  });
  next = end;
  writeSync(1, `ack ${next}\n`);
}

/** Appends the next three batches, and occasionally runs the store's upkeep. */
async function step(): Promise<void> {
  await store.beat(micros(at));
  const end = Math.max(0, next - rowsOfBatch / 2) + rowsOfBatch;
  const first = append(end);
  // The store has begun the commit of the first batch, and then commits the others together.
  await new Promise(setImmediate);
  const outcomes = await Promise.allSettled([first, append(end + rowsOfBatch / 2), append(end + rowsOfBatch)]);
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
  at += hour;
  if ((next / rowsOfBatch) % 10 === 0) await store.maintain(micros(at));
}

for (;;) {
  try {
    await step();
  } catch (error) {
    // Retry as the instrument does: the server may have aborted the transaction while this process was suspended.
    if (error instanceof StoreError && error.retry) continue;
    writeSync(1, `refused ${error instanceof StoreError ? error.code : String(error)}\n`);
    process.exit(3);
  }
}

import { parentPort, workerData } from 'node:worker_threads';
import { StoreError } from '../../errors.ts';
import { storeError } from '../base/connection.ts';
import { type DayTask, writeDay } from './seal-day.ts';

/** Entry point of the worker thread: writes one sealed day and posts the result as a message. */
if (parentPort) {
  const { task, from, growing } = workerData as { task: DayTask; from: string; growing: string };
  try {
    parentPort.postMessage({ rows: writeDay(task, from, growing) });
  } catch (thrown) {
    const error = storeError(thrown, growing);
    const code = error instanceof StoreError ? error.code : 'unexpected';
    parentPort.postMessage({ code, why: error instanceof Error ? error.message : String(error) });
  }
}

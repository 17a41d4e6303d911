import { parentPort, workerData } from 'node:worker_threads';
import { StoreError } from '../../errors.ts';
import { storeError } from '../base/connection.ts';
import type { DayTask } from './replace-day.ts';
import { purgeSealedDay, rebuildDay, sealDay, writeWithoutSpaceRows } from './seal-day.ts';

/** Entry point of the worker thread: writes one sealed day and posts the result as a message. */
if (parentPort) {
  const task = workerData as DayTask;
  try {
    const rows = written(task);
    parentPort.postMessage({ rows });
  } catch (thrown) {
    const error = storeError(thrown, task.growing);
    const code = error instanceof StoreError ? error.code : 'unexpected';
    parentPort.postMessage({ code, why: error instanceof Error ? error.message : String(error) });
  }
}

function written(task: DayTask): number {
  const { kind, from, growing, day } = task;
  switch (kind) {
    case 'seal':
      return sealDay(from, growing, day);
    case 'purge':
      return purgeSealedDay(from, growing, day, task.source);
    case 'spaces':
      return writeWithoutSpaceRows(from, growing, day);
    case 'check':
    case 'repair':
      return rebuildDay(from, growing, day, kind === 'check');
  }
}

import { parentPort, workerData } from 'node:worker_threads';
import { purgeSealedDay } from './purge-sealed-day.ts';
import type { DayTask } from './seal.ts';
import { sealDay } from './seal-day.ts';

/** The thread that rewrites one day; what it finds goes back as a message. */
if (parentPort) {
  const task = workerData as DayTask;
  try {
    const rows =
      task.kind === 'seal'
        ? sealDay(task.open, task.growing, task.day)
        : purgeSealedDay(task.sealed, task.growing, task.source);
    parentPort.postMessage({ rows });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'damaged';
    parentPort.postMessage({ code, why: error instanceof Error ? error.message : String(error) });
  }
}

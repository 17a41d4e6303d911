import { parentPort, workerData } from 'node:worker_threads';
import { rebuildDay } from './rebuild-day.ts';
import type { DayTask } from './seal.ts';
import { sealDay } from './seal-day.ts';

/** The thread that writes one sealed day; the result goes back as a message. */
if (parentPort) {
  const { kind, from, growing, day } = workerData as DayTask;
  try {
    const rows = kind === 'seal' ? sealDay(from, growing, day) : rebuildDay(from, growing, day, kind === 'check');
    parentPort.postMessage({ rows });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'damaged';
    parentPort.postMessage({ code, why: error instanceof Error ? error.message : String(error) });
  }
}

import { parentPort, workerData } from 'node:worker_threads';
import { sealDay } from './seal-day.ts';

/** The thread that rewrites one day; what it finds goes back as a message. */
if (parentPort) {
  const { open, growing, day } = workerData as { open: string; growing: string; day: number };
  try {
    parentPort.postMessage({ rows: sealDay(open, growing, day) });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'damaged';
    parentPort.postMessage({ code, why: error instanceof Error ? error.message : String(error) });
  }
}

import { setTimeout as wait } from 'node:timers/promises';
import { errorFields } from '../../ops/log.ts';
import { storeFault } from '../window/store-faults.ts';
import { runSession, type SessionOptions } from './session.ts';

/** Settings of the sessions of one host. */
export interface SessionsOptions extends SessionOptions {
  /** Interval between attempts to write while the disk is full, in milliseconds. */
  readonly probeMs: number;
  /** Called when a session has ended because the disk is full. */
  readonly notWritten: () => void;
}

/**
 * Runs consecutive sessions until the signal aborts. A session ends when the disk is full. The next session then reads
 * the uncommitted events again from the stored position. Rejects with any error other than a full disk.
 */
export async function runSessions(options: SessionsOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      await runSession(options, signal);
    } catch (error) {
      if (storeFault(error) !== 'full') throw error;
      options.notWritten();
      options.log.error(
        'the weather store cannot be written: events are not counted until a write succeeds',
        errorFields(error),
      );
      await untilWritable(options, signal);
    }
  }
}

async function untilWritable({ store, log, probeMs }: SessionsOptions, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await wait(probeMs, undefined, { signal }).catch(() => undefined);
    try {
      store.probe();
      log.info('the weather store can be written again');
      return;
    } catch (error) {
      if (storeFault(error) !== 'full') throw error;
    }
  }
}

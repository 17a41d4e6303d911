import { setTimeout as wait } from 'node:timers/promises';
import { OperatorError, systemCode } from '../../ops/errors.ts';
import { storeProcesses } from '../../store/open.ts';
import type { StoreProcesses } from '../../store/standby/standby.ts';
import { type LabelsAction, storeFolder } from './labels-action.ts';
import { refused } from './opened-store.ts';

/** Interval between two looks at the processes, in milliseconds. */
const lookMs = 100;
/** Maximum wait until the standby is ready, in milliseconds. */
const readyWithinMs = 90_000;
/** Maximum wait until the standby is the writer, in milliseconds. */
const doneWithinMs = 30_000;

/** Stops the active instrument once its standby is ready, and waits until the standby is the active one. */
export const handOver: LabelsAction = async ({ store: url, state }, print) => {
  storeFolder({ store: url, state });
  const look = (): StoreProcesses => processesOf(url);
  const { writer, standby } = look();
  if (writer === null) throw new OperatorError('no instrument that describes itself writes this store');
  if (standby === null) {
    throw new OperatorError(
      'this store has no standby; start one with almanac labels --standby, with the same settings',
    );
  }
  if (standby.state !== 'ready') print('the standby is not ready yet; waiting');
  await until(() => look().standby?.state !== 'opening', readyWithinMs, 'the standby did not become ready');
  const now = look();
  if (now.standby === null) throw new OperatorError('the standby has ended');
  if (now.writer?.token !== writer.token || now.writer.pid === null) {
    throw new OperatorError('the active instrument cannot be identified, or has changed; nothing was done');
  }
  stop(now.writer.pid);
  const isDone = (): boolean => {
    const current = look().writer;
    return current !== null && current.token !== writer.token && current.state === 'ready';
  };
  await until(isDone, doneWithinMs, 'the standby did not become the active instrument');
  print(`handed over from process ${now.writer.pid} to process ${look().writer?.pid ?? 'unknown'}`);
  return 0;
};

function processesOf(url: string): StoreProcesses {
  try {
    return storeProcesses(url);
  } catch (error) {
    throw refused(url, error);
  }
}

function stop(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    const why = systemCode(error) === 'EPERM' ? 'run this command as its user' : 'it has ended';
    throw new OperatorError(`the active instrument (process ${pid}) cannot be stopped: ${why}`);
  }
}

async function until(holds: () => boolean, withinMs: number, otherwise: string): Promise<void> {
  for (const deadline = performance.now() + withinMs; !holds(); await wait(lookMs)) {
    if (performance.now() > deadline) throw new OperatorError(`${otherwise} within ${withinMs / 1000} s`);
  }
}

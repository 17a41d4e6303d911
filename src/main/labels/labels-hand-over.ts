import { setTimeout as wait } from 'node:timers/promises';
import { OperatorError, systemCode } from '../../ops/errors.ts';
import { askWriterToStop, parseStoreUrl, storeProcesses } from '../../store/open.ts';
import type { StoreProcess, StoreProcesses } from '../../store/standby/standby.ts';
import { type LabelsAction, refused, storeFolder } from './labels-action.ts';

/** Interval between two checks of the processes, in milliseconds. */
const lookMs = 100;
/** Maximum time to wait until the standby is ready, in milliseconds. */
const readyWithinMs = 90_000;
/** Maximum time to wait for a heartbeat of the standby, in milliseconds. */
const beatWithinMs = 5_000;
/** Maximum time to wait until the standby has become the writer, in milliseconds. */
const doneWithinMs = 30_000;

/**
 * Stops the active instrument once its standby is ready, then waits until the standby has taken over. Rejects with
 * OperatorError if either process is missing or does not respond in time.
 */
export const handOver: LabelsAction = async ({ store: url, state }, print) => {
  // A hand-over through a database needs no files.
  if (parseStoreUrl(url).kind === 'sqlite') storeFolder({ store: url, state });
  const look = (): Promise<StoreProcesses> => processesOf(url);
  const { writer, standby } = await look();
  if (writer === null) throw new OperatorError('no identifiable instrument is writing this store');
  if (standby === null) {
    throw new OperatorError(
      'this store has no standby; start one with almanac labels --standby, with the same settings',
    );
  }
  if (standby.state !== 'ready') print('the standby is not ready yet; waiting');
  await until(
    async () => (await look()).standby?.state !== 'opening',
    readyWithinMs,
    'the standby did not become ready',
  );
  // Also require a new heartbeat, because a suspended standby still reports that it is ready.
  let now: StoreProcesses = { writer, standby };
  const hasBeaten = async (): Promise<boolean> => {
    now = await look();
    return now.standby?.beat !== standby.beat;
  };
  await until(hasBeaten, beatWithinMs, 'the standby is suspended; nothing was done: no heartbeat arrived');
  if (now.standby === null) throw new OperatorError('the standby has exited');
  if (now.writer?.token !== writer.token || !(await stop(url, now.writer))) {
    throw new OperatorError('the active instrument cannot be identified, or has changed; nothing was done');
  }
  const isDone = async (): Promise<boolean> => {
    const current = (await look()).writer;
    return current !== null && current.token !== writer.token && current.state === 'ready';
  };
  await until(isDone, doneWithinMs, 'the standby did not become the active instrument');
  print(`handed over from ${now.writer.name} to ${(await look()).writer?.name ?? 'an unknown process'}`);
  return 0;
};

async function processesOf(url: string): Promise<StoreProcesses> {
  try {
    return await storeProcesses(url);
  } catch (error) {
    throw refused(url, error);
  }
}

async function stop(url: string, writer: StoreProcess): Promise<boolean> {
  try {
    return await askWriterToStop(url, writer);
  } catch (error) {
    const why = systemCode(error) === 'EPERM' ? 'run this command as its user' : 'it has ended';
    throw new OperatorError(`the active instrument (${writer.name}) cannot be stopped: ${why}`);
  }
}

async function until(holds: () => Promise<boolean>, withinMs: number, otherwise: string): Promise<void> {
  for (const deadline = performance.now() + withinMs; !(await holds()); await wait(lookMs)) {
    if (performance.now() > deadline) throw new OperatorError(`${otherwise} within ${withinMs / 1000} s`);
  }
}

import { setTimeout as delay } from 'node:timers/promises';
import type { StoreReader } from '../../src/store/port.ts';
import type { RosterRow } from '../../src/store/roster.ts';
import { openSqliteReader } from '../../src/store/sqlite/read/reader.ts';
import { StateWatch } from './judge-state.ts';
import { Samples } from './samples.ts';
import type { World } from './world.ts';

const sampleMs = 2_000;
/** Number of samples per check of the roster and the facts. */
const rosterEvery = 5;

/** Checks that run throughout a siege. */
export interface Watch {
  readonly samples: Samples;
  readonly states: StateWatch;
  /** Number of responses to overview requests, by status. */
  readonly statuses: Readonly<Record<string, number>>;
  /** Phase to which the next samples belong. */
  phase: string;
  stop(): Promise<void>;
}

/** Samples the instrument and checks the labelers' states and the overview until it is stopped. */
export function startWatch(world: World, factsUrl: string, csv: string | null): Watch {
  const samples = new Samples(csv);
  const states = new StateWatch(world.honest);
  const statuses: Record<string, number> = {};
  const stopping = new AbortController();
  const watch = {
    ...{ samples, states, statuses, phase: 'before' },
    stop: async () => {
      stopping.abort();
      await looking;
    },
  };
  const look = async (): Promise<void> => {
    for (let round = 0; !stopping.signal.aborted; round += 1) {
      const { instrument, store, metricsPort } = world;
      await samples.take(instrument.pid, watch.phase, store, metricsPort);
      if (round % rosterEvery === 0 && watch.phase !== 'before') {
        const status = await statusOf(`${factsUrl}/v1/labels/overview`);
        statuses[status] = (statuses[status] ?? 0) + 1;
        const since = instrument.observingSinceMs;
        if (since !== null) states.look(await rosterOf(store), Date.now(), since);
      }
      await pause(sampleMs, stopping.signal);
    }
  };
  const looking = look();
  return watch;
}

/**
 * Reads a store that another process is writing. Resolves with the result of `read`, or with null if the store cannot
 * be opened.
 */
export async function reading<T>(folder: string, read: (store: StoreReader) => Promise<T>): Promise<T | null> {
  let store: StoreReader;
  try {
    store = openSqliteReader(folder);
  } catch {
    return null;
  }
  try {
    return await read(store);
  } finally {
    await store.close();
  }
}

/** Returns the latest stored roster, or an empty list if the store cannot be opened. */
export async function rosterOf(folder: string): Promise<readonly RosterRow[]> {
  return (await reading(folder, (store) => store.roster())) ?? [];
}

/** Waits for the given time, or until the signal aborts. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await delay(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
}

/** Resolves with true once a condition holds, or with false if the condition does not hold within the given time. */
export async function comesToHold(holds: () => Promise<boolean>, withinMs: number): Promise<boolean> {
  const deadline = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > deadline) return false;
    await pause(1_000);
  }
  return true;
}

async function statusOf(url: string): Promise<string> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(10_000) });
    await answer.arrayBuffer();
    return String(answer.status);
  } catch {
    return 'no response';
  }
}

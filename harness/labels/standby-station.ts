import { join } from 'node:path';
import type { Micros } from '../../src/contract/timestamp.ts';
import { createStandbyStore, type InstrumentRole } from '../../src/labels/standby/standby-store.ts';
import { openSqliteStandby, sqliteProcesses } from '../../src/store/sqlite/standby/standby.ts';
import { until } from '../process/until.ts';
import type { LabelStation } from './label-station.ts';

/** A standby instrument that runs in this process. */
export interface StandbyStation {
  readonly station: LabelStation;
  /** Resolves when the standby is ready to replace its writer. */
  ready(): Promise<void>;
  /** Resolves when the standby has become the active instrument. */
  readonly active: Promise<void>;
}

/** Starts a standby for the store in a folder. `start` starts an instrument with the given role. */
export async function startStandby(
  folder: string,
  clock: () => Micros,
  start: (role: InstrumentRole) => Promise<LabelStation>,
): Promise<StandbyStation> {
  const path = join(folder, 'store');
  // Do not signal the writer: it runs in this process, which must not be killed.
  const signal = (): never => {
    throw new Error('the writer runs in this process');
  };
  const standby = openSqliteStandby({ folder: path, clock, signal });
  const active = Promise.withResolvers<void>();
  const station = await start({
    ...{ role: 'standby', generation: 0, standby, kept: createStandbyStore({ standby, clock }) },
    activated: () => active.resolve(),
  });
  return {
    station,
    ready: () => until('the standby is ready', () => sqliteProcesses(path).standby?.state === 'ready', 90_000),
    active: active.promise,
  };
}

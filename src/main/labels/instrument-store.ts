import type { Micros } from '../../contract/timestamp.ts';
import type { Telemetry } from '../../labels/shares/telemetry.ts';
import type { InstrumentRole } from '../../labels/standby/instrument-role.ts';
import { createStandbyStore } from '../../labels/standby/standby-store.ts';
import { StoreError } from '../../store/errors.ts';
import { type FileEvent, openStoreStandby, openStoreWriter } from '../../store/open.ts';
import type { StoreWriter } from '../../store/port.ts';
import type { LabelsValues } from './labels-action.ts';

/** Options for opening the store of an instrument. */
export interface InstrumentStoreOptions {
  readonly clock: () => Micros;
  readonly windowDays: number;
  readonly onFile: (event: FileEvent) => void;
  readonly telemetry: Pick<Telemetry, 'standbyDropped'>;
  /** Called once when this process is asked through the store to stop. */
  readonly asked: () => void;
  /** Called once a standby has become the active instrument. */
  readonly activated: () => void;
}

/**
 * Opens the store of the instrument for writing. With `--standby`, opens it as a standby while another process writes
 * it.
 */
export async function openInstrumentStore(
  { store: url, standby: mayStandBy }: Pick<LabelsValues, 'store' | 'standby'>,
  { clock, telemetry, activated, ...writing }: InstrumentStoreOptions,
): Promise<{ readonly store: StoreWriter; readonly role: InstrumentRole | null }> {
  try {
    return { store: await openStoreWriter(url, { ...writing, at: clock(), clock }), role: null };
  } catch (error) {
    if (!(mayStandBy && error instanceof StoreError && error.code === 'second_writer')) throw error;
  }
  const standby = await openStoreStandby(url, { ...writing, clock });
  const kept = createStandbyStore({ standby, clock, dropped: (rows) => telemetry.standbyDropped(rows) });
  return { store: kept.store, role: { role: 'standby', generation: 0, standby, kept, activated } };
}

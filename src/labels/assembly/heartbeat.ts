import type { Micros } from '../../contract/timestamp.ts';
import type { Log } from '../../ops/log.ts';
import type { StoreWriter } from '../../store/port.ts';
import { micros } from '../../store/time.ts';
import { downtime } from '../clock/downtime.ts';
import { readHold } from '../operator/hold.ts';

const throughNote = 'observed-through';

/**
 * Writes a heartbeat with the time of the newest rows, so that the next start detects rows that were restored from an
 * older copy.
 */
export async function writeHeartbeat(store: StoreWriter, clock: () => Micros): Promise<void> {
  await store.beat(clock());
  const { observedThrough } = await store.frontier();
  if (observedThrough !== null) await store.putNote(throughNote, String(observedThrough));
}

/** Reads a note as a number. Returns null if it does not exist or is not a number. */
export async function numberNote(store: StoreWriter, name: string): Promise<Micros | null> {
  const number = Number((await store.note(name)) ?? Number.NaN);
  return Number.isSafeInteger(number) ? micros(number) : null;
}

/** Records the time since the last heartbeat as a gap, even if the labels of that time are filled in later. */
export async function recordDowntime(
  store: StoreWriter,
  { artifacts, clock, log }: { readonly artifacts: string; readonly clock: () => Micros; readonly log: Log },
  startedAt: Micros,
): Promise<void> {
  const [heartbeat, { observedThrough }, notedThrough, hold] = await Promise.all([
    store.heartbeat(),
    store.frontier(),
    numberNote(store, throughNote),
    readHold(artifacts),
  ]);
  const gap = downtime({ startedAt, heartbeat, observedThrough, notedThrough }, clock());
  if (gap === null) return;
  const { start, end, restored } = gap;
  await store.recordGap({ source: null, start, end, reason: hold ? 'maintenance' : 'ingest_paused' });
  if (restored)
    log.warn('parts of the store were restored to an earlier time: the time since then is recorded as a gap');
  log.info('no process observed since the last heartbeat: the time since then is recorded as a gap', {
    seconds: (gap.end - gap.start) / 1e6,
  });
}

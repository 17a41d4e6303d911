import type { Micros } from '../../contract/timestamp.ts';
import type { Position, StoreWriter } from '../../store/port.ts';
import type { RefusedMemory } from '../ingest/refused-memory.ts';
import { readPosition } from '../label/position.ts';
import type { SourceRunner } from '../reading/source-runner.ts';
import type { RepeatMemory } from '../repeats/repeat-memory.ts';
import type { Reachability } from '../roster/reachability.ts';
import type { Roster } from '../roster/roster.ts';

/** The parts of the instrument that resume from the stored state. */
interface Readers {
  readonly roster: Roster;
  readonly runner: SourceRunner;
  readonly reachability: Reachability;
}

/** Loads the state of the last run: the labelers, the position of each source, and recently refused rows. */
export async function loadRoster(
  store: Pick<StoreWriter, 'positions' | 'refusedRows' | 'roster'>,
  { roster, runner, reachability }: Readers,
  { refused, repeats }: { readonly refused: RefusedMemory; readonly repeats: Pick<RepeatMemory, 'load'> },
): Promise<void> {
  // Load the counts before the positions: while a standby reads, another process writes, and the counts must not
  // include rows after the positions.
  for (const rows of await store.refusedRows()) refused.load(rows);
  const answered = loadPositions(await store.positions(), runner, repeats);
  const rows = await store.roster();
  roster.load(rows, answered);
  reachability.load(rows, (did) => roster.labeler(did));
}

/** Loads stored positions and repeats. Returns the time of the last accepted page of each source. */
export function loadPositions(
  stored: readonly Position[],
  runner: Pick<SourceRunner, 'keep'>,
  repeats: Pick<RepeatMemory, 'load'>,
): Map<string, Micros> {
  const answered = new Map<string, Micros>();
  for (const { source, endpoint, value, acceptedAt } of stored.toSorted((a, b) => a.acceptedAt - b.acceptedAt)) {
    if (repeats.load(source, endpoint, value)) continue;
    answered.set(source, Math.max(answered.get(source) ?? 0, acceptedAt) as Micros);
    const position = readPosition(value);
    if (position) runner.keep(source, endpoint, position);
  }
  return answered;
}

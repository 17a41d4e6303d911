import type { Micros } from '../../contract/timestamp.ts';
import type { Position, StoreWriter } from '../../store/port.ts';
import type { RefusedMemory } from '../ingest/refused-memory.ts';
import type { SourceRunner } from '../reading/source-runner.ts';
import { type RepeatMemory, repeatsName } from '../repeats/repeats.ts';
import type { Reachability } from '../roster/known-labeler.ts';
import type { Roster } from '../roster/roster.ts';
import type { FilledIn } from '../state/filled-in.ts';
import { readPosition } from '../state/reading-events.ts';

/** The parts of the instrument that resume from the stored state. */
interface Readers {
  readonly roster: Pick<Roster, 'load' | 'labeler'>;
  readonly runner: Pick<SourceRunner, 'keep'>;
  readonly reachability: Pick<Reachability, 'load'>;
}

/** Memory that is stored together with the positions, under names of its own. */
interface LoadedMemory {
  readonly repeats: Pick<RepeatMemory, 'load'>;
  readonly filledIn: Pick<FilledIn, 'load'>;
}

/** Loads the state of the last run: the labelers, the position of each source, and recently refused rows. */
export async function loadRoster(
  store: Pick<StoreWriter, 'positions' | 'refusedRows' | 'roster'>,
  { roster, runner, reachability }: Readers,
  { refused, repeats, filledIn }: LoadedMemory & { readonly refused: Pick<RefusedMemory, 'load'> },
): Promise<void> {
  // Load the counts before the positions: while a standby reads, another process writes, and the counts must not
  // include rows after the positions.
  for (const rows of await store.refusedRows()) refused.load(rows);
  const texts: Parameters<RepeatMemory['load']>[] = [];
  const later: Pick<RepeatMemory, 'load'> = {
    load: (...text) => text[1] === repeatsName && texts.push(text) > 0,
  };
  const answered = loadPositions(await store.positions(), runner, { repeats: later, filledIn });
  const rows = await store.roster();
  roster.load(rows, answered);
  // Load the repeats after the roster, because the priority of a source decides which repeats are forgotten.
  for (const text of texts) repeats.load(...text);
  reachability.load(rows, (did) => roster.labeler(did));
}

/** Loads stored positions, repeats and catch-ups. Returns the time of the last accepted page of each source. */
export function loadPositions(
  stored: readonly Position[],
  runner: Pick<SourceRunner, 'keep'>,
  { repeats, filledIn }: LoadedMemory,
): Map<string, Micros> {
  const answered = new Map<string, Micros>();
  for (const { source, endpoint, value, acceptedAt } of stored.toSorted((a, b) => a.acceptedAt - b.acceptedAt)) {
    if (repeats.load(source, endpoint, value) || filledIn.load(source, endpoint, value)) continue;
    answered.set(source, Math.max(answered.get(source) ?? 0, acceptedAt) as Micros);
    const position = readPosition(value);
    if (position) runner.keep(source, endpoint, position);
  }
  return answered;
}

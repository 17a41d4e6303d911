import type { Micros } from '../../contract/timestamp.ts';
import type { StoreReader } from '../../store/port.ts';
import type { RefusedMemory } from '../ingest/refused-memory.ts';
import { readPosition } from '../label/position.ts';
import type { SourceRunner } from '../reading/source-runner.ts';
import type { RepeatMemory } from '../repeats/repeat-memory.ts';
import type { Reachability } from '../roster/reachability.ts';
import type { Roster } from '../roster/roster.ts';

/** The parts that go on from what is loaded. */
interface Readers {
  readonly roster: Roster;
  readonly runner: SourceRunner;
  readonly reachability: Reachability;
}

/** Loads what the last run knew: the labelers, the position of each source, and the rows that were refused lately. */
export async function loadRoster(
  store: Pick<StoreReader, 'positions' | 'roster'>,
  { roster, runner, reachability }: Readers,
  memories: readonly Pick<RepeatMemory | RefusedMemory, 'load'>[],
): Promise<void> {
  const answered = new Map<string, Micros>();
  const positions = (await store.positions()).toSorted((a, b) => a.acceptedAt - b.acceptedAt);
  for (const { source, endpoint, value, acceptedAt } of positions) {
    if (memories.some((memory) => memory.load(source, endpoint, value))) continue;
    answered.set(source, Math.max(answered.get(source) ?? 0, acceptedAt) as Micros);
    const position = readPosition(value);
    if (position) runner.keep(source, endpoint, position);
  }
  const rows = await store.roster();
  roster.load(rows, answered);
  reachability.load(rows, (did) => roster.member(did));
}

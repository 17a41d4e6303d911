import type { Micros } from '../contract/timestamp.ts';
import type { StoreReader } from '../store/port.ts';
import { readPosition } from './position.ts';
import type { RefusedMemory } from './refused-memory.ts';
import type { Roster } from './roster.ts';
import type { SourceRunner } from './source-runner.ts';

/** Loads what the last run knew: the labelers, the position of each source, and the rows that were refused lately. */
export async function loadRoster(
  store: Pick<StoreReader, 'positions' | 'roster'>,
  roster: Roster,
  runner: SourceRunner,
  refused: RefusedMemory,
): Promise<void> {
  const answered = new Map<string, Micros>();
  const positions = (await store.positions()).toSorted((a, b) => a.acceptedAt - b.acceptedAt);
  for (const { source, endpoint, value, acceptedAt } of positions) {
    if (refused.load(source, endpoint, value)) continue;
    answered.set(source, Math.max(answered.get(source) ?? 0, acceptedAt) as Micros);
    const position = readPosition(value);
    if (position) runner.keep(source, endpoint, position);
  }
  roster.load(await store.roster(), answered);
}

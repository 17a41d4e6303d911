import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sim } from '../../sim/index.ts';
import type { RecentOverview } from '../../src/artifact/recognise.ts';
import { maxTopLabelers } from '../../src/contract/limits.ts';
import { parseTimestamp } from '../../src/contract/timestamp.ts';
import { sourceStates } from '../../src/labels/state/reading-state.ts';
import type { StoredGap, StoreReader } from '../../src/store/port.ts';
import type { RosterRow } from '../../src/store/roster.ts';
import { day, micros } from '../../src/store/time.ts';
import { wholeSpan } from '../store/scan.ts';
import { isReplacement } from '../truth/gaps.ts';
import type { LabelersSet } from '../truth/labelers/read-set.ts';
import type { Downtime } from './instrument.ts';

/** Maximum time from a start until a seeded source is established again, in milliseconds. */
const graceMs = 60_000;
/**
 * Maximum time from a start until a discovered source is established, in milliseconds. It is longer because discovered
 * sources share turns and processor time with all hostile sources.
 */
const newGraceMs = 120_000;

/** An honest source in a wrong state, and the time during which it was in that state. */
export interface Undeserved {
  readonly did: string;
  readonly state: string;
  readonly fromMs: number;
  toMs: number;
}

/** Checks the states of honest sources in the store. */
export class StateWatch {
  readonly undeserved: Undeserved[] = [];
  readonly #honest: ReadonlySet<string>;
  readonly #current = new Map<string, Undeserved>();

  constructor(honest: ReadonlySet<string>) {
    this.#honest = honest;
  }

  /**
   * Checks a roster. `runningSinceMs` is the time since which the instrument has been observing, or null while it is
   * not observing.
   */
  look(roster: readonly RosterRow[], nowMs: number, runningSinceMs: number | null): void {
    if (runningSinceMs === null) return;
    const rows = new Map(roster.map((row) => [row.did, row]));
    for (const did of this.#honest) {
      const row = rows.get(did);
      const grace = row === undefined || row.origin === 'seeded' ? graceMs : newGraceMs;
      if (nowMs < runningSinceMs + grace) continue;
      const state = row === undefined ? 'unknown' : row.enrolled ? row.state : `not enrolled (${row.state})`;
      const known = this.#current.get(did);
      if (known && known.state === state) {
        known.toMs = nowMs;
        continue;
      }
      this.#current.delete(did);
      if (state === 'established') continue;
      const found: Undeserved = { did, state, fromMs: nowMs, toMs: nowMs };
      this.#current.set(did, found);
      this.undeserved.push(found);
    }
  }
}

/** Returns the honest sources that are enrolled and established. */
export function establishedOf(roster: readonly RosterRow[], honest: ReadonlySet<string>): Set<string> {
  return new Set(
    roster
      .filter(({ did, enrolled, state }) => honest.has(did) && enrolled && state === 'established')
      .map(({ did }) => did),
  );
}

/**
 * Returns the unexplained gaps of honest sources. A gap counts as explained if it lies within a downtime of the
 * instrument, or if the labeler replaced the missing rows.
 */
export async function undeservedGaps(
  store: StoreReader,
  { labelers }: Sim,
  downtimes: readonly Downtime[],
): Promise<string[]> {
  const gaps = await store.gaps(await wholeSpan(store));
  const known = new Map(labelers.list.map((labeler) => [labeler.did, labeler]));
  // Allow 15 s before the exit: a gap may begin at the last heartbeat, and heartbeats are ten seconds apart.
  const isDown = ({ start, end }: StoredGap): boolean =>
    downtimes.some(({ fromMs, toMs }) => start / 1000 >= fromMs - 15_000 && end / 1000 <= toMs + 5_000);
  const isUndeserved = (gap: StoredGap): boolean => {
    if (isDown(gap)) return false;
    if (gap.source === null) return true;
    const labeler = known.get(gap.source);
    return labeler !== undefined && !isReplacement(labeler, gap);
  };
  return gaps
    .filter(isUndeserved)
    .map(
      ({ source, reason, start, end }) =>
        `a gap of ${((end - start) / 1e6).toFixed(1)} s (${reason}) in the coverage of ${source ?? 'every source'}`,
    );
}

/** Reads the overview. Resolves with null if it cannot be read. */
export async function readOverview(artifacts: string): Promise<RecentOverview | null> {
  try {
    return JSON.parse(await readFile(join(artifacts, 'labels-overview.json'), 'utf8')) as RecentOverview;
  } catch {
    return null;
  }
}

/**
 * Returns the expected and the published ranking as text. A labeler that was paused alone may be unranked, but no other
 * labeler. A siege is shorter than the 7 days of the ranking.
 */
function rankings(
  { top_labelers_7d: top }: RecentOverview,
  counts: ReadonlyMap<string, number>,
  gaps: readonly StoredGap[],
): [wanted: string, got: string] {
  const ranked = new Set(top.map(({ labeler_did }) => labeler_did));
  const paused = new Set(gaps.flatMap(({ source, reason }) => (reason === 'ingest_paused' && source ? [source] : [])));
  const wanted = [...counts]
    .filter(([did, count]) => count > 0 && (ranked.has(did) || !paused.has(did)))
    .toSorted(([a, more], [b, less]) => less - more || (a < b ? -1 : 1))
    .slice(0, maxTopLabelers);
  return [wanted.join(' '), top.map(({ labeler_did, count }) => `${labeler_did},${count}`).join(' ')];
}

/**
 * Returns the differences between the published artifacts and the store. Published repeats are not counted as events,
 * because a hostile labeler that changes its key may send labels again. A repeat of an honest labeler is a problem.
 */
export async function publishedProblems(
  store: StoreReader,
  { overview, labelers }: Pick<LabelersSet, 'overview' | 'labelers'>,
  honest: ReadonlySet<string>,
): Promise<string[]> {
  const generated = parseTimestamp(overview.generated_at);
  if (generated === null) return ['the overview has no generation time'];
  const { startedAt, generationId } = await store.epoch();
  const { floor } = await store.frontier();
  const stored = await store.countsByLabeler({ start: micros(Math.max(startedAt, floor)), end: generated });
  const repeats = new Map(labelers.map((line) => [line.did, line.repeats]));
  const counts = new Map(
    stored.map(({ labeler, applied, removed }) => [labeler, applied + removed - (repeats.get(labeler) ?? 0)]),
  );
  const problems: string[] = [];
  const differ = (what: string, wanted: unknown, got: unknown): void => {
    if (wanted !== got) problems.push(`overview: ${what} is ${String(got)}, but ${String(wanted)} in the store`);
  };
  const events = [...counts.values()];
  const { sources } = overview.coverage;
  const inStates = sourceStates.reduce((sum, state) => sum + sources[state], 0);
  differ('generation_id', generationId, overview.acquisition.generation_id);
  differ(
    'events_window',
    events.reduce((sum, count) => sum + count, 0),
    overview.counts.events_window,
  );
  differ('labelers_active_window', events.filter((count) => count > 0).length, overview.counts.labelers_active_window);
  differ('the sum of the states', sources.enrolled, inStates);
  differ('the sum of seeded and discovered', sources.enrolled, (sources.seeded ?? 0) + (sources.discovered ?? 0));
  const week = { start: micros(generated - 7 * day), end: generated };
  differ('the ranking', ...rankings(overview, counts, await store.gaps(week)));
  for (const line of labelers) {
    differ(`the number of events of ${line.did}`, counts.get(line.did) ?? 0, line.events.window);
    if (honest.has(line.did)) differ(`the number of repeats of the honest labeler ${line.did}`, 0, line.repeats);
  }
  return problems;
}

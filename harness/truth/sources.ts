import { isDeepStrictEqual } from 'node:util';
import type { Sim } from '../../sim/index.ts';
import { sourceStates } from '../../src/labels/state/reading-state.ts';
import type { LabelStation } from '../labels/label-station.ts';
import { until } from '../process/until.ts';
import { expectedSources, type Moment, roleAt, stateOf } from './cast.ts';

const named: ReadonlySet<string> = new Set(['enrolled', ...sourceStates]);

/**
 * Waits until the published number of sources in each state is the expected number for the moment. Then checks that the
 * numbers add up. Adds a problem for each remaining difference.
 */
export async function sourcesAre(sim: Sim, station: LabelStation, moment: Moment, problems: string[]): Promise<void> {
  let wanted = expectedSources(sim, moment);
  let got: Record<string, number> = {};
  const same = async (): Promise<boolean> => {
    const { coverage } = await station.overview();
    // Recompute the expectation: a stream without pages may have delivered its first label in the meantime.
    wanted = expectedSources(sim, moment);
    const counts: Readonly<Record<string, number | null | undefined>> = coverage.sources;
    got = Object.fromEntries(
      Object.entries(counts).flatMap(([name, count]) => (named.has(name) && count ? [[name, count]] : [])),
    );
    return isDeepStrictEqual({ ...wanted }, { ...got });
  };
  try {
    await until('all sources have the required states', same, 90_000);
  } catch {
    problems.push(
      `sources ${moment}: ${JSON.stringify(wanted)} expected, ${JSON.stringify(got)} counted; ${await others(sim, station, moment)}`,
    );
  }
  const { sources } = (await station.overview()).coverage;
  const { enrolled, seeded, discovered } = sources;
  const sum = sourceStates.reduce((all, state) => all + (sources[state] ?? 0), 0);
  if (sum !== enrolled || (seeded ?? 0) + (discovered ?? 0) !== enrolled)
    problems.push(`sources ${moment} do not add up to ${enrolled}`);
}

/** Describes the sources that are not in the required state. */
async function others(sim: Sim, { store }: LabelStation, moment: Moment): Promise<string> {
  const { list } = sim.labelers;
  const rows = new Map((await store.roster()).map((row) => [row.did, row]));
  return list
    .map((labeler) => {
      const role = roleAt(labeler.profile.index, list.length);
      const row = rows.get(labeler.did);
      const [wanted, got] = [stateOf(labeler, role, moment), row?.enrolled ? row.state : null];
      return wanted === got
        ? ''
        : `${labeler.did} (${role?.name ?? labeler.profile.ailment}): expected ${wanted}, got ${got}`;
    })
    .filter((text) => text !== '')
    .join('; ');
}

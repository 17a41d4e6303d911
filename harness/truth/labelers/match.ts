import { join } from 'node:path';
import type { Sim } from '../../../sim/index.ts';
import type { Labeler } from '../../../sim/labelers/labeler.ts';
import { parseTimestamp } from '../../../src/contract/timestamp.ts';
import { micros } from '../../../src/store/time.ts';
import type { LabelStation } from '../../labels/label-station.ts';
import { until } from '../../process/until.ts';
import type { Moment } from '../cast.ts';
import { labelersProblems, statesProblems } from './compare.ts';
import type { Course } from './course.ts';
import { definitionProblems } from './definitions.ts';
import { expectedLabelers } from './expected.ts';
import { type LabelersSet, readLabelersSet } from './read-set.ts';

/** Maximum number of problems that a proof reports per moment. */
const maxReported = 40;

/**
 * Waits until the labelers artifact agrees with the network's record. Returns the differences that remain after the
 * time limit.
 */
export async function labelersMatch(
  sim: Sim,
  { folder }: Pick<LabelStation, 'folder'>,
  course: Course,
  moment: Moment,
): Promise<string[]> {
  let problems: readonly string[] = ['the artifact was not written'];
  let read: string | null = null;
  const agrees = async (): Promise<boolean> => {
    const set = await readLabelersSet(join(folder, 'artifacts'));
    if (set === null || set.header.generated_at === read) return false;
    read = set.header.generated_at;
    problems = setProblems(set, sim, course, moment);
    return problems.length === 0;
  };
  await until('the labelers artifact agrees with the record', agrees, 60_000).catch(() => undefined);
  const rest = problems.length > maxReported ? [`and ${problems.length - maxReported} more`] : [];
  return [...problems.slice(0, maxReported), ...rest].map((problem) => `labelers ${moment}: ${problem}`);
}

/** Returns all differences between an artifact and the network's record. */
function setProblems(set: LabelersSet, sim: Sim, course: Course, moment: Moment): string[] {
  const now = parseTimestamp(set.header.generated_at) ?? micros(0);
  const expected = expectedLabelers({ sim, course, moment, now, confirms: isConfirmed });
  // While labels are still arriving, only the states and sums can be compared.
  if (moment === 'begun') return statesProblems(set, expected);
  return [...labelersProblems(set, expected, course), ...definitionProblems(set, sim, expected)];
}

/**
 * Returns true if the simulated name server confirms the labeler's handle. The server confirms the handle of each
 * did:plc labeler with an even index.
 */
export function isConfirmed({ did, profile }: Pick<Labeler, 'did' | 'profile'>): boolean {
  return profile.index % 2 === 0 && did.startsWith('did:plc:');
}

/**
 * Returns a `resolveTxt` function that simulates DNS for the labelers' handles. Every name other than a confirmed handle
 * resolves to a DID that no labeler has.
 */
export function resolvesHandles(sim: Sim): (name: string) => Promise<string[][]> {
  return async (name) => {
    const owner = sim.labelers.list.find((labeler) => isConfirmed(labeler) && name === `_atproto.${labeler.handle}`);
    return [[`did=${owner?.did ?? `did:plc:${'z'.repeat(24)}`}`]];
  };
}

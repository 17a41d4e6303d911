import type { Sim } from '../../sim/index.ts';
import type { Labeler } from '../../sim/labelers/labeler.ts';
import type { LabelerProfile } from '../../sim/labelers/profile.ts';
import type { SourceState } from '../../src/labels/state/reading-state.ts';
import { departs, type Role, roles } from './roles.ts';

/** Minimum number of labelers. It ensures that the largest labelers have no role. */
export const minLabelers = roles.length + 10;

/**
 * Returns a function that adjusts labeler profiles. The smallest labelers receive the roles; a role determines all
 * labels that its labeler emits.
 */
export function shapeOf(labelers: number): (profile: LabelerProfile) => Partial<LabelerProfile> {
  return ({ index }) => roleAt(index, labelers)?.profile ?? {};
}

/** Returns the role of the labeler at an index, or null if this labeler has no role. */
export function roleAt(index: number, labelers: number): Role | null {
  return roles[index - (labelers - roles.length)] ?? null;
}

/** Returns the labelers of a simulation that have a role. */
export function cast({ labelers: { list } }: Sim): { readonly labeler: Labeler; readonly role: Role }[] {
  return list.flatMap((labeler) => {
    const role = roleAt(labeler.profile.index, list.length);
    return role ? [{ labeler, role }] : [];
  });
}

/** Moments of a run at which the states of the sources are checked. */
export type Moment = 'begun' | 'away' | 'after 20 minutes' | 'after two days';

/** Returns the required state of a source at a moment, or null if the source must not be enrolled. */
export function stateOf(
  { profile: { ailment, didWeb }, served }: Labeler,
  role: Role | null,
  moment: Moment,
): SourceState | null {
  const late = moment === 'after two days';
  if (role?.act === 'found') return late ? 'established' : null;
  if (departs(role) && late) return null;
  if (role?.act === 'outage' && moment === 'away') return 'probing';
  if (role?.act === 'outage' && moment === 'after 20 minutes') return 'unavailable';
  const never = (state: SourceState): SourceState | null => (late ? null : state);
  switch (ailment) {
    case 'none':
    case 'no_stream':
    case 'no_cursor':
      return 'established';
    // Expect `established` for a labeler without `queryLabels` only once its stream has sent data.
    case 'no_query':
      return moment === 'begun' && served.size === 0 ? 'probing' : 'established';
    case 'status_401':
    case 'status_403':
      return never('refused');
    case 'status_400':
    case 'status_404':
    case 'html':
    case 'redirect':
      return never('provider_rejects');
    // Expect further attempts: unlike an explicit refusal, these failures may be temporary.
    case 'broken_json':
    case 'endless':
    case 'drip':
    case 'hang':
    case 'dead':
    case 'status_503':
      return never(moment === 'after 20 minutes' ? 'unavailable' : 'probing');
    // A did:web labeler serves its own document, so the state of the directory does not affect it.
    case 'directory_down':
      return didWeb ? 'established' : null;
    case 'no_document':
    case 'tombstone':
    case 'no_service':
      return null;
  }
}

/** Returns the required number of sources in each state, and the number of enrolled sources. */
export function expectedSources(sim: Sim, moment: Moment): Readonly<Record<string, number>> {
  const { list } = sim.labelers;
  const counts: Record<string, number> & { enrolled: number } = { enrolled: 0 };
  for (const labeler of list) {
    const state = stateOf(labeler, roleAt(labeler.profile.index, list.length), moment);
    if (state === null) continue;
    counts[state] = (counts[state] ?? 0) + 1;
    counts.enrolled = counts.enrolled + 1;
  }
  return counts;
}

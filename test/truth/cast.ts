import type { Sim } from '../../sim/index.ts';
import type { Labeler } from '../../sim/labelers/labeler.ts';
import type { LabelerProfile } from '../../sim/labelers/profile.ts';
import type { SourceState } from '../../src/labels/source-state.ts';
import { type Role, roles } from './roles.ts';

/** Fewest labelers that leave the largest ones without a part. */
export const leastLabelers = roles.length + 10;

/** The roles are played by the smallest labelers: what they emit is told by the role alone. */
export function shapeOf(labelers: number): (profile: LabelerProfile) => Partial<LabelerProfile> {
  return ({ index }) => roleAt(index, labelers)?.profile ?? {};
}

/** A labeler's role; null for one that is only itself. */
export function roleAt(index: number, labelers: number): Role | null {
  return roles[index - (labelers - roles.length)] ?? null;
}

/** The labelers of a simulation that play a role. */
export function cast({ labelers: { list } }: Sim): { readonly labeler: Labeler; readonly role: Role }[] {
  return list.flatMap((labeler) => {
    const role = roleAt(labeler.profile.index, list.length);
    return role ? [{ labeler, role }] : [];
  });
}

/** Moments of a run at which what can be known of a source differs. */
export type Moment = 'begun' | 'away' | 'after 20 minutes' | 'after two days';

/** The state that a source must be in, or null where it is not enrolled. */
export function stateOf(
  { profile: { ailment, didWeb } }: Labeler,
  role: Role | null,
  moment: Moment,
): SourceState | null {
  const late = moment === 'after two days';
  if (role?.act === 'found') return late ? 'established' : null;
  if (role?.act === 'outage' && moment === 'away') return 'probing';
  if (role?.act === 'outage' && moment === 'after 20 minutes') return 'unavailable';
  const never = (state: SourceState): SourceState | null => (late ? null : state);
  switch (ailment) {
    case 'none':
    case 'no_stream':
    case 'no_cursor':
      return 'established';
    // Its stream alone is an answer only once it says something.
    case 'no_query':
      return moment === 'begun' ? 'probing' : 'established';
    case 'status_401':
    case 'status_403':
      return never('refused');
    case 'status_400':
    case 'status_404':
    case 'html':
    case 'redirect':
      return never('provider_rejects');
    // The handshake of these is no answer at all: it may pass.
    case 'broken_json':
    case 'endless':
    case 'drip':
    case 'hang':
    case 'dead':
    case 'status_503':
      return never(moment === 'after 20 minutes' ? 'unavailable' : 'probing');
    // A did:web labeler serves its own document, whatever the directory says.
    case 'directory_down':
      return didWeb ? 'established' : null;
    case 'no_document':
    case 'tombstone':
    case 'no_service':
      return null;
  }
}

/** How many sources must be in each state, and how many are enrolled. */
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

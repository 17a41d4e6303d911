import type { Sim } from '../../sim/index.ts';
import type { Labeler } from '../../sim/labelers/labeler.ts';
import type { StoredGap } from '../../src/store/port.ts';
import { roleAt } from './cast.ts';
import type { Course } from './labelers/course.ts';

/**
 * Returns the unexpected and the missing gaps. The restart of a single instrument is a gap, but the takeover by a standby
 * is not.
 */
export function gapDifferences(sim: Sim, gaps: readonly StoredGap[], { hasStandby }: Course): string[] {
  const paused = hasStandby ? 0 : 1;
  const own = gaps.filter(({ source }) => source === null).map(({ reason }) => reason);
  const problems =
    own.join() === Array.from({ length: paused }, () => 'ingest_paused').join()
      ? []
      : [`unexpected gaps of the instrument: [${own.join()}]`];
  const { list } = sim.labelers;
  for (const labeler of list) {
    const role = roleAt(labeler.profile.index, list.length);
    const wanted = role?.gaps ?? ailmentGaps(labeler);
    const got = gaps.filter(({ source }) => source === labeler.did).filter((gap) => !isReplacement(labeler, gap));
    const isCovered = hasStandby && role?.affectsOneStream === true && got.length === 0;
    if (!isCovered && got.map(({ reason }) => reason).join() !== wanted.join()) {
      problems.push(
        `gaps of ${labeler.did} (${role?.name ?? labeler.profile.ailment}): [${wanted.join()}] expected, ${JSON.stringify(got)} recorded`,
      );
    }
  }
  return problems;
}

/**
 * Returns the reasons of the gaps that an ailment causes. Among labelers without a role, only labelers without
 * `queryLabels` have a gap.
 */
function ailmentGaps({ profile: { ailment } }: Labeler): readonly StoredGap['reason'][] {
  return ailment === 'no_query' ? ['source_unavailable'] : [];
}

/**
 * Returns true for a gap that results from an account-replacing labeler. Such a labeler may remove the last row that
 * was read, even if no label was missed.
 */
export function isReplacement({ profile, log, edge }: Labeler, { reason, start, end }: StoredGap): boolean {
  if (reason !== 'cursor_reset' || profile.software !== 'ozone' || profile.rate === 0) return false;
  for (let n = log.pace.edge(end); n > 0 && log.pace.emittedUs(n) > start - 60_000_000; n -= 1) {
    if (log.replaced(n, edge)) return true;
  }
  return false;
}

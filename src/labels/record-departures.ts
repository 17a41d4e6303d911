import { departureGap } from './departures.ts';
import type { Roster } from './roster.ts';
import type { ReaderTools } from './source.ts';
import type { SourceRunner } from './source-runner.ts';

/** Records the gap of each labeler that was read once and is no longer read, and gives free places to those that wait. */
export async function recordDepartures(
  roster: Roster,
  runner: SourceRunner,
  { clock, recordGap }: Pick<ReaderTools, 'clock' | 'recordGap'>,
): Promise<void> {
  for (const member of roster.members) {
    const gap = departureGap(member, runner.presence(member), clock());
    if (gap) await recordGap(gap);
  }
  runner.fillPlaces();
}

import type { RosterRow } from '../../src/store/roster.ts';
import { micros } from '../../src/store/time.ts';

/** Returns the roster row of an enrolled, established labeler that has never responded, with the given changes. */
export function rosterRow(did: string, changes: Partial<RosterRow> = {}): RosterRow {
  return {
    ...{
      did,
      origin: 'seeded',
      provenance: [],
      enrolled: true,
      resolutionStatus: 'labeler',
      endpoint: null,
      handle: null,
    },
    ...{ state: 'established', stateSince: micros(1), firstAsked: null, firstAnswered: null, lastAnswered: null },
    ...{ failingSince: null, completeThrough: null, dated: false, undated: false },
    ...changes,
  };
}

import { expect, test } from 'vitest';
import { day, micros } from '../../store/time.ts';
import { type TrackedState, untracked } from '../state/reading-state.ts';
import { Tracker } from '../state/tracker.ts';
import { evictionCandidates, type KnownLabeler } from './known-labeler.ts';

const now = micros(1_780_000_000_000_000);
const ago = (days: number) => micros(now - days * day);

function labelerWith(did: string, over: Partial<KnownLabeler> = {}, tracked: Partial<TrackedState> = {}): KnownLabeler {
  return {
    ...{ did, origin: 'discovered', provenance: new Set(['jetstream']), resolutionStatus: 'labeler', endpoint: null },
    ...{ pds: null, handle: null, handleConfirmed: false, denied: false },
    tracker: new Tracker(did, { ...untracked(ago(0.1)), ...tracked }),
    ...over,
  };
}

const answered = (days: number) => ({ firstAnswered: ago(days), lastAnswered: now, dated: true });

test('labelers that failed their trial are evicted first, then labelers without a labeler service, but not seeded, established or responding labelers', () => {
  const labelers = [
    labelerWith('did:plc:seed', { origin: 'seeded', resolutionStatus: 'no_labeler' }, { firstAsked: ago(9) }),
    labelerWith('did:plc:failed', {}, { firstAsked: ago(1) }),
    labelerWith('did:plc:none', { resolutionStatus: 'no_labeler' }),
    labelerWith('did:plc:established', { resolutionStatus: 'no_labeler' }, answered(8)),
    labelerWith('did:plc:answering', {}, answered(1)),
    labelerWith('did:plc:unresolved', { resolutionStatus: 'unresolved' }),
  ];
  expect(evictionCandidates(labelers, 100, now)).toEqual({
    unused: ['did:plc:none', 'did:plc:failed'],
    surplus: [],
    crowded: new Set(),
  });
});

test('if the domain of a did:web, an endpoint or a record host exceeds its share, the newest labelers of that domain are evicted', () => {
  const labelers = [
    ...Array.from({ length: 7 }, (_, i) => labelerWith(`did:web:l${i}.crowd.example`, {}, answered(1))),
    ...Array.from({ length: 7 }, (_, i) => labelerWith(`did:plc:e${i}`, { endpoint: `https://l${i}.other.example` })),
    ...Array.from({ length: 27 }, (_, i) => labelerWith(`did:plc:p${i}`, { pds: 'https://pds.host.example' })),
    ...Array.from({ length: 9 }, (_, i) =>
      labelerWith(`did:plc:old${i}`, { endpoint: `https://old${i}.other.example` }, answered(8)),
    ),
  ];
  expect(evictionCandidates(labelers, 100, now)).toEqual({
    unused: [],
    surplus: [
      ...['did:web:l5.crowd.example', 'did:web:l6.crowd.example'],
      ...['did:plc:e5', 'did:plc:e6', 'did:plc:p25', 'did:plc:p26'],
    ],
    crowded: new Set(['crowd.example']),
  });
});

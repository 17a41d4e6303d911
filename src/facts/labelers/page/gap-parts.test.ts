import { describe, expect, it } from 'vitest';
import { gapParts } from './words.ts';

const since = '2026-11-10T12:00:00.000Z';
const end = '2026-11-20T00:00:00.000Z';
const unavailable = (start: string, until = end) => ({ start, end: until, reason: 'source_unavailable' }) as const;
const described = (facts: Parameters<typeof gapParts>[0]) =>
  gapParts(facts).map(({ start, end: until, text }) => `${start.value} ${until.value} ${text}`);
const denied = { state: 'denied', state_since: since } as const;

describe('the gaps of a denied labeler', () => {
  it('are attributed to the operator from the denial onwards, and to the labeler before', () => {
    expect(gapParts({ ...denied, gaps: [unavailable('2026-11-10T11:49:00.000Z')] })).toEqual([
      {
        start: { value: '2026-11-10T11:49:00.000Z', pointer: 'labeler/facts/gaps/0/start' },
        end: { value: since, pointer: 'labeler/facts/state_since' },
        text: 'the labeler was unavailable or not followed',
      },
      {
        start: { value: since, pointer: 'labeler/facts/state_since' },
        end: { value: end, pointer: 'labeler/facts/gaps/0/end' },
        text: 'the operator of Almanac decided not to read it',
      },
    ]);
  });

  it.each(['2026-11-10T11:50:00.000Z', since, '2026-11-11T00:00:00.000Z'])(
    'are attributed to the operator as a whole if they begin at most ten minutes before the denial (%s)',
    (start) => {
      expect(described({ ...denied, gaps: [unavailable(start)] })).toEqual([
        `${start} ${end} the operator of Almanac decided not to read it`,
      ]);
    },
  );

  it('keep their own reason if they end before the denial or have another reason', () => {
    const earlier = unavailable('2026-11-01T00:00:00.000Z', since);
    const paused = { start: since, end, reason: 'ingest_paused' } as const;
    expect(described({ ...denied, gaps: [earlier, paused] })).toEqual([
      `2026-11-01T00:00:00.000Z ${since} the labeler was unavailable or not followed`,
      `${since} ${end} Almanac paused its collection`,
    ]);
  });
});

it('the gap of a labeler that left the enrolment is attributed to the labeler', () => {
  expect(described({ state: 'departed', state_since: since, gaps: [unavailable(since)] })).toEqual([
    `${since} ${end} the labeler was unavailable or not followed`,
  ]);
});

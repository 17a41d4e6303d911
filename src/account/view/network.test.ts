import { expect, it } from 'vitest';
import { rosterRow } from '../../../harness/store/roster-row.ts';
import type { Position } from '../../store/port.ts';
import type { RosterRow } from '../../store/roster.ts';
import { micros } from '../../store/time.ts';
import { labelersOf, networkView } from './network.ts';

const [one, two, three, four] = [
  'did:web:one.example',
  'did:web:two.example',
  'did:web:3.example',
  'did:web:4.example',
];

function row(did: string, lastAnswered: number | null): RosterRow {
  return rosterRow(did, { lastAnswered: lastAnswered === null ? null : micros(lastAnswered) });
}

function position(source: string, acceptedAt: number): Position {
  return { source, endpoint: 'https://labeler.example', value: '1', acceptedAt: micros(acceptedAt) };
}

it("the time of a labeler's last read is the time of its position or of its roster row, whichever is later", async () => {
  const store = {
    roster: () => Promise.resolve([row(one, 50), row(two, 50), row(three, 50), row(four, null)]),
    purges: () => Promise.resolve([]),
    spaceRemoval: () => Promise.resolve(null),
    positions: () => Promise.resolve([position(two, 40), position(three, 60), position(three, 30)]),
  };
  const { lastAsked } = await labelersOf(() => 0)(store as never);
  expect(lastAsked).toEqual(
    new Map([
      [two, 50],
      [three, 60],
      [one, 50],
    ]),
  );
});

it('networkView returns the origins of shown labelers whose endpoint is a public https address', async () => {
  const store = {
    roster: () =>
      Promise.resolve([
        rosterRow(one, { endpoint: 'https://one.example.com/path' }),
        rosterRow(two, { endpoint: 'http://127.0.0.1:3000' }),
        rosterRow(three, { endpoint: 'https://three.example.com' }),
        rosterRow(four),
      ]),
    purges: () => Promise.resolve([]),
    spaceRemoval: () => Promise.resolve(null),
    positions: () => Promise.resolve([]),
  };
  const labelers = await labelersOf(() => 0)(store as never);
  expect(networkView(labelers, [one, two, four]).origins).toEqual(new Map([[one, 'https://one.example.com']]));
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rosterRow } from '../../../harness/store/roster-row.ts';
import type { Position } from '../../store/port.ts';
import type { RosterRow } from '../../store/roster.ts';
import { micros } from '../../store/time.ts';
import { kept, LabelerCache, networkView, publicOrigin } from './labelers.ts';

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
  const { lastAsked } = await new LabelerCache(() => 0).all(store as never);
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
  const labelers = await new LabelerCache(() => 0).all(store as never);
  expect(networkView(labelers, [one, two, four]).origins).toEqual(new Map([[one, 'https://one.example.com']]));
});

/**
 * Creates a cached read that takes `took` milliseconds and returns its argument with the number of reads so far, and a
 * function that sets the clock.
 */
function reading(took: number) {
  let now = 0;
  let times = 0;
  const ask = kept({ ms: 1_000, monotonic: () => now }, async (what: string) => {
    times += 1;
    await Promise.resolve();
    now += took;
    if (what === 'fail') throw new Error('failed');
    return `${what} ${times}`;
  });
  const at = (then: number): void => {
    now = then;
  };
  return { ask, at };
}

it('kept reads a value once for all requests during its lifetime', async () => {
  const { ask, at } = reading(3);
  expect(await Promise.all([ask('a'), ask('b')])).toEqual(['a 1', 'a 1']);
  at(999);
  expect(await ask('c')).toBe('a 1');
  at(1_000);
  expect(await ask('d')).toBe('d 2');
});

it.each([
  [200, 20_000],
  [2_000, 200_000],
])(
  'kept caches the result of a read that takes %i ms for %i ms, so that reads take at most one per cent of the time',
  async (took, lifetime) => {
    const { ask, at } = reading(took);
    await ask('a');
    at(lifetime - 1);
    expect(await ask('b')).toBe('a 1');
    at(lifetime);
    expect(await ask('c')).toBe('c 2');
  },
);

it('kept does not cache a failure', async () => {
  const { ask } = reading(1);
  await expect(Promise.all([ask('fail'), ask('b')])).rejects.toThrow('failed');
  expect(await ask('c')).toBe('c 2');
});

describe('publicOrigin', () => {
  it.each([
    ['https://labels.example.com', 'https://labels.example.com'],
    ['https://labels.example.com:8443/path?query', 'https://labels.example.com:8443'],
    ['https://LABELS.example.com/', 'https://labels.example.com'],
  ])('returns the origin of the https endpoint %s', (endpoint, origin) => {
    expect(publicOrigin(endpoint)).toBe(origin);
  });

  it.each([
    [undefined],
    ['labels.example.com'],
    ['http://labels.example.com'],
    ['javascript:alert(1)'],
    ['https://user:secret@labels.example.com'],
    ['https://labels.example.com/#fragment'],
    ['https://127.0.0.1'],
    ['https://2130706433/'],
    ['https://192.168.1.1'],
    ['https://[::1]'],
    ['https://8.8.8.8'],
    ['https://localhost'],
    ['https://router'],
    ['https://router.local'],
    ['https://printer.internal'],
    [`https://${'a.'.repeat(200)}example.com`],
  ])('returns null for the endpoint %s', (endpoint) => {
    expect(publicOrigin(endpoint)).toBeNull();
  });

  it('never throws, and returns only https origins of at most 300 characters', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.webUrl(),
      fc.webUrl({ validSchemes: ['https'], withQueryParameters: true, withFragments: true }),
      fc.string({ unit: 'binary', maxLength: 12 }).map((host) => `https://${host}.com`),
    );
    fc.assert(
      fc.property(text, (endpoint) => {
        const origin = publicOrigin(endpoint);
        if (origin === null) return;
        expect(origin).toMatch(/^https:\/\/[a-z0-9.-]+(?::\d+)?$/);
        expect(origin.length).toBeLessThanOrEqual(300);
      }),
    );
  });
});

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Micros } from '../../contract/timestamp.ts';
import { labelActions, targetKinds } from '../../contract/vocabulary.ts';
import type { Frontier } from '../../store/port.ts';
import { day, micros } from '../../store/time.ts';
import {
  type AccountFilters,
  type AskedQuery,
  availableInterval,
  clipInterval,
  parseAccountQuery,
  parseParameters,
  searchText,
  storeFilter,
} from './query.ts';

const account = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz';
const labeler = 'did:web:labels.example.com';
const now = micros(1_795_176_000_000_000);

function asked(search: string) {
  const parsed = parseAccountQuery(parseParameters(search));
  return parsed.kind === 'query' ? parsed.query : parsed.code;
}

const instants = fc.integer({ min: 0, max: 4_000_000_000_000_000 }).map(micros);
const intervals = fc
  .uniqueArray(instants, { minLength: 2, maxLength: 2 })
  .map((pair) => pair.toSorted((a, b) => a - b) as [Micros, Micros]);
const queries: fc.Arbitrary<AskedQuery> = fc.record({
  account: fc.constantFrom(account, labeler),
  asked: fc.oneof(
    fc.constantFrom(7, 30).map((days) => ({ kind: 'days' as const, days: days as 7 | 30 })),
    intervals.map(([start, end]) => ({ kind: 'explicit' as const, start, end })),
  ),
  filters: fc.record(
    {
      labeler: fc.constantFrom(account, labeler),
      value: fc
        .string({ minLength: 1, maxLength: 30, unit: 'grapheme' })
        .filter((text) => text.isWellFormed() && Buffer.byteLength(text) <= 128),
      action: fc.constantFrom(...labelActions),
      target_kind: fc.constantFrom(...targetKinds),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<AccountFilters>,
});

describe('a query string', () => {
  it('is parsed back to the query from which it was formatted', () => {
    fc.assert(
      fc.property(queries, (query) => {
        expect(asked(searchText(query))).toEqual(query);
      }),
    );
  });

  it('requests 30 days if it contains no interval', () => {
    expect(asked(`did=${account}`)).toEqual({ account, asked: { kind: 'days', days: 30 }, filters: {} });
  });

  it.each(['07', '030', '7.0', '+7'])('is refused if the number of days is spelled %s instead of 7 or 30', (days) => {
    expect(asked(`did=${account}&days=${days}`)).toMatch(/^(?:un|in)/);
  });

  it('is parsed with lowercase hosts in DIDs of the method did:web', () => {
    expect(asked('did=did:web:Labels.EXAMPLE.com&days=7&labeler=did:web:MOD.example.com')).toEqual({
      account: 'did:web:labels.example.com',
      asked: { kind: 'days', days: 7 },
      filters: { labeler: 'did:web:mod.example.com' },
    });
    expect(asked('did=did:web:LOCALHOST%253a8080&days=7')).toMatch('invalid_account');
    expect(asked('did=did:web:localhost%253a8080&days=7')).toMatchObject({ account: 'did:web:localhost%3A8080' });
    expect(asked(`did=${account.toUpperCase().replace('DID:PLC:', 'did:plc:')}`)).toBe('invalid_account');
  });

  it('is parsed as if its empty form fields were absent', () => {
    expect(asked(`did=${account}&days=7&start=&end=&labeler=&value=&action=&target_kind=`)).toEqual({
      account,
      asked: { kind: 'days', days: 7 },
      filters: {},
    });
  });

  it.each([
    '2026-11-20T12:00:00Z',
    '2026-11-20T13:30:00%2B01:30',
    '2026-11-20T13:30:00+01:30',
    '2026-11-20T10:30:00-01:30',
  ])('can contain an instant with a time zone, as in start=%s', (start) => {
    expect(asked(`did=${account}&start=${start}&end=2026-11-21T00:00:00Z`)).toMatchObject({
      asked: { start: 1_795_176_000_000_000, end: 1_795_219_200_000_000 },
    });
  });

  it('is parsed with bounds rounded up to the microsecond, so that the interval never includes rows before its start', () => {
    const search = `did=${account}&start=2026-11-20T12:00:00.0000009Z&end=2026-11-21T00:00:00.0000001Z`;
    expect(asked(search)).toMatchObject({ asked: { start: 1_795_176_000_000_001, end: 1_795_219_200_000_001 } });
  });

  it('can contain years in which a double cannot represent every microsecond', () => {
    const [before, after] = ['1600-01-01T00:00:00Z', '2300-01-01T00:00:00Z'];
    const available = { start: micros(1_795_176_000_000_000), end: micros(1_795_219_200_000_000) };
    const clipped = (start: string, end: string) => {
      const query = asked(`did=${account}&start=${start}&end=${end}`);
      return typeof query === 'string' ? query : clipInterval(query.asked, available);
    };
    expect(clipped(before, after)).toMatchObject({ ...available, clipped: true });
    expect(clipped(before, '1600-01-02T00:00:00Z')).toBe('out_of_window');
    expect(clipped(after, '2300-01-02T00:00:00Z')).toBe('out_of_window');
    expect(clipped(after, before)).toBe('invalid_interval');
  });

  it('can contain additional parameters that its route allows', () => {
    const parsed = parseAccountQuery(parseParameters(`did=${account}&before=x`), ['before']);
    expect(parsed).toMatchObject({ kind: 'query', more: new Map([['before', 'x']]) });
  });
});

describe('an invalid query string', () => {
  const did = `did=${account}`;
  it.each([
    ['invalid_account', ''],
    ['invalid_account', 'did='],
    ['invalid_account', 'did=alice.example.com'],
    ['invalid_account', 'did=did:key:z6Mk'],
    ['invalid_account', `${did}&${did}`],
    ['invalid_account', 'did=%ff'],
    ['invalid_account', `days=9`],
    ['unsupported_interval', `${did}&days=14`],
    ['unsupported_interval', `${did}&days=007`],
    ['invalid_interval', `${did}&days=7&days=7`],
    ['invalid_interval', `${did}&days=-7`],
    ['invalid_interval', `${did}&days=week`],
    ['invalid_interval', `${did}&days=7&start=2026-11-20T12:00:00Z&end=2026-11-21T00:00:00Z`],
    ['invalid_interval', `${did}&start=2026-11-20T12:00:00Z`],
    ['invalid_interval', `${did}&end=2026-11-20T12:00:00Z`],
    ['invalid_interval', `${did}&start=2026-11-20T12:00:00&end=2026-11-21T00:00:00Z`],
    ['invalid_interval', `${did}&start=2026-11-20&end=2026-11-21`],
    ['invalid_interval', `${did}&start=%202026-11-20T12:00:00Z&end=2026-11-21T00:00:00Z`],
    ['invalid_account', `did=%20${account}`],
    ['invalid_interval', `${did}&start=2026-11-21T00:00:00Z&end=2026-11-21T00:00:00Z`],
    ['invalid_interval', `${did}&start=2026-11-21T00:00:00Z&end=2026-11-20T00:00:00Z`],
    ['invalid_interval', `${did}&start=2026-11-20T12:00:00+24:00&end=2026-11-21T00:00:00Z`],
    ['invalid_filter', `${did}&labeler=mod`],
    ['invalid_filter', `${did}&labeler=${account}&labeler=${account}`],
    ['invalid_filter', `${did}&value=%e2%82`],
    ['invalid_filter', `${did}&value=${'a'.repeat(129)}`],
    ['invalid_filter', `${did}&action=applied`],
    ['invalid_filter', `${did}&target_kind=list`],
    ['unknown_parameter', `${did}&cursor=x`],
    ['unknown_parameter', `${did}&%ff=x`],
    ['unknown_parameter', `${did}&Days=7`],
    ['unknown_parameter', `${did}&${'days=&'.repeat(40)}`],
  ])('is refused with the code %s: %j', (code, search) => {
    expect(asked(search)).toBe(code);
  });

  it('never causes an exception, whatever it contains', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (search) => {
        expect(parseAccountQuery(parseParameters(search)).kind).toBeOneOf(['query', 'refused']);
      }),
    );
  });
});

describe('filters', () => {
  it.each([
    [{}, {}],
    [{ action: 'application_observed' }, { removed: false }],
    [
      { labeler, value: 'spam', action: 'removal_observed', target_kind: 'post' },
      { labeler, value: 'spam', removed: true, target: 'post' },
    ],
  ] as const)('given as %j are converted to %j for the store', (asked, filter) => {
    expect(storeFilter(asked)).toEqual(filter);
  });
});

const primary: Frontier = { generationId: 'g', floor: micros(0), end: micros(10), observedThrough: null, revision: 3 };

describe('the window', () => {
  it('is 30 days long, or shorter if the store contains fewer than 30 days', () => {
    const days = { kind: 'days', days: 30 } as const;
    const windowOf = (floor: number) => availableInterval({ ...primary, floor: micros(floor) }, days, now, null).window;
    expect(windowOf(0)).toEqual({ start: now - 30 * day, end: now });
    expect(windowOf(now - 5)).toEqual({ start: now - 5, end: now });
  });

  const available = { start: micros(now - 10 * day), end: now };
  it('of 10 days leaves an interval of 7 days unchanged, and clips an interval of 30 days', () => {
    expect(clipInterval({ kind: 'days', days: 7 }, available)).toEqual({
      start: now - 7 * day,
      end: now,
      askedStart: now - 7 * day,
      clipped: false,
    });
    expect(clipInterval({ kind: 'days', days: 30 }, available)).toEqual({
      ...available,
      askedStart: now - 30 * day,
      clipped: true,
    });
  });

  it('clips an interval that extends beyond it, and excludes an interval outside it', () => {
    fc.assert(
      fc.property(intervals, intervals, ([start, end], [floor, ceiling]) => {
        const got = clipInterval({ kind: 'explicit', start, end }, { start: floor, end: ceiling });
        const both = { start: Math.max(start, floor), end: Math.min(end, ceiling) };
        const clipped = both.start !== start || both.end !== end;
        expect(got).toEqual(both.start < both.end ? { ...both, askedStart: start, clipped } : 'out_of_window');
      }),
    );
  });
});

describe('the available interval on a standby', () => {
  const standby: Frontier = { ...primary, replicatedThrough: micros(500) };
  const at = micros(1_000_000);
  const days = { kind: 'days', days: 7 } as const;
  const explicit = (end: number) => ({ kind: 'explicit', start: micros(0), end: micros(end) }) as const;
  const behind = expect.objectContaining({ code: 'behind' });

  it('ends at the time of the request, or at the end of the data that a standby has received if that end is earlier', () => {
    const nowOf = (frontier: Frontier, now: number) => availableInterval(frontier, days, micros(now), null).now;
    expect([nowOf(primary, at), nowOf(standby, at), nowOf(standby, 400)]).toEqual([at, 500, 400]);
  });

  it('is refused as behind until the standby has received all data before the end of the query, or before the current time if that end is in the future', () => {
    expect(() => availableInterval(standby, explicit(500), at, null)).not.toThrow();
    expect(() => availableInterval(standby, explicit(501), at, null)).toThrow(behind);
    expect(() => availableInterval(standby, explicit(2_000_000), at, null)).toThrow(behind);
    expect(() => availableInterval(standby, explicit(2_000_000), micros(500), null)).not.toThrow();
    expect(() => availableInterval(primary, explicit(501), at, null)).not.toThrow();
  });

  it('is not refused as behind if it is a number of days, unless it continues a list at a position that the standby has not received', () => {
    expect(() => availableInterval(standby, days, at, null)).not.toThrow();
    expect(() => availableInterval(standby, days, at, micros(500))).not.toThrow();
    expect(() => availableInterval(standby, days, at, micros(501))).toThrow(behind);
  });
});

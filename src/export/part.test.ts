import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ExportManifest } from '../contract/account.ts';
import { formatMicros, type Micros } from '../contract/timestamp.ts';
import { type AskedInterval, checkInterval, partsOf, startChain } from './part.ts';

const sha256 = (...parts: (string | Buffer)[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

describe('startChain', () => {
  it('computes a digest chain over the manifest and then each row, as canonical JSON', () => {
    const chain = startChain({ b: [1, { d: 'é', c: null }], a: true });
    const first = sha256('{"a":true,"b":[1,{"c":null,"d":"é"}]}');
    expect([chain.count, chain.sha256]).toEqual([0, first.toString('hex')]);
    expect(chain.add({ value: 'spam', cid: 'x' })).toBe('{"cid":"x","value":"spam"}');
    expect([chain.count, chain.sha256]).toEqual([1, sha256(first, '{"cid":"x","value":"spam"}').toString('hex')]);
  });
});

const begin = Date.parse('2026-11-01T00:00:00Z') * 1000;
const at = (minutes: number): string => formatMicros((begin + minutes * 60_000_000) as Micros);

function between(start: number, end: number, clipped = false): Pick<ExportManifest, 'interval' | 'clipped'> {
  return { interval: { start: at(start), end: at(end), end_exclusive: true }, clipped };
}

const explicit: AskedInterval = { kind: 'explicit', start: at(10), end: at(20) };
const part = { kind: 'part', start: at(10), end: at(20) } as const;
const firstPart: AskedInterval = { ...part, first: true, last: false };
const laterPart: AskedInterval = { ...part, first: false, last: false };
const lastPart: AskedInterval = { ...part, first: false, last: true };

describe('the interval of a received export', () => {
  it.each<[string, AskedInterval, Pick<ExportManifest, 'interval' | 'clipped'>]>([
    ['the requested interval', explicit, between(10, 20)],
    [
      'the requested interval in a different time zone',
      { kind: 'explicit', start: '2026-11-01T02:10:00+02:00', end: at(20) },
      between(10, 20),
    ],
    ['shorter than requested if it is marked as clipped', explicit, between(12, 15, true)],
    ['the requested part', laterPart, between(10, 20)],
    ['a first part that is clipped at the start of the window', firstPart, between(11, 20, true)],
    ['a last part that is clipped because its end is in the future', lastPart, between(10, 19, true)],
    ['the requested number of days', { kind: 'days', days: 7 }, between(0, 7 * 1440)],
    ['shorter than the requested number of days', { kind: 'days', days: 7 }, between(0, 10, true)],
  ])('may be %s', (_what, asked, given) => {
    expect(() => checkInterval(asked, given as ExportManifest)).not.toThrow();
  });

  it.each<[string, AskedInterval, Pick<ExportManifest, 'interval' | 'clipped'>]>([
    ['shorter without being marked as clipped', explicit, between(12, 20)],
    ['longer than requested', explicit, between(9, 20, true)],
    ['extended beyond the requested end', explicit, between(10, 21, true)],
    ['empty', explicit, between(15, 15, true)],
    ['a middle part without its start', laterPart, between(11, 20, true)],
    ['a first part without its end', firstPart, between(10, 19, true)],
    ['a last part without its start', lastPart, between(11, 20, true)],
    ['a last part without its end that is not marked as clipped', lastPart, between(10, 19)],
    ['longer than the requested number of days', { kind: 'days', days: 7 }, between(0, 7 * 1440 + 1)],
  ])('must not be %s', (_what, asked, given) => {
    expect(() => checkInterval(asked, given as ExportManifest)).toThrow('for a different interval');
  });
});

const cuts = fc
  .uniqueArray(fc.integer({ min: 11, max: 19 }), { minLength: 1, maxLength: 8 })
  .map((inner) => [10, ...inner.sort((a, b) => a - b), 20]);

function intervals(edges: readonly number[]) {
  return edges.slice(1).map((end, index) => ({ start: at(edges[index] ?? 0), end: at(end), rows: 1 }));
}

describe('the smaller parts that the service lists for a request', () => {
  it('are accepted if each part begins at the end of the previous part', () => {
    fc.assert(
      fc.property(cuts, fc.constantFrom(explicit, firstPart, laterPart, lastPart), (edges, asked) => {
        const { first, last } = asked.kind === 'part' ? asked : { first: true, last: true };
        expect(partsOf(asked, intervals(edges))).toEqual(
          intervals(edges).map(({ start, end }, index) => ({
            kind: 'part',
            start,
            end,
            first: first && index === 0,
            last: last && index === edges.length - 2,
          })),
        );
      }),
    );
  });

  it('are refused if a part is missing, duplicated, empty or outside the requested interval, or if the parts are reversed', () => {
    const wrong = fc.constantFrom<(parts: ReturnType<typeof intervals>) => unknown>(
      (parts) => parts.splice(1, 1),
      (parts) => parts.splice(1, 0, ...parts.slice(0, 1)),
      (parts) => parts.splice(0, 0, { start: at(10), end: at(10), rows: 0 }),
      (parts) => parts.reverse(),
      (parts) => parts.unshift({ start: at(9), end: at(10), rows: 0 }),
      (parts) => parts.push({ start: at(20), end: at(21), rows: 0 }),
    );
    fc.assert(
      fc.property(
        cuts.filter((edges) => edges.length > 3),
        wrong,
        (edges, spoil) => {
          const parts = intervals(edges);
          spoil(parts);
          expect(() => partsOf(explicit, parts)).toThrow('do not cover the requested interval');
        },
      ),
    );
  });

  it.each([
    ['an interval', explicit],
    ['a part', laterPart],
    ['a number of days', { kind: 'days', days: 10 } as const],
  ])(
    'must be smaller than the requested interval, because the same request would be refused again, for %s',
    (_what, asked) => {
      expect(() => partsOf(asked, intervals([10, 20]))).toThrow('a single part, which is too large');
    },
  );

  it.each([
    ['an interval', explicit],
    ['a first part', firstPart],
    ['a middle part', laterPart],
    ['a last part', lastPart],
  ])('must cover the whole requested interval, including time that is no longer retained, for %s', (_what, asked) => {
    expect(() => partsOf(asked, intervals([11, 15, 20]))).toThrow('do not cover');
    expect(() => partsOf(asked, intervals([10, 15, 19]))).toThrow('do not cover');
    expect(partsOf(asked, intervals([10, 15, 20]))).toHaveLength(2);
  });

  it('must add up to the requested number of days', () => {
    const week = { kind: 'days', days: 7 } as const;
    expect(partsOf(week, intervals([0, 15, 7 * 1440]))).toHaveLength(2);
    for (const edges of [
      [1, 15, 7 * 1440],
      [0, 15, 7 * 1440 + 1],
    ])
      expect(() => partsOf(week, intervals(edges))).toThrow('do not cover');
  });
});

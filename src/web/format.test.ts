import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countText, instantText, missedText, percentText, rateText, spanText } from './format.ts';

describe('a number or an instant on a page', () => {
  it.each([
    [countText(0), '0'],
    [countText(41_812_377), '41,812,377'],
    [countText(Number.MAX_SAFE_INTEGER), '9,007,199,254,740,991'],
    [rateText(0), '0'],
    [rateText(0.0004), '< 0.001'],
    [rateText(0.05), '0.05'],
    [rateText(2.6), '2.6'],
    [rateText(59.5113), '59.51'],
    [rateText(2213.84), '2,213.8'],
    [rateText(1e300), '1.00e+300'],
    [percentText(1), '100 %'],
    [percentText(0), '0 %'],
    [percentText(0.997815), '99.78 %'],
    [percentText(0.29), '29 %'],
    [percentText(0.999999), '99.99 %'],
    [percentText(0.00001), '< 0.01 %'],
    [percentText(1.25), '125 %'],
    [spanText(0), '0 s'],
    [spanText(0.2), '< 1 s'],
    [spanText(42.12), '42 s'],
    [spanText(613), '10 min 13 s'],
    [spanText(7200), '2 h'],
    [spanText(86_211.25), '23 h 56 min'],
    [spanText(86_400), '24 h'],
    [spanText(30 * 86_400 + 7_200), '30 d 2 h'],
    [missedText(0), '0 s'],
    [missedText(0.2), '< 1 s'],
    [missedText(42.12), '43 s'],
    [missedText(59.5), '1 min'],
    [missedText(613), '10 min 13 s'],
    [missedText(86_211.25), '23 h 57 min'],
    [missedText(72 * 3_600 - 0.5), '3 d'],
    [missedText(6 * 86_400 + 22 * 3_600 + 58 * 60), '6 d 23 h'],
    [missedText(7 * 86_400 - 1), '7 d'],
    [missedText(30 * 86_400 + 7_200), '30 d 2 h'],
    [instantText('2026-11-20T12:00:05.120Z'), '20 Nov 2026, 12:00 UTC'],
    [instantText('2026-11-20T12:00:05.9999999+00:00', 'second'), '20 Nov 2026, 12:00:05 UTC'],
    [instantText('2026-11-20T23:59:59.999Z', 'day'), '20 Nov 2026'],
    [instantText('0001-01-01T00:00:00Z'), '1 Jan 0001, 00:00 UTC'],
  ])('is formatted as %s', (text, expected) => {
    expect(text.replaceAll('\u00a0', ' ')).toBe(expected);
  });

  it('is never shown as 100 % if it is a share below one, and never as zero if it is positive', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true, minExcluded: true, maxExcluded: true }), (share) => {
        expect(percentText(share)).not.toMatch(/^100\s%|^0\s%/);
        expect(rateText(share)).not.toBe('0');
        expect(spanText(share)).not.toMatch(/^0\s/);
      }),
    );
  });
});

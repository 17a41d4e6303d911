import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Micros } from '../contract/timestamp.ts';
import { formatsOf, languages } from './language.ts';

/** 2026-11-20 12:03:05.999999 UTC, in microseconds. */
const at = 1_795_176_185_999_999 as Micros;
const day = 86_400;

describe('the formats of a language', () => {
  it.each([
    ['en', '20 Nov 2026, 12:03:05 UTC', '165,000', '3 days, 1 hour'],
    ['de', '20. Nov. 2026, 12:03:05 UTC', '165.000', '3 Tage, 1 Stunde'],
    ['es', '20 nov 2026, 12:03:05 UTC', '165.000', '3 días y 1 hora'],
    ['pt', '20 de nov. de 2026, 12:03:05 UTC', '165.000', '3 dias e 1 hora'],
    ['ja', '2026年11月20日 12:03:05 UTC', '165,000', '3 日 1 時間'],
  ] as const)('follow the conventions of the language %s', (language, second, count, span) => {
    const formats = formatsOf(language);
    expect([formats.second(at), formats.count(165_000), formats.span(3 * day + 3_600)]).toEqual([second, count, span]);
  });

  it('shorten only large values of an axis', () => {
    const { axisValue } = formatsOf('en');
    expect([0.25, 80_000, 150_000, -1_250_000].map(axisValue)).toEqual(['0.25', '80,000', '150k', '-1.25m']);
  });

  it('write different small values of an axis differently, and none of them as zero', () => {
    const { axisValue } = formatsOf('en');
    const ticks = [0, 0.0005, 0.001, 0.0015, 0.00028, -0.0005, 0.01, 0.012];
    expect(ticks.map(axisValue)).toEqual(['0', '0.0005', '0.001', '0.0015', '0.00028', '-0.0005', '0.01', '0.012']);
  });

  it('truncate an instant to the minute, the day and the time of day, in UTC', () => {
    const { minute, day, clock } = formatsOf('en');
    expect([minute(at), day(at), clock(at)]).toEqual(['20 Nov 2026, 12:03 UTC', '20 Nov 2026', '12:03']);
    expect(clock((at - 12 * 3_600_000_000) as Micros)).toBe('00:03');
  });

  it('write every instant as Intl writes it, in any order of days', () => {
    const locales = { en: 'en-GB', de: 'de', es: 'es', pt: 'pt', ja: 'ja' };
    const date = { timeZone: 'UTC', day: 'numeric', month: 'short', year: 'numeric' } as const;
    const time = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', timeZoneName: 'short' } as const;
    const options = {
      day: date,
      minute: { ...date, ...time },
      second: { ...date, ...time, second: '2-digit' },
    } as const;
    // Years from 1970 to 2100, often within few days, so that the texts of days are reused.
    const instants = fc.oneof(fc.integer({ min: 0, max: 4.1e12 }), fc.integer({ min: 1.7e12, max: 1.7e12 + 4e8 }));
    for (const language of languages) {
      for (const name of ['day', 'minute', 'second'] as const) {
        const intl = new Intl.DateTimeFormat(locales[language], options[name]);
        const format = formatsOf(language)[name];
        fc.assert(
          fc.property(instants, (ms) => {
            expect(format((ms * 1000 + 999) as Micros)).toBe(intl.format(ms));
          }),
        );
      }
    }
  });

  it('mark an instant as UTC in every language', () => {
    for (const language of languages) {
      const { minute, second } = formatsOf(language);
      expect([minute(at), second(at)].every((text) => text.endsWith(' UTC'))).toBe(true);
    }
  });

  it('truncate a duration but round missed time up', () => {
    const { span, missed } = formatsOf('en');
    const length = 6 * day + 22 * 3_600 + 58 * 60;
    expect([span(length), missed(length)]).toEqual(['6 days, 22 hours', '6 days, 23 hours']);
    expect([span(0), span(0.2), missed(0.2), missed(59.5)]).toEqual([
      '0 seconds',
      '< 1 second',
      '< 1 second',
      '1 minute',
    ]);
  });

  it('never show a positive duration as zero, in any language', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 0, max: 1e9, minExcluded: true, noNaN: true }),
        fc.constantFrom(...languages),
        (seconds, language) => {
          const { span, missed } = formatsOf(language);
          expect(`${span(seconds)} ${missed(seconds)}`).not.toMatch(/(?:^|\D)0\s/);
        },
      ),
    );
  });

  it('use the plural forms of the language', () => {
    const forms = { one: 'fila', many: 'de filas', other: 'filas' };
    const { counted } = formatsOf('es');
    expect([counted(1, forms), counted(2, forms), counted(1_000_000, forms)]).toEqual([
      '1 fila',
      '2 filas',
      '1.000.000 de filas',
    ]);
    expect(formatsOf('ja').plural(1, { other: '行' })).toBe('行');
  });

  it('return the name of a language, and null for an unknown or invalid tag', () => {
    const { languageName } = formatsOf('de');
    expect([languageName('pt-BR'), languageName('xx'), languageName('abc-1')]).toEqual([
      'Portugiesisch (Brasilien)',
      null,
      null,
    ]);
  });
});

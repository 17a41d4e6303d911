import { isValidElement } from 'preact';
import { describe, expect, it } from 'vitest';
import { daysUntilExpiry } from '../../store/time.ts';
import { languages } from '../../web/language.ts';
import { windowDays } from '../query/query.ts';
import type { Texts } from './en.ts';
import { textsOf } from './texts.ts';

/**
 * Arguments for calling any function of a catalogue whose parameters are all texts. Each argument that the function
 * uses appears in the result.
 */
const samples = ['PIECE1', 'PIECE2', 'PIECE3', 'PIECE4'] as const;

/** An entry of a catalogue with its path. */
type Entry = readonly [path: string, text: unknown];

const ignored: readonly string[] = ['language', 'formats', 'translationNote'];

/** Returns all entries of a catalogue, texts and functions, with their paths. */
function entriesOf(value: unknown, path = ''): Entry[] {
  if (typeof value !== 'object' || value === null) return [[path, value]];
  return Object.entries(value).flatMap(([key, one]) =>
    path === '' && ignored.includes(key) ? [] : entriesOf(one, path === '' ? key : `${path}.${key}`),
  );
}

/** Returns the plain text of a rendered part. */
function textIn(piece: unknown): string {
  if (Array.isArray(piece)) return piece.map(textIn).join('');
  if (isValidElement(piece)) return textIn((piece.props as { children?: unknown }).children);
  return typeof piece === 'string' ? piece : '';
}

/** Returns the plain text of an entry, calling it with the sample arguments if it is a function. */
function sentence(text: unknown): string {
  return typeof text === 'function' ? textIn((text as (...pieces: unknown[]) => unknown)(...samples)) : String(text);
}

/** Sample calls of the functions that have parameters other than texts. */
const calls: Readonly<Record<string, (t: Texts) => readonly unknown[]>> = {
  events: (t) => [t.events({ applied: 1, removed: 2 }, 0), t.events({ applied: 1_234, removed: 0 }, 3)],
  more: (t) =>
    [0, 1, 25].flatMap((shown) =>
      [true, false].flatMap((newest) => [null, 1, 4_125].map((total) => t.more({ shown, newest, total }))),
    ),
  interrupted: (t) => [t.interrupted(1, 'PIECE1'), t.interrupted(2, 'PIECE1')],
  read: (t) => [t.read(1, 2, false), t.read(1, 1, true), t.read(3, 700, false), t.read(3, 700, true)],
  stateCount: (t) => [t.stateCount(3, 'PIECE1')],
  notEnrolled: (t) => [1, 2].flatMap((n) => [t.notEnrolled(n, false), t.notEnrolled(n, true)]),
  missed: (t) => [1, 2].flatMap((n) => [t.missed(n, 'PIECE1', false), t.missed(n, 'PIECE1', true)]),
  purged: (t) => [t.purged(1, 'PIECE1'), t.purged(2, 'PIECE1')],
  purging: (t) => [t.purging(1, 'PIECE1'), t.purging(2, 'PIECE1')],
  spaces: (t) => [t.spaces(1, 'PIECE1'), t.spaces(2, null)],
  'answer.moreValues': (t) => [t.answer.moreValues(1), t.answer.moreValues(2)],
  ofSubject: (t) => [t.ofSubject(1), t.ofSubject(40)],
  earlierOfSubject: (t) => [t.earlierOfSubject(1), t.earlierOfSubject(37)],
  moreLabelers: (t) => [t.moreLabelers(1), t.moreLabelers(2)],
  sums: (t) => [t.sums({ applied: 1, removed: 2 }, 0), t.sums({ applied: 1, removed: 2 }, 1)],
  ownGaps: (t) => [t.ownGaps(1, 'PIECE1'), t.ownGaps(2, 'PIECE1')],
  earlierGaps: (t) => [t.earlierGaps(1), t.earlierGaps(2)],
  partOfDay: (t) => [t.partOfDay('PIECE1', null), t.partOfDay(null, 'PIECE1'), t.partOfDay('PIECE1', 'PIECE2')],
  dayCounts: (t) => [t.dayCounts(1, 2)],
  observedBetween: (t) => [t.observedBetween({ applied: 1, removed: 2 }, 'PIECE1', 'PIECE2')],
  daysUncounted: (t) => [t.daysUncounted(1), t.daysUncounted(2)],
  days: (t) => [t.days(1), t.days(7)],
  rows: (t) => [t.rows(1), t.rows(50_000)],
  partDownloads: (t) => [t.partDownloads(50_001, false), t.partDownloads(50_001, true)],
  tooManyDownloads: (t) => [t.tooManyDownloads((text) => text)],
  wholeDownload: (t) => [t.wholeDownload((text) => text, false), t.wholeDownload((text) => text, true)],
  downloadsExpire: (t) => [t.downloadsExpire((text) => text, 'PIECE1')],
};

/** Returns the plain texts that a catalogue entry can produce. */
function textsFrom(t: Texts, [path, text]: Entry): string[] {
  return calls[path]?.(t).map(textIn) ?? [sentence(text)];
}

/**
 * Entries that may be equal to the English ones: terms of the protocol, and words that the languages have in common.
 */
const shared: Readonly<Record<string, readonly string[]>> = {
  de: ['version', 'labeler', 'code', 'stateCount'],
  es: ['stateCount'],
  pt: ['site', 'stateCount'],
  ja: [],
};

const english = textsOf('en');

describe.each(languages.filter((language) => language !== 'en'))('the translation into %s', (language) => {
  const t = textsOf(language);
  const byPath = new Map(entriesOf(t));

  it('has the same entries as the English catalogue, each of the same type', () => {
    const shape = (texts: Texts) =>
      entriesOf(texts)
        // Languages have different plural forms.
        .filter(([path]) => !path.startsWith('states.'))
        .map(([path, text]) => `${path} ${typeof text}`)
        .sort();
    expect(shape(t)).toEqual(shape(english));
    for (const [name, { now, past }] of Object.entries(english.states)) {
      const own = t.states[name as keyof typeof t.states];
      expect([typeof own.now.other, typeof own.past.other]).toEqual([typeof now.other, typeof past.other]);
    }
  });

  it('has only texts that are not empty and differ from the English text', () => {
    for (const entry of entriesOf(english)) {
      const [path] = entry;
      if (path.startsWith('states.') || shared[language]?.includes(path)) continue;
      const own = textsFrom(t, [path, byPath.get(path)]);
      const originals = textsFrom(english, entry);
      for (const [index, text] of own.entries()) {
        expect({ path, text: text.trim() }).not.toEqual({ path, text: '' });
        expect({ path, text }).not.toEqual({ path, text: originals[index] });
      }
    }
  });

  it('contains every inserted part of each English text', () => {
    for (const entry of entriesOf(english)) {
      const [path] = entry;
      if (path.startsWith('states.')) continue;
      const own = textsFrom(t, [path, byPath.get(path)]);
      for (const [index, original] of textsFrom(english, entry).entries()) {
        const expected = original.match(/PIECE\d/g) ?? [];
        expect({ path, pieces: own[index]?.match(/PIECE\d/g)?.sort() ?? [] }).toEqual({
          path,
          pieces: expected.sort(),
        });
      }
    }
  });

  it('contains no common phrase that claims that a label is in effect', () => {
    const claims = {
      de: /\b(?:ist|sind) (?:gerade |derzeit |aktuell )?(?:aktiv|in Kraft)\b|\baktuelle(?:n|s)? Labels?\b/i,
      es: /\betiquetas? (?:activas?|vigentes?|actual(?:es)?)\b/i,
      pt: /\brótulos? (?:ativos?|vigentes?|atua(?:l|is))\b/i,
      ja: /有効なラベル|現在のラベル/,
    };
    const all = entriesOf(t).flatMap((entry) => (entry[0].startsWith('states.') ? [] : textsFrom(t, entry)));
    expect(all.filter((text) => claims[language as keyof typeof claims].test(text))).toEqual([]);
  });

  it('is marked as machine-made, because no native speaker has reviewed it yet', () => {
    expect(t.translationNote).toMatch(/maschinell|automática|機械翻訳/i);
  });
});

it.each([
  ['en', /not observed/i],
  ['de', /nicht beobachtet/i],
  ['es', /no observado|sin observar/i],
  ['pt', /não observado/i],
  ['ja', /未観測|観測され(?:なかった|ません|ていません)/],
] as const)(
  'the catalogue in %s has one term for unobserved time, and does not use it for observed time without observations',
  (language, term) => {
    const t = textsOf(language);
    const unobserved = [
      ...[t.notObserved, t.legend.unseen, t.columns.unseen, t.reason.not_observed, t.captionUnseen],
      ...[t.dayMissed('PIECE1', 'PIECE2'), t.answer.missed('PIECE1'), t.partMissed('PIECE1')],
    ];
    const empty = [
      ...[t.none, t.noneMatching, t.noneMatchingBefore, t.noneOfPart, t.noneOfPartBefore],
      ...[t.noObservation('PIECE1', 'PIECE2'), t.noMatch('PIECE1', 'PIECE2')],
    ];
    expect(unobserved.filter((text) => !term.test(text))).toEqual([]);
    expect(empty.filter((text) => term.test(text) || text.includes(t.intervalNotObserved))).toEqual([]);
  },
);

it.each(languages)(
  'the catalogue in %s states for how many days rows are shown, and within how many they are removed',
  (language) => {
    const t = textsOf(language);
    const texts = [t.isNot[3], ...textsFrom(t, ['downloadsExpire', t.downloadsExpire])];
    const days = [windowDays, daysUntilExpiry(windowDays) + 1].map(String);
    expect(texts.map((text) => text.match(/\d{2,}/g))).toEqual([days, days]);
  },
);

it('the English catalogue has no note about a translation', () => {
  expect(english.translationNote).toBeNull();
});

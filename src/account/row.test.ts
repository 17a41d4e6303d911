import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../contract/canonical.ts';
import { labelActions, targetKinds } from '../contract/vocabulary.ts';
import type { Observation } from '../store/port.ts';
import { targetOf } from '../store/subject.ts';
import { micros } from '../store/time.ts';
import { type AccountFilters, matches, rowOf } from './row.ts';

const labeler = 'did:plc:ar7c4by46qjdydhdevvrndac';
const account = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz';
const post = `at://${account}/app.bsky.feed.post/3lb5xpd2ank2v`;

function observation(label: Partial<Observation['label']> = {}): Observation {
  return {
    observedAt: micros(1_795_176_000_000_007),
    signature: 'verified',
    label: { src: labeler, uri: account, val: 'spam', cts: '2026-11-20T11:59:00+02:00', ...label },
  };
}

describe('the row of an observation', () => {
  it('names its fields one by one, with what the labeler wrote verbatim', () => {
    const full = observation({
      ver: 1,
      uri: post,
      cid: 'bafyreie5cvv4h45feadgeuwhbcutmh6t2ceseocckahdoe6uat64zmz454',
      neg: true,
      exp: '2027-01-01',
      sig: new Uint8Array(64),
      extra: new Uint8Array(3),
    });
    expect(rowOf(full)).toEqual({
      labeler_did: labeler,
      uri: post,
      cid: 'bafyreie5cvv4h45feadgeuwhbcutmh6t2ceseocckahdoe6uat64zmz454',
      value: 'spam',
      action: 'removal_observed',
      source_timestamp: '2026-11-20T11:59:00+02:00',
      observed_at: '2026-11-20T12:00:00.000007Z',
      expires_at: '2027-01-01',
      signature: 'verified',
    });
  });

  it('is canonical JSON as it is written, whatever it holds', () => {
    const texts = fc.string({ unit: 'grapheme' });
    const optional = fc.record({ cid: texts, exp: texts, neg: fc.boolean() }, { requiredKeys: [] });
    fc.assert(
      fc.property(texts, optional, (val, more) => {
        const row = rowOf(observation({ val, ...more } as Partial<Observation['label']>));
        expect(JSON.stringify(row)).toBe(canonicalJson(row));
      }),
    );
  });

  it('leaves out what the label has not', () => {
    expect(Object.keys(rowOf(observation()))).toEqual([
      'action',
      'labeler_did',
      'observed_at',
      'signature',
      'source_timestamp',
      'uri',
      'value',
    ]);
  });

  it.each([
    [undefined, 'application_observed'],
    [false, 'application_observed'],
    [true, 'removal_observed'],
  ])('takes neg %s for %s', (neg, action) => {
    expect(rowOf(observation(neg === undefined ? {} : { neg })).action).toBe(action);
  });
});

describe('what a label is about', () => {
  it.each([
    [account, 'account'],
    [post, 'post'],
    [`at://${account}/app.bsky.actor.profile/self`, 'record'],
    [`at://${account}/app.bsky.feed.post`, 'record'],
    [`at://${account}/app.bsky.feed.post/3k/more`, 'record'],
    [`at://${account}`, 'record'],
  ])('%s: %s', (uri, kind) => {
    expect(targetOf(uri)).toBe(kind);
  });
});

describe('filters', () => {
  const observations = fc
    .record({
      src: fc.constantFrom(labeler, account),
      val: fc.constantFrom('spam', 'Spam', ''),
      neg: fc.boolean(),
      uri: fc.constantFrom(account, post, `at://${account}/app.bsky.actor.profile/self`),
    })
    .map(observation);
  const filters = fc.record(
    {
      labeler: fc.constantFrom(labeler, account),
      value: fc.constantFrom('spam', 'Spam'),
      action: fc.constantFrom(...labelActions),
      target_kind: fc.constantFrom(...targetKinds),
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<AccountFilters>;

  it('let through what agrees with each of them, and nothing else', () => {
    fc.assert(
      fc.property(observations, filters, (one, asked) => {
        const row = rowOf(one);
        const words = {
          labeler: row.labeler_did,
          value: row.value,
          action: row.action,
          target_kind: targetOf(row.uri),
        };
        const agrees = Object.entries(asked).every(([name, word]) => words[name as keyof AccountFilters] === word);
        expect(matches(one, asked)).toBe(agrees);
      }),
    );
  });
});

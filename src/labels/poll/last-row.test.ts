import { describe, expect, test } from 'vitest';
import { fingerprint } from '../label/fingerprint.ts';
import { fingerprintIn, lastRowStatus, markOf, newRowsOf } from './last-row.ts';

const src = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';

function row(val: string, over: Readonly<Record<string, unknown>> = {}): unknown {
  return { src, uri: 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb', val, cts: '2026-01-02T03:04:05.000Z', ...over };
}

const last = row('spam');
const mark = markOf(last);
const replacement = row('spam', { neg: true, cts: '2026-01-02T03:05:00.000Z' });
const other = row('rude');

describe('what a page shows of the last row that was read', () => {
  const rest = { isRest: true, fingerprintAtNumber: null };

  test('the row itself, also where it was signed anew and others lie before it', () => {
    expect(lastRowStatus(mark, { ...rest, labels: [last] })).toBe('there');
    expect(lastRowStatus(mark, { ...rest, labels: [other, row('spam', { sig: { $bytes: 'AAAA' } })] })).toBe('there');
  });

  test('a newer row about the same thing: it was replaced', () => {
    expect(lastRowStatus(mark, { ...rest, labels: [other, replacement] })).toBe('replaced');
    expect(lastRowStatus(mark, { isRest: false, fingerprintAtNumber: null, labels: [other, replacement] })).toBe(
      'replaced',
    );
  });

  test.each([
    ['another value', other],
    ['another labeler', row('spam', { src: 'did:plc:cccccccccccccccccccccccc', neg: true })],
    ['another subject', row('spam', { uri: 'did:plc:cccccccccccccccccccccccc' })],
    ['another version of a record', row('spam', { cid: 'bafyreib2rxk3rh6kzwq', neg: true })],
    ['a value that is no label', { val: 'spam' }],
  ])('a newer row of %s replaces nothing: it is gone', (_, label) => {
    expect(lastRowStatus(mark, { ...rest, labels: [label] })).toBe('gone');
  });

  test('nothing at all: it is gone', () => {
    expect(lastRowStatus(mark, { ...rest, labels: [] })).toBe('gone');
  });

  test('another row under its number is another database, also where it is about the same thing', () => {
    expect(
      lastRowStatus(mark, { isRest: true, fingerprintAtNumber: fingerprint(replacement), labels: [replacement] }),
    ).toBe('gone');
  });

  test('a page that leaves it out, though it stands under its number', () => {
    expect(lastRowStatus(mark, { isRest: false, fingerprintAtNumber: fingerprint(last), labels: [other] })).toBe(
      'there',
    );
  });

  test('a full page without it proves nothing: its replacement may lie behind', () => {
    expect(lastRowStatus(mark, { isRest: false, fingerprintAtNumber: null, labels: [other] })).toBe('unknown');
  });

  test('a mark without a key, of an earlier version or of a value that is no label, tells nothing of replacements', () => {
    expect(lastRowStatus(fingerprintIn(mark), { ...rest, labels: [other] })).toBe('unknown');
    expect(lastRowStatus(fingerprintIn(mark), { ...rest, labels: [replacement] })).toBe('unknown');
    expect(lastRowStatus(fingerprintIn(mark), { ...rest, labels: [last] })).toBe('there');
    expect(lastRowStatus(markOf({ val: 'spam' }), { ...rest, labels: [{ val: 'rude' }] })).toBe('unknown');
  });
});

describe('the first frame of a stream that is asked for its last one again', () => {
  test('nothing of the frame that was read is new, and what follows it in a longer one is', () => {
    expect(newRowsOf({ seq: 5, tail: mark }, 5, [last])).toEqual([]);
    expect(newRowsOf({ seq: 5, tail: mark }, 7, [last, other])).toEqual([other]);
    expect(newRowsOf({ seq: 5, tail: null }, 5, [])).toEqual([]);
    expect(newRowsOf({ seq: 5, tail: fingerprintIn(mark) }, 5, [last])).toEqual([]);
  });

  test('what replaced the row under a later number shows that nothing was missed', () => {
    expect(newRowsOf({ seq: 5, tail: mark }, 6, [replacement])).toEqual([replacement]);
  });

  test('another row under its number is another database, also where it is about the same thing', () => {
    expect(newRowsOf({ seq: 5, tail: mark }, 5, [other])).toBe('another');
    expect(newRowsOf({ seq: 5, tail: mark }, 5, [replacement])).toBe('another');
  });

  test('a frame without it misses it', () => {
    expect(newRowsOf({ seq: 5, tail: mark }, 6, [other])).toBe('missing');
    expect(newRowsOf({ seq: 5, tail: mark }, 4, [last])).toBe('missing');
    expect(newRowsOf({ seq: 5, tail: mark }, 5, [other, row('more')])).toBe('missing');
    expect(newRowsOf({ seq: 5, tail: null }, 6, [other])).toBe('missing');
  });
});

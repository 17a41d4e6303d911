import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeArtifact, maxDepth, type Recognised, repeatedTopLevelKey } from './reading.ts';

const anything = (value: unknown): Recognised<unknown> => ({ kind: 'recognised', artifact: value });
const decode = (bytes: Uint8Array) => decodeArtifact(bytes, 5, anything);

describe('decodeArtifact', () => {
  it('reads any JSON value and computes the digest of its bytes', () => {
    fc.assert(
      fc.property(fc.json(), fc.constantFrom('', ' ', '\n'), (json, space) => {
        const text = `${json}${space}`;
        const bytes = Buffer.from(text);
        expect(decode(bytes)).toEqual({
          kind: 'readable',
          artifact: JSON.parse(text),
          digest: createHash('sha256').update(bytes).digest('hex'),
          modifiedAt: 5,
        });
      }),
    );
  });

  it.each([
    ['an empty file', Buffer.alloc(0), 'the artifact is empty'],
    ['only white space', Buffer.from('  '), 'the artifact is not a single JSON value'],
    ['two values', Buffer.from('{}{}'), 'the artifact is not a single JSON value'],
    ['a truncated value', Buffer.from('{"a": [1, 2'), 'the artifact is not a single JSON value'],
    ['a byte order mark', Buffer.from('\ufeff{}'), 'the artifact is not a single JSON value'],
    ['a byte that is not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'the artifact is not valid UTF-8'],
    ['an overlong encoding', Buffer.from([0x22, 0xc0, 0xaf, 0x22]), 'the artifact is not valid UTF-8'],
    ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'the artifact is not valid UTF-8'],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le'), 'the artifact is not a single JSON value'],
    ['NaN', Buffer.from('{"a": NaN}'), 'the artifact is not a single JSON value'],
    ['a repeated top-level key', Buffer.from('{"hold": true, "hold": false}'), 'a top-level key occurs twice'],
    [
      'too many levels',
      Buffer.from(`${'['.repeat(33)}${']'.repeat(33)}`),
      'the artifact is nested deeper than 32 levels',
    ],
    ['millions of levels', Buffer.from('['.repeat(4_000_000)), 'the artifact is nested deeper than 32 levels'],
  ])('rejects %s', (_what, bytes, why) => {
    expect(decode(bytes)).toEqual({ kind: 'malformed', pointer: '', schema: null, why });
  });

  it('accepts the maximum depth and does not count brackets within strings', () => {
    expect(decode(Buffer.from('['.repeat(maxDepth) + ']'.repeat(maxDepth))).kind).toBe('readable');
    expect(decode(Buffer.from(JSON.stringify(`${'['.repeat(99)}"\\${'{'.repeat(99)}`))).kind).toBe('readable');
  });
});

it.each([
  ['{"hold":true,"hold":false}', 'hold'],
  ['{"hold":true,"a":{"hold":1,"hold":2},"b":["hold"],"hold" : false}', 'hold'],
  ['{"hold":true,"h\\u006fld":false}', 'hold'],
  ['{"":1,"":2}', ''],
  ['{"a":"a","b":"a\\",\\"a\\":"}', null],
  ['{"a":{"b":1,"b":2}}', null],
  ['[{"a":1,"a":2}]', null],
  ['"a"', null],
  ['{}', null],
])('repeatedTopLevelKey(%s) returns %j', (text, key) => {
  expect(repeatedTopLevelKey(text)).toBe(key);
});

it('repeatedTopLevelKey finds no key in serialized JSON, and finds any key that is added a second time', () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 });
  fc.assert(
    fc.property(object, fc.nat(), fc.constantFrom(0, 2), (value, nth, indent) => {
      const text = JSON.stringify(value, null, indent);
      expect(repeatedTopLevelKey(text)).toBe(null);
      const keys = Object.keys(value);
      const key = keys[nth % keys.length] ?? '';
      expect(repeatedTopLevelKey(`${text.slice(0, -1)},${JSON.stringify(key)}:0}`)).toBe(key);
    }),
  );
});

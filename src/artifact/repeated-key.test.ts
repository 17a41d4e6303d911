import fc from 'fast-check';
import { expect, it } from 'vitest';
import { repeatedTopLevelKey } from './repeated-key.ts';

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

import { expect, test } from 'vitest';
import { labelerHandle } from './roster.ts';

test.each([
  ['mod.example.com', true, { name: 'mod.example.com', confirmed: true }],
  ['mod.example.com', false, { name: 'mod.example.com', confirmed: false }],
  ['<b>mod</b>', true, null],
  ['', false, null],
  [null, true, null],
])('labelerHandle(%j, %j) returns %j', (name, confirmed, handle) => {
  expect(labelerHandle(name, confirmed)).toEqual(handle);
});

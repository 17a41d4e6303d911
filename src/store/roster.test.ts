import { expect, test } from 'vitest';
import { labelerHandle } from './roster.ts';

test.each([
  ['{"handle":"mod.example.com","confirmed":true}', { name: 'mod.example.com', confirmed: true }],
  ['{"handle":"mod.example.com"}', { name: 'mod.example.com', confirmed: false }],
  ['{"handle":"mod.example.com","confirmed":"yes"}', { name: 'mod.example.com', confirmed: false }],
  ['{"handle":"<b>mod</b>"}', null],
  ['{"handle":7}', null],
  ['{}', null],
  ['null', null],
  ['not JSON', null],
])('labelerHandle reads the name from %s', (detail, handle) => {
  expect(labelerHandle({ detail })).toEqual(handle);
});

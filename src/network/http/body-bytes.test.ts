import { expect, it } from 'vitest';
import { BodyBytes } from './http-answer.ts';

it('BodyBytes copies all pieces, so that later changes to a piece have no effect', () => {
  const body = new BodyBytes(100_000);
  const piece = Buffer.alloc(40);
  let expected = '';
  for (let n = 0; n < 2_000; n += 1) {
    piece.fill(65 + (n % 26));
    expected += piece.toString();
    expect(body.add(piece)).toBe(true);
  }
  piece.fill(0);
  expect([body.length, body.whole().toString()]).toEqual([80_000, expected]);
});

it('BodyBytes accepts a body of exactly its limit and refuses a further byte', () => {
  const body = new BodyBytes(20_000);
  expect(body.add(Buffer.alloc(20_000, 1))).toBe(true);
  expect(body.add(Buffer.alloc(1))).toBe(false);
  expect(body.whole()).toEqual(Buffer.alloc(20_000, 1));
});

it.each([
  [1, 4_096 + 132],
  [31, 131_072],
])('BodyBytes refuses a body in pieces of %i bytes after %i pieces', (bytes, accepted) => {
  const body = new BodyBytes(12 * 1024 * 1024);
  const piece = Buffer.alloc(bytes);
  let pieces = 0;
  while (body.add(piece) && pieces < 200_000) pieces += 1;
  expect(pieces).toBe(accepted);
});

it('BodyBytes accepts any number of pieces of 32 bytes', () => {
  const body = new BodyBytes(12 * 1024 * 1024);
  const piece = Buffer.alloc(32);
  let pieces = 0;
  while (body.add(piece)) pieces += 1;
  expect(pieces).toBe((12 * 1024 * 1024) / 32);
});

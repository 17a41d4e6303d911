import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endOfHead, forwardedForOf, holdsMoreHeads } from './front.ts';

const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1');
/** Generates arbitrary text with many line breaks of every kind. */
const anyText = fc
  .array(fc.constantFrom('\r\n', '\n', '\r', 'GET / HTTP/1.1', 'a: b', '\0', ' '), { maxLength: 40 })
  .map((parts) => parts.join(''));

describe('the end of a request head', () => {
  it.each([
    ['GET / HTTP/1.1\r\nHost: a\r\n\r\nGET', 27],
    ['GET / HTTP/1.1\nHost: a\n\nGET', 24],
    ['GET / HTTP/1.1\nHost: a\n\nGET /\r\n\r\n', 24],
    ['GET / HTTP/1.1\r\nHost: a\r\n', -1],
    ['', -1],
  ])('in %j is at the index %i (-1 if no head is complete)', (text, end) => {
    expect(endOfHead(bytesOf(text))).toBe(end);
  });

  it('is after the first blank line, so that no byte is lost between two heads', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const pieces: string[] = [];
        let rest = bytesOf(text);
        for (let end = endOfHead(rest); end >= 0; end = endOfHead(rest)) {
          pieces.push(rest.toString('latin1', 0, end));
          rest = rest.subarray(end);
        }
        expect(pieces.join('') + rest.toString('latin1')).toBe(text);
        for (const piece of pieces) expect(piece).toMatch(/\n\r?\n$/);
        for (const piece of pieces) expect(piece.slice(0, -1)).not.toMatch(/\n\r?\n/);
      }),
    );
  });
});

it('holdsMoreHeads returns true only if the bytes contain more than the given number of heads', () => {
  const five = bytesOf('GET / HTTP/1.1\r\n\r\n'.repeat(5));
  expect([4, 5].map((most) => holdsMoreHeads(five, most))).toEqual([true, false]);
});

it('holdsMoreHeads counts the heads that endOfHead finds', () => {
  fc.assert(
    fc.property(anyText, fc.nat({ max: 20 }), (text, most) => {
      let heads = 0;
      let rest = bytesOf(text);
      for (let end = endOfHead(rest); end >= 0; end = endOfHead(rest)) {
        heads += 1;
        rest = rest.subarray(end);
      }
      expect(holdsMoreHeads(bytesOf(text), most)).toBe(heads > most);
    }),
  );
});

describe('the forwarded addresses of a request head', () => {
  it.each([
    ['GET / HTTP/1.1\r\nX-Forwarded-For: 192.0.2.1, 192.0.2.2\r\n\r\n', '192.0.2.1, 192.0.2.2'],
    ['GET / HTTP/1.1\r\nx-forwarded-for:192.0.2.1 \r\nX-FORWARDED-FOR: ::1\r\n\r\n', '192.0.2.1, ::1'],
    ['GET / HTTP/1.1\r\nHost: a\r\n\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n', undefined],
    ['GET / HTTP/1.1\r\nX-Forwarded-For: 192.0.2.1\r\n', undefined],
  ])('in %j are %j (undefined if there are none)', (text, found) => {
    expect(forwardedForOf(bytesOf(text))).toBe(found);
  });

  it('are read in linear time', () => {
    const head = bytesOf(`GET / HTTP/1.1\r\nX-Forwarded-For: a${' '.repeat(15_000)}b\r\n\r\n`);
    const before = process.cpuUsage();
    for (let time = 0; time < 100; time++) forwardedForOf(head);
    const { user } = process.cpuUsage(before);
    // With a quadratic pattern, each of these heads took 600 ms.
    expect(user / 1_000).toBeLessThan(1_000);
  });
});

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { EventTime, MinuteTime, quotedTimeLength } from './event-time.ts';

const first = '"2026-08-13T06:47:43.959305Z"';

/** Returns a view of a text followed by zero bytes, like the view of a scanner. */
function viewOf(text: string): { bytes: Uint8Array; view: DataView } {
  const bytes = new Uint8Array(64);
  bytes.set(Buffer.from(text, 'latin1'));
  return { bytes, view: new DataView(bytes.buffer) };
}

/** Parses a quoted datetime with the general parser, and returns microseconds. */
function parsed(text: string): number {
  return new EventTime().read(viewOf(text).bytes, 1, quotedTimeLength - 1);
}

function afterFirst(text: string): number {
  const minute = new MinuteTime();
  minute.remember(viewOf(first).view, 0, parsed(first));
  return minute.read(viewOf(text).view, 0);
}

it('the minute parser parses a datetime in the remembered minute to the same time as the general parser', () => {
  const seconds = fc.tuple(fc.nat(59), fc.nat(999_999));
  fc.assert(
    fc.property(seconds, ([second, us]) => {
      const text = `"2026-08-13T06:47:${String(second).padStart(2, '0')}.${String(us).padStart(6, '0')}Z"`;
      expect(afterFirst(text)).toBe(parsed(text));
      expect(parsed(text)).toBeGreaterThan(0);
    }),
  );
});

it('the minute parser parses a datetime with one changed byte to the same time as the general parser, or returns no time', () => {
  for (let at = 1; at < first.length - 1; at += 1) {
    for (let byte = 0; byte < 256; byte += 1) {
      const text = first.slice(0, at) + String.fromCharCode(byte) + first.slice(at + 1);
      expect([text, [0, parsed(text)]]).toEqual([text, expect.arrayContaining([afterFirst(text)])]);
    }
  }
});

it('the minute parser returns no time for a datetime without its closing quote, or in a minute that was not remembered', () => {
  expect(afterFirst(`${first.slice(0, -1)} `)).toBe(0);
  expect(afterFirst(first.replace('06:47', '06:48'))).toBe(0);
  expect(new MinuteTime().read(viewOf(first).view, 0)).toBe(0);
});

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { watchPartialMessage } from './partial-message.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function watch(max = Number.POSITIVE_INFINITY) {
  const noted = { acts: [] as string[], bytes: 0, max };
  const note = (what: string) => () => void noted.acts.push(what);
  const onPartial = (bytes: number) => {
    noted.bytes = bytes;
    return bytes > noted.max;
  };
  const partial = watchPartialMessage(
    { onPartial, partialMs: 30_000 },
    { pause: note('pause'), resume: note('resume'), late: note('late') },
  );
  return { noted, partial };
}

describe('a message that arrives in parts', () => {
  test('is reported with its number of received bytes until it is complete', () => {
    const { noted, partial } = watch();
    partial.chunk(60_000);
    partial.chunk(40_000);
    expect(noted.bytes).toBe(100_000);
    partial.message(100_000 + 20_000 - 10);
    partial.chunk(20_000);
    expect(noted.bytes).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('is reported without the bytes of complete messages that precede it in the same chunk', () => {
    const { noted, partial } = watch();
    partial.message(100);
    partial.message(1_000);
    partial.chunk(102 + 1_004 + 500);
    expect(noted.bytes).toBe(500);
  });

  test('pauses its connection until memory is available for it', () => {
    const { noted, partial } = watch(50_000);
    partial.chunk(60_000);
    expect(noted.acts).toEqual(['pause']);
    noted.max = 100_000;
    vi.advanceTimersByTime(500);
    expect(noted.acts).toEqual(['pause', 'resume']);
  });

  test('ends its connection after a timeout, which excludes the time in which the caller does not read', () => {
    const { noted, partial } = watch();
    partial.chunk(10);
    vi.advanceTimersByTime(20_000);
    partial.setReading(false);
    vi.advanceTimersByTime(100_000);
    partial.setReading(true);
    expect(noted.acts).toEqual([]);
    vi.advanceTimersByTime(10_000);
    expect(noted.acts).toEqual(['late']);
    partial.stop();
    expect([vi.getTimerCount(), noted.bytes]).toEqual([0, 0]);
  });

  test('does not time out if each chunk completes one message and begins another', () => {
    const { noted, partial } = watch();
    for (let second = 0; second < 100; second += 1) {
      partial.message(100);
      partial.chunk(110);
      vi.advanceTimersByTime(1_000);
    }
    expect(noted.acts).toEqual([]);
  });

  test('is no longer reported after a complete ping or pong, even if the ping or pong arrived in parts', () => {
    const { noted, partial } = watch();
    partial.control(0);
    partial.chunk(2);
    partial.chunk(3);
    expect(noted.bytes).toBe(3);
    partial.control(100);
    partial.chunk(99);
    expect(noted.bytes).toBe(0);
    expect(vi.getTimerCount()).toBe(0);
  });

  test('times out even if pings and pongs arrive between its parts', () => {
    const { noted, partial } = watch();
    partial.chunk(500);
    for (let second = 0; second < 30; second += 1) {
      expect(noted).toMatchObject({ acts: [], bytes: 500 });
      partial.control(4);
      partial.chunk(6);
      vi.advanceTimersByTime(1_000);
    }
    expect(noted.acts).toEqual(['late']);
    partial.stop();
  });
});

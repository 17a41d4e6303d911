import { expect, onTestFinished, test, vi } from 'vitest';
import type { Log } from '../../ops/log.ts';
import type { WriterEnd, WriterSighting } from '../../store/standby/standby.ts';
import { micros, second } from '../../store/time.ts';
import type { InstrumentRole } from '../standby/standby-store.ts';
import { untracked } from '../state/reading-state.ts';
import { isRead, standBy } from './stand-by.ts';
import type { Acts, Assembled } from './tasks.ts';

type WriterState = Extract<WriterSighting, { kind: 'writing' }>;

/** For `ms` milliseconds, watches a writer whose heartbeat never changes. Returns the messages of the log. */
async function watching(state: Pick<WriterState, 'state' | 'isGone'>, end: WriterEnd, ms: number): Promise<string[]> {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const messages: string[] = [];
  const tell = (message: string): void => void messages.push(message);
  const log = { info: tell, warn: tell, error: tell } as unknown as Log;
  const micros = (): number => Date.now() * 1_000;
  const stop = new AbortController();
  const role = {
    role: 'standby',
    standby: {
      writer: () => Promise.resolve({ kind: 'writing', beat: '1', ...state }),
      endWriter: () => {
        stop.abort();
        return Promise.resolve(end);
      },
      ready: () => Promise.resolve(),
    },
    kept: { follow: () => Promise.resolve(), kept: { rows: { oldest: null, size: 0, bytes: 0 } } },
  } as unknown as InstrumentRole;
  const assembled = {
    base: { clocks: { wall: micros, monotonic: micros }, log, telemetry: { role: () => undefined } },
    labelers: { roster: { labelers: [] }, runner: {} },
  } as unknown as Assembled;
  const watched = standBy(assembled, {} as unknown as Acts, role, stop.signal);
  await vi.advanceTimersByTimeAsync(ms);
  expect(stop.signal.aborted).toBe(true);
  await watched;
  return messages.filter((message) => message !== 'the standby is ready');
}

test.each<[string, Pick<WriterState, 'state' | 'isGone'>, WriterEnd, number, string]>([
  [
    'that hangs',
    { state: 'ready', isGone: false },
    { kind: 'killed', pid: 7 },
    4_000,
    'the writer did not respond for 3 s, and was killed',
  ],
  [
    'that hangs while it opens the store',
    { state: 'opening', isGone: false },
    { kind: 'killed', pid: 7 },
    16 * 60_000,
    'the writer did not respond for 15 min while it opened the store, and was killed',
  ],
  [
    'whose lease is not renewed',
    { state: 'ready', isGone: false },
    { kind: 'ended', name: 'a' },
    4_000,
    'the writer did not respond for 3 s, and its lease was ended',
  ],
  [
    'without a connection',
    { state: 'ready', isGone: true },
    { kind: 'ended', name: 'a' },
    2_000,
    'the writer has lost its connections to the store, and its lease was ended',
  ],
])('a standby logs the reason when it ends a writer %s', async (_, state, end, ms, message) => {
  expect(await watching(state, end, ms)).toEqual([message]);
});

const since = micros(1_000 * second);

function reading(lastAnswered: number | null, { whole = false, outageSince = null as number | null } = {}) {
  const tracked = { ...untracked(since), lastAnswered: lastAnswered === null ? null : micros(lastAnswered) };
  return { whole, outageSince: outageSince === null ? null : micros(outageSince), tracked };
}

test('a source counts as read once all its earlier labels have been read', () => {
  expect(isRead(reading(null, { whole: true }), since)).toBe(true);
  expect(isRead(reading(null), since)).toBe(false);
});

test('a source whose pages never end counts as read after a few seconds of responses, unless an outage is being filled in', () => {
  const later = since + 6 * second;
  expect(isRead(reading(since + second), since)).toBe(false);
  expect(isRead(reading(later), since)).toBe(true);
  expect(isRead(reading(later, { outageSince: since }), since)).toBe(false);
});

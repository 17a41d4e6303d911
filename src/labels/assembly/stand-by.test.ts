import { expect, onTestFinished, test, vi } from 'vitest';
import type { Log } from '../../ops/log.ts';
import type { StoredGap } from '../../store/port.ts';
import type { WriterEnd, WriterSighting } from '../../store/standby/standby.ts';
import { hour, micros, second } from '../../store/time.ts';
import { defaultBufferLimits, Kept } from '../standby/kept.ts';
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

/** Returns a store that a standby opens for writing. Records its gaps; its last heartbeat was at `heartbeat`. */
function openedStore(heartbeat: number, gaps: StoredGap[]) {
  const none = () => Promise.resolve();
  const empty = () => Promise.resolve([]);
  return {
    frontier: () => Promise.resolve({ floor: heartbeat, end: heartbeat, revision: 0, observedThrough: heartbeat }),
    epoch: () => Promise.resolve({ startedAt: heartbeat - hour }),
    heartbeat: () => Promise.resolve(heartbeat),
    note: () => Promise.resolve(null),
    recordGap: (gap: StoredGap) => Promise.resolve(void gaps.push(gap)),
    ...{ putNote: none, endReads: none, changeGaps: none, beat: none, putKeys: none },
    ...{ positions: empty, roster: empty, gaps: empty, refusedRows: empty, purges: empty },
  };
}

/** Takes over from a writer with these heartbeats at successive checks. Returns its messages and the recorded gaps. */
async function takenOver(beats: readonly string[], startedAt: number, heartbeat: number) {
  vi.useFakeTimers({ now: startedAt / 1_000 });
  onTestFinished(() => void vi.useRealTimers());
  const gaps: StoredGap[] = [];
  const done: string[] = [];
  const tell = (message: string): void => void done.push(message);
  const none = (): void => undefined;
  const clock = (): number => Date.now() * 1_000;
  const left = [...beats];
  const kept = new Kept({ identityOf: () => '', knows: () => false }, defaultBufferLimits, none);
  const role = {
    role: 'standby',
    generation: 0,
    standby: {
      writer: async () => {
        const beat = left.shift();
        return beat === undefined ? { kind: 'none' } : { kind: 'writing', state: 'ready', beat, isGone: false };
      },
      endWriter: async () => {
        left.length = 0;
        return { kind: 'killed', pid: 7 };
      },
      ready: async () => tell('ready'),
      takeOver: async () => openedStore(heartbeat, gaps),
    },
    kept: { kept, follow: async () => undefined, hold: none, activate: none },
    activated: () => tell('active'),
  } as unknown as InstrumentRole;
  const assembled = {
    base: {
      ...{ clocks: { wall: clock, monotonic: clock }, log: { info: none, warn: tell, error: tell } },
      ...{ settings: { origin: 'live', artifacts: '/nowhere' }, telemetry: { role: none } },
      shares: { gaps: { flush: async () => undefined }, shareOf: none },
    },
    labelers: { roster: { labelers: [], load: none, rewriteAll: none }, runner: {}, reachability: { load: none } },
    ports: { acceptance: { refused: { merge: () => ({ refusals: [], changes: [] }) } } },
  } as unknown as Assembled;
  const acts = { recorder: { begin: none }, keep: none, publish: none } as unknown as Acts;
  const watched = standBy(assembled, acts, role, new AbortController().signal);
  await vi.advanceTimersByTimeAsync(10_000);
  await watched;
  return { done, gaps };
}

const noon = micros(20_000 * 24 * hour + 12 * hour);

test('the time since the last heartbeat of a writer that hung before the standby started is a gap up to that start', async () => {
  const { done, gaps } = await takenOver(new Array<string>(40).fill('1'), noon, noon - hour);
  expect(gaps).toEqual([{ source: null, start: noon - hour, end: noon, reason: 'ingest_paused' }]);
  // A ready standby must be able to take over without a gap.
  expect(done).toEqual(['the writer did not respond for 3 s, and was killed', 'active']);
});

test('the time since the last heartbeat of a writer is not a gap if the standby has observed since a heartbeat', async () => {
  const beats = ['1', '1', '2', '2', '3', '3'];
  expect(await takenOver(beats, noon, noon - second)).toEqual({ done: ['ready', 'active'], gaps: [] });
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

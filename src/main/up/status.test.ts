import { expect, it } from 'vitest';
import { plainDisplay, screenDisplay, showsScreen } from './screen.ts';
import { duration, type Observed, statusOf } from './status.ts';

const start = Date.UTC(2026, 6, 4, 12);
const missing = { kind: 'missing', why: 'there is no such file' } as const;
const running = ['facts', 'weather', 'labels'].map((name) => ({ name, state: 'running' as const, restarts: 0 }));

/** Returns the state of an observatory that has just started. */
function observed(changes: Partial<Observed> = {}): Observed {
  const endpoint = 'wss://jetstream.example.com/subscribe';
  return {
    now: start,
    startedAt: start,
    endpoint,
    weather: missing,
    labels: missing,
    report: null,
    parts: running,
    ...changes,
  };
}

function texts(of: Partial<Observed>): Record<string, string> {
  return Object.fromEntries(statusOf(observed(of)).map(({ name, text }) => [name, text]));
}

it('reports an unreachable network and its cause after a short delay', () => {
  expect(texts({})).toEqual({
    weather: 'jetstream.example.com: connecting; nothing observed yet',
    labels: 'nothing observed yet',
    parts: 'facts running; weather running; labels running',
  });
  const report = { report: 'weather', connected: false, cause: 'dns', lagSeconds: null } as const;
  expect(texts({ now: start + 6_000, report })).toMatchObject({
    network:
      'cannot be reached: no connection to jetstream.example.com (the host name was not found), and no labeler answers; trying again',
    weather: 'jetstream.example.com: no connection (the host name was not found), trying again; nothing observed yet',
  });
  expect(texts({ now: start + 6_000 }).network).toMatch(/no answer yet/);
});

it('does not report the network while one of its parts responds', () => {
  const report = { report: 'weather', connected: true, cause: null, lagSeconds: 0.4 } as const;
  expect(texts({ now: start + 60_000, report })).toMatchObject({
    weather: 'jetstream.example.com: connected, 0.4 s behind; nothing observed yet',
  });
  expect(texts({ now: start + 60_000, report })).not.toHaveProperty('network');
});

it('reports a part that exited, and its number of restarts', () => {
  const parts = [
    { name: 'facts', state: 'running', restarts: 2 },
    { name: 'labels', state: 'waiting', restarts: 0 },
  ] as const;
  expect(texts({ parts }).parts).toBe('facts running, restarted 2 times; labels ended and is about to restart');
});

it('prints a plain line only for changes of state, not of numbers', () => {
  const printed: string[] = [];
  const display = plainDisplay((line) => printed.push(line));
  display.show([{ name: 'weather', text: 'connected, 0.4 s behind', news: 'connected' }]);
  display.show([{ name: 'weather', text: 'connected, 0.9 s behind', news: 'connected' }]);
  display.show([{ name: 'weather', text: 'no connection', news: 'none' }]);
  expect(printed).toEqual(['weather: connected, 0.4 s behind', 'weather: no connection']);
});

it('redraws a screen in place with one write, and wraps what is wider than it', () => {
  const written: string[] = [];
  const display = screenDisplay({ columns: 31, write: (text) => written.push(text) }, ['almanac up']);
  const line = { name: 'labels', text: 'one two three four five six', news: '' };
  display.show([line]);
  display.show([line]);
  const rows = 'almanac up\u001b[K\nlabels   one two three four\u001b[K\n         five six\u001b[K\n\u001b[J';
  expect(written).toEqual([`\r${rows}`, `\u001b[3A\r${rows}`]);
});

it('shows a screen in a terminal unless plain output is requested', () => {
  expect(showsScreen(true, { TERM: 'xterm' })).toBe(true);
  for (const env of [{ NO_COLOR: '1' }, { TERM: 'dumb' }, { CI: 'true' }]) expect(showsScreen(true, env)).toBe(false);
  expect(showsScreen(false, {})).toBe(false);
});

it('rounds durations for people', () => {
  expect([0.04, 12, 119, 300, 7_300, 200_000].map(duration)).toEqual([
    '0.0 s',
    '12 s',
    '119 s',
    '5 min',
    '2 h',
    '2 days',
  ]);
});

import { describe, expect, it } from 'vitest';
import { type MemoryArchive, memoryArchive } from '../../harness/archive/memory-files.ts';
import {
  type PublishedState,
  publishedFact,
  type SimulationOptions,
  simulateArchive,
  simulatedStart,
} from '../../harness/archive/simulated-archive.ts';
import { dayMs, hourMs } from './days/calendar.ts';
import { parseDay, parseIndex } from './days/records.ts';
import { signerKey } from './log/note.ts';

function archiveInTest(options: SimulationOptions = {}) {
  const archive = simulateArchive(options);
  const read = (path: string): Buffer => archive.content.get(path) ?? Buffer.alloc(0);
  const lines = (path: string): Record<string, unknown>[] =>
    read(path)
      .toString('utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  /** Returns the gaps in a day's manifest, except gaps in the hourly counts, which `tables.test.ts` checks. */
  const gaps = (day: string) => {
    const manifest = JSON.parse(read(`days/${day}/gaps.json`).toString('utf8')) as { gaps: { fact?: string }[] };
    return manifest.gaps.filter(({ fact }) => fact?.endsWith('-hours') !== true);
  };
  return { ...archive, read, lines, gaps };
}

/** Simulates a facts API whose published state depends on the number of hours since the start. */
function respondWith(stateAt: (hour: number) => Omit<PublishedState, 'now'> | null): SimulationOptions {
  return {
    respond(path, now) {
      const state = stateAt(Math.floor((now - simulatedStart) / hourMs));
      return state ? publishedFact(path, { now, ...state }) : { kind: 'failure', failure: 'unreachable' };
    },
  };
}

describe('an archiver', () => {
  it('archives each published body once per hour, byte for byte, with its HTTP status', async () => {
    const { tickAt, lines, read } = archiveInTest(respondWith((hour) => ({ isHeld: hour === 1 })));
    const at = simulatedStart + 5_000;
    await tickAt(at);
    await tickAt(at + 60_000);
    await tickAt(at + hourMs);
    expect(lines('days/2026-11-20/labels-overview.jsonl')).toMatchObject([
      { hour: '2026-11-20T00:00:00Z', at: '2026-11-20T00:00:05.000Z', path: '/v1/labels/overview', status: 200 },
      { hour: '2026-11-20T01:00:00Z', status: 503, body: { error: { code: 'source_held' } } },
    ]);
    const fact = publishedFact('/v1/weather/metrics', { now: at });
    const body = fact.kind === 'response' ? Buffer.from(fact.served.body).toString('utf8') : '';
    expect(read('days/2026-11-20/weather-metrics.jsonl').toString('utf8')).toContain(`,"body":${body}}\n`);
  });

  it('waits until the next hour after a successful request, and for one minute after a failed request', async () => {
    const { tickAt } = archiveInTest(respondWith((hour) => (hour === 0 ? {} : null)));
    expect(await tickAt(simulatedStart + 5_000)).toBe(hourMs - 5_000);
    expect(await tickAt(simulatedStart + hourMs)).toBe(60_000);
  });

  it('repeats a failed request within the hour, and archives the failure once the hour is over', async () => {
    let isUp = false;
    const { tickAt, lines, gaps } = archiveInTest(respondWith((hour) => (hour === 1 && !isUp ? null : {})));
    await tickAt(simulatedStart);
    await tickAt(simulatedStart + hourMs);
    expect(lines('days/2026-11-20/instruments.jsonl')).toHaveLength(1);
    await tickAt(simulatedStart + 2 * hourMs);
    isUp = true;
    expect(lines('days/2026-11-20/instruments.jsonl')).toMatchObject([
      { hour: '2026-11-20T00:00:00Z', status: 200 },
      { hour: '2026-11-20T01:00:00Z', status: null, failure: 'unreachable' },
      { hour: '2026-11-20T02:00:00Z', status: 200 },
    ]);
    expect(gaps('2026-11-20')).toContainEqual({
      source: 'archive',
      fact: 'instruments',
      start: '2026-11-20T01:00:00Z',
      end: '2026-11-20T02:00:00Z',
      reason: 'unreachable',
    });
  });

  it('archives the failures of an hour although its requests last until the next hour', async () => {
    const { tickAt, lines } = archiveInTest({
      fetcher: (_clock, advance) => async () => {
        advance(15_000);
        return { kind: 'failure', failure: 'unreachable' };
      },
    });
    const noon = simulatedStart + 12 * hourMs;
    for (const at of [58 * 60_000, 59 * 60_000 + 40_000, 62 * 60_000]) await tickAt(noon + at);
    for (const name of ['instruments', 'labels-overview', 'weather-conditions', 'weather-metrics'])
      expect(lines(`days/2026-11-20/${name}.jsonl`), name).toMatchObject([
        { hour: '2026-11-20T12:00:00Z', status: null, failure: 'unreachable' },
      ]);
  });

  it('withholds a body that contains an identity, logs an error, and archives the other bodies', async () => {
    const findIdentity = (body: Uint8Array): string | null =>
      Buffer.from(body).includes('coverage') ? 'a DID is at /facts' : null;
    const { run, lines, messages } = archiveInTest({ findIdentity });
    await run(1);
    expect(lines('days/2026-11-20/labels-overview.jsonl')).toMatchObject([{ status: null, failure: 'withheld' }]);
    expect(lines('days/2026-11-20/instruments.jsonl')).toMatchObject([{ status: 200 }]);
    expect(messages.map(({ message }) => message)).toEqual([
      'a published body contains an identity and was not archived',
    ]);
  });

  it('archives again as soon as its clock, which was ahead, is corrected', async () => {
    const { tickAt, lines } = archiveInTest({ serviceClock: (now) => Math.min(now, simulatedStart + hourMs) });
    await tickAt(simulatedStart);
    await tickAt(simulatedStart + 10 * dayMs);
    await tickAt(simulatedStart + hourMs);
    expect(lines('days/2026-11-20/instruments.jsonl')).toHaveLength(2);
  });

  it('archives nothing and warns once while its clock differs from the clock of the facts API', async () => {
    const { tickAt, content, messages } = archiveInTest({ serviceClock: () => simulatedStart });
    await tickAt(simulatedStart + 600_000);
    const before = new Map(content);
    expect([await tickAt(simulatedStart + hourMs), await tickAt(simulatedStart + dayMs)]).toEqual([60_000, 60_000]);
    expect(content).toEqual(before);
    expect(messages).toEqual([
      {
        message: 'the local clock differs from the clock of the facts API, so nothing is archived: check both clocks',
        fields: { service: '2026-11-20T00:00:00.000Z' },
      },
    ]);
  });

  it('records no failure while its clock differs from the clock of the facts API', async () => {
    let isUp = true;
    const { tickAt, lines } = archiveInTest({
      ...respondWith(() => (isUp ? {} : null)),
      serviceClock: (now) => Math.min(now, simulatedStart + 3 * hourMs),
    });
    await tickAt(simulatedStart);
    await tickAt(simulatedStart + 5 * hourMs);
    isUp = false;
    await tickAt(simulatedStart + 6 * hourMs);
    await tickAt(simulatedStart + 7 * hourMs);
    isUp = true;
    await tickAt(simulatedStart + hourMs);
    expect(lines('days/2026-11-20/instruments.jsonl').map(({ hour }) => hour)).toEqual([
      '2026-11-20T00:00:00Z',
      '2026-11-20T01:00:00Z',
    ]);
  });

  it.each([
    ['keeps running', false],
    ['starts again on that day', true],
  ])('removes lines of a later day that were archived while its clock was ahead, if it %s', async (_, starts) => {
    const { run, restart, tickAt, lines, messages, verify } = archiveInTest();
    await run(30);
    await tickAt(simulatedStart + 53 * hourMs);
    await run(18, 30);
    if (starts) restart();
    await run(52, 48);
    const hours = lines('days/2026-11-22/labels-overview.jsonl').map(({ hour }) => hour);
    expect(hours).toEqual(
      Array.from({ length: 24 }, (_, hour) => `2026-11-22T${String(hour).padStart(2, '0')}:00:00Z`),
    );
    expect(messages).toEqual(
      ['instruments', 'labels-overview', 'weather-conditions', 'weather-metrics'].map((name) => ({
        message: 'lines that were archived while the clock was ahead were removed',
        fields: { path: `days/2026-11-22/${name}.jsonl` },
      })),
    );
    expect(await verify()).toMatchObject({ findings: [], closedDays: 2 });
  });

  it('archives every hour of a day although its clock was ahead for a while on that day', async () => {
    const { run, tickAt, lines } = archiveInTest();
    await run(6);
    await tickAt(simulatedStart + 9.5 * hourMs);
    await tickAt(simulatedStart + 10.5 * hourMs);
    await run(4, 6);
    const hours = lines('days/2026-11-20/instruments.jsonl').map(({ at }) => at);
    expect(hours).toEqual(Array.from({ length: 10 }, (_, hour) => `2026-11-20T0${hour}:00:05.000Z`));
  });

  it('removes no line while its clock is set back', async () => {
    const { run, read } = archiveInTest();
    await run(30);
    const before = read('days/2026-11-21/instruments.jsonl');
    await run(3, 26);
    expect(read('days/2026-11-21/instruments.jsonl')).toEqual(before);
  });

  it('removes no line, and appends none, if its clock cannot be compared', async () => {
    const { run, tickAt, lines } = archiveInTest({ serviceClock: () => null });
    await tickAt(simulatedStart + 5 * hourMs);
    await run(7, 4);
    expect(lines('days/2026-11-20/instruments.jsonl').map(({ at }) => at)).toEqual([
      '2026-11-20T05:00:00.000Z',
      ...[6, 7, 8, 9].map((hour) => `2026-11-20T0${hour}:00:05.000Z`),
      '2026-11-20T10:00:05.000Z',
    ]);
  });

  it('archives nothing while its clock is set back to a closed day', async () => {
    const { run, tickAt, read, messages } = archiveInTest();
    await run(73);
    const before = read('days/2026-11-20/instruments.jsonl');
    await tickAt(simulatedStart + 3 * hourMs);
    expect(read('days/2026-11-20/instruments.jsonl')).toEqual(before);
    expect(messages.map(({ message }) => message)).toContain(
      'the clock shows a day that is already closed, so nothing is archived: check the clock',
    );
  });
});

describe('a day of the archive', () => {
  it('is closed 48 hours after its end and added to a log that verifies', async () => {
    const { run, verify, read } = archiveInTest();
    await run(72);
    expect(await verify()).toMatchObject({ findings: [], closedDays: 0, openDays: 3, keep: null });
    await run(1, 72);
    const report = await verify();
    expect(report).toMatchObject({ findings: [], closedDays: 1, openDays: 3 });
    expect(report.keep?.note).toContain('test.example/archive\n1\n');
    expect(parseDay(read('days/2026-11-20/day.json'))).toMatchObject({ state: 'closed', reason: null });
    expect(parseIndex(read('index.json'))?.days.map(({ day, state }) => [day, state])).toEqual([
      ['2026-11-20', 'closed'],
      ['2026-11-21', 'open'],
      ['2026-11-22', 'open'],
      ['2026-11-23', 'open'],
    ]);
  });

  it('stays open while the archiver clock cannot be compared with the clock of the facts API', async () => {
    let isWrong = true;
    const { run, tickAt, verify } = archiveInTest({ serviceClock: (now) => (isWrong ? null : now) });
    await tickAt(simulatedStart);
    await run(26, 24 * 10);
    expect(await verify()).toMatchObject({ findings: [], closedDays: 0 });
    isWrong = false;
    await run(1, 24 * 10 + 26);
    expect(await verify()).toMatchObject({ findings: [], closedDays: 3 });
    await run(2, 24 * 10 + 27);
    expect(await verify()).toMatchObject({ findings: [], closedDays: 9 });
  });

  it('stays open while the archiver clock differs from the clock of the facts API, and for a day after that', async () => {
    let isWrong = true;
    const { run, tickAt, verify } = archiveInTest({ serviceClock: (now) => (isWrong ? simulatedStart : now) });
    await tickAt(simulatedStart);
    await run(26, 24 * 10);
    expect(await verify()).toMatchObject({ findings: [], closedDays: 0 });
    isWrong = false;
    await run(23, 24 * 10 + 26);
    expect(await verify()).toMatchObject({ findings: [], closedDays: 0 });
    await run(1, 24 * 10 + 49);
    expect(await verify()).toMatchObject({ findings: [], closedDays: 3 });
    await run(2, 24 * 10 + 50);
    expect(await verify()).toMatchObject({ findings: [], closedDays: 9 });
  });

  it('stays open while the clocks of both the archiver and the facts API are days ahead', async () => {
    const { run, verify } = archiveInTest();
    await run(30);
    await run(10, 24 * 200);
    expect(await verify()).toMatchObject({ findings: [], closedDays: 0 });
    await run(43, 30);
    expect(await verify()).toMatchObject({ findings: [], closedDays: 1 });
  });

  it('gets a new revision with each change while it is open, and each revision contains the digest of the previous revision', async () => {
    const { run, read } = archiveInTest();
    await run(1);
    const first = parseIndex(read('index.json'))?.days[0]?.sha256;
    await run(1, 1);
    expect(parseDay(read('days/2026-11-20/day.json'))).toMatchObject({
      revision: 2,
      previous: first,
      reason: 'recent',
    });
  });

  it('and all later days stay open while the operator holds the label facts', async () => {
    const { run, read, verify } = archiveInTest(respondWith((hour) => ({ isHeld: hour >= 70 && hour < 100 })));
    await run(99);
    expect(parseDay(read('days/2026-11-20/day.json'))).toMatchObject({ state: 'open', reason: 'held' });
    expect(await verify()).toMatchObject({ findings: [], closedDays: 0 });
    await run(2, 99);
    expect(await verify()).toMatchObject({ findings: [], closedDays: 2 });
  });

  it('closes even if no hour is archived, and its manifest lists every hour as missing', async () => {
    const { run, restart, gaps, verify } = archiveInTest();
    await run(2);
    restart();
    await run(25, 24 * 7);
    expect(await verify()).toMatchObject({ findings: [], closedDays: 6, openDays: 3 });
    expect(gaps('2026-11-22')).toContainEqual({
      source: 'archive',
      fact: 'labels-overview',
      start: '2026-11-22T00:00:00Z',
      end: '2026-11-23T00:00:00Z',
      reason: 'not_archived',
    });
  });
});

describe('the gap manifest', () => {
  it('states the error code of a refused fact, and merges consecutive hours into one gap', async () => {
    const { run, gaps } = archiveInTest(respondWith((hour) => ({ isHeld: hour >= 3 && hour < 6 })));
    await run(25);
    expect(gaps('2026-11-20')).toEqual([
      {
        source: 'publication',
        fact: 'labels-overview',
        start: '2026-11-20T03:00:00Z',
        end: '2026-11-20T06:00:00Z',
        reason: 'source_held',
      },
    ]);
  });

  it('contains the part of a label gap that is within the day, even if an overview reports the gap only on a later day', async () => {
    const gap = { start: '2026-11-20T23:30:00.500Z', end: '2026-11-21T00:30:00Z', reason: 'ingest_paused' };
    const { run, gaps, verify } = archiveInTest(respondWith((hour) => ({ gaps: hour >= 24 ? [gap] : [] })));
    await run(24);
    expect(gaps('2026-11-20')).toEqual([]);
    await run(49, 24);
    const { reason } = gap;
    expect(gaps('2026-11-20')).toEqual([
      { source: 'labels', start: '2026-11-20T23:30:00.500Z', end: '2026-11-21T00:00:00.000Z', reason },
    ]);
    expect(gaps('2026-11-21')).toEqual([
      { source: 'labels', start: '2026-11-21T00:00:00.000Z', end: '2026-11-21T00:30:00.000Z', reason },
    ]);
    expect((await verify()).findings).toEqual([]);
  });

  it('states how many seconds of a weather window were not observed if the archive has no hourly counts', async () => {
    const stated = respondWith((hour) => ({ observedSeconds: hour === 24 ? 86_000.25 : 86_400 }));
    const { run, gaps } = archiveInTest({ ...stated, hours: () => null });
    await run(26);
    const start = new Date(simulatedStart + 5_000).toISOString();
    const end = new Date(simulatedStart + dayMs + 5_000).toISOString();
    expect(gaps('2026-11-20')).toEqual([
      { source: 'weather', start, end, reason: 'not_observed', unobserved_seconds: 399.75 },
    ]);
  });
});

describe('a log', () => {
  it('is not continued if the archive lacks days that the key has already signed', async () => {
    const { run, content, restart, tickAt } = archiveInTest();
    await run(73);
    for (const path of content.keys()) if (path.startsWith('log/')) content.delete(path);
    restart();
    await expect(tickAt(simulatedStart + 73 * hourMs)).rejects.toThrow(
      'the log of the archive lacks days that its key has signed (1 in total)',
    );
  });

  it('is not continued with a key that differs from the key of its checkpoints', async () => {
    const { run, restart, tickAt } = archiveInTest();
    await run(73);
    restart(signerKey('test.example/archive', Buffer.alloc(32, 6)));
    await expect(tickAt(simulatedStart + 73 * hourMs)).rejects.toThrow('was signed by another key');
  });
});

// An older copy of an archive looks like an archive that was stopped. A pause is reported once if a day became due
// for closing during it.

/** Runs an archive for `hours`, continues it at hour `later`, and returns the start of each reported pause. */
async function reported(hours: number, later: number, memory: MemoryArchive = memoryArchive()) {
  const archive = simulateArchive({ memory });
  await archive.run(hours);
  archive.restart();
  await archive.run(3, later);
  return archive.messages.filter(({ message }) => message.includes('older copy')).map(({ fields }) => fields.since);
}

it('a pause is reported only if a day became due during the pause', async () => {
  expect(await reported(60, 121)).toEqual(['2026-11-22T11:00:00Z']);
  expect(await reported(60, 73)).toEqual(['2026-11-22T11:00:00Z']);
  expect(await reported(74, 97)).toEqual(['2026-11-23T01:00:00Z']);
  expect(await reported(60, 71)).toEqual([]);
  expect(await reported(74, 90)).toEqual([]);
});

it('a restart in the hour in which a day becomes due is not a pause', async () => {
  expect(await reported(72, 72)).toEqual([]);
});

it('a new archive is not reported as an older copy', async () => {
  expect(await reported(0, 0)).toEqual([]);
});

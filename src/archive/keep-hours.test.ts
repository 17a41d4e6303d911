import { describe, expect, it } from 'vitest';
import type { SimulationOptions } from '../../harness/archive/simulated-archive.ts';
import { publishedFact, served } from '../../harness/archive/simulated-archive.ts';
import { simulatedHours } from '../../harness/archive/simulated-hours.ts';
import { tabledArchive as archiveInTest, at } from '../../harness/archive/tabled-archive.ts';
import { errorBody } from '../contract/errors.ts';
import { dayMs, hoursOf } from './days/calendar.ts';
import { parseDay, sha256Of } from './days/records.ts';
import type { HoursReadings } from './hours/hour-lists.ts';

/**
 * The archive copies the hours that the instruments report, unless they are held or withdrawn, and updates open days
 * with later reports.
 */

const first = '2026-11-20';
const unusable = 'the hours of an instrument cannot be written as an archive file and were not archived';

describe('a day', () => {
  it('lists the time of uncounted hours as gaps with reasons, and has no rows for these hours', async () => {
    let failure: 'missing' | null = null;
    const hours: SimulationOptions['hours'] = (now) =>
      failure === null
        ? simulatedHours(now)
        : { weather: { kind: 'failure', reason: failure }, labels: { kind: 'failure', reason: failure } };
    const archive = await archiveInTest(10, { hours });
    failure = 'missing';
    await archive.run(24 * 3 + 1 - 10, 10);
    const missing = archive.gaps(first).filter(({ fact }) => fact === 'labels-hours');
    expect(missing.map(({ start, end, reason }) => [start, end, reason])).toEqual([
      ['2026-11-20T08:59:00Z', '2026-11-20T09:00:00Z', 'incomplete'],
      ['2026-11-20T09:00:00Z', '2026-11-21T00:00:00Z', 'missing'],
    ]);
    for (const table of ['weather-totals', 'labels-totals'] as const) {
      expect(archive.seconds(first, table).map((one) => one !== null)).toEqual(hoursOf(first).map((_, at) => at < 9));
    }
    const day = [first, 'all'];
    for (const table of ['weather-gaps', 'labels-gaps']) {
      expect(archive.csv(first, table).slice(1)).toEqual([
        [...day, 'incomplete', '2026-11-20T08:59:00Z', '60', '2026-11-20T09:00:00Z'],
        [...day, 'missing', '2026-11-20T09:00:00Z', '54000', '2026-11-21T00:00:00Z'],
      ]);
    }
    expect((await archive.verify()).findings).toEqual([]);
  });

  it.each(['jet_stream.example.org', 'jet~stream.example.org'])(
    'is closed although the name of a weather host is unusual (%s)',
    async (host) => {
      const isKept = host.includes('_');
      const hours: SimulationOptions['hours'] = (now) =>
        simulatedHours(now, { hosts: [{ host, published: true, gaps: [] }] });
      const archive = await archiveInTest(74, { hours });
      expect(await archive.verify()).toMatchObject({ findings: [], closedDays: 1 });
      const seconds = archive.seconds(first, 'weather-totals');
      expect(seconds).toEqual(hoursOf(first).map(() => (isKept ? '3600' : null)));
      const missing = archive.gaps(first).filter(({ fact }) => fact === 'weather-hours');
      expect(missing.map(({ start, end, reason }) => [start, end, reason])).toEqual(
        isKept ? [] : [['2026-11-20T00:00:00Z', '2026-11-21T00:00:00Z', 'malformed']],
      );
      expect(archive.messages.map(({ message }) => message).includes(unusable)).toBe(!isKept);
    },
  );

  it('lacks the label hours while the operator holds the label facts, and contains all of them after the release', async () => {
    let isHeld = true;
    const respond = (path: string, now: number) => publishedFact(path, { now, isHeld });
    const archive = await archiveInTest(30, { respond });
    expect(archive.csv(first, 'labels-labelers')).toHaveLength(1);
    expect(archive.gaps(first)).toContainEqual(
      expect.objectContaining({ fact: 'labels-hours', reason: 'held', end: '2026-11-21T00:00:00Z' }),
    );
    isHeld = false;
    await archive.run(1, 30);
    expect(archive.csv(first, 'labels-labelers')).toHaveLength(3);
    expect(archive.gaps(first).filter(({ reason }) => reason === 'held')).toEqual([]);
  });

  it('excludes the label hours of a held file, even if the overview was published earlier in the same hour', async () => {
    const archive = await archiveInTest(5, {
      hours: (now) => heldHours(now, now >= at(0, 5, 10)),
      respond: (path, now) =>
        path === '/v1/instruments' && now >= at(0, 5) && now < at(0, 5, 51)
          ? { kind: 'failure', failure: 'unreachable' }
          : publishedFact(path, { now }),
    });
    await archive.tickAt(at(0, 5) + 5_000);
    const before = archive.bytes(`days/${first}/labels-hours.json`);
    await archive.tickAt(at(0, 5, 51));
    expect(archive.bytes(`days/${first}/labels-hours.json`)).toEqual(before);
    await archive.run(70, 6);
    expect(parseDay(archive.bytes(`days/${first}/day.json`))).toMatchObject({ state: 'open', reason: 'held' });
  });

  it.each([
    ['the source is unavailable', 'held', served(errorBody('source_unavailable'), 503)],
    ['a proxy responds after a hold', 'recent', served({}, 502)],
  ])('contains no label hours and is not closed while %s', async (_response, reason, refusal) => {
    const archive = await archiveInTest(76, {
      hours: (now) => heldHours(now, reason === 'held'),
      respond: (path, now) => {
        const isRefused = path === '/v1/labels/overview' && now >= at(2, 22);
        return isRefused ? refusal : publishedFact(path, { now, isHeld: true });
      },
    });
    expect(archive.csv(first, 'labels-labelers')).toHaveLength(1);
    expect(parseDay(archive.bytes(`days/${first}/day.json`))).toMatchObject({ state: 'open', reason });
    expect(await archive.verify()).toMatchObject({ findings: [], closedDays: 0 });
  });

  it('excludes the hours of a file dated in the future, and includes the hours of later files', async () => {
    const hours: SimulationOptions['hours'] = (now) => {
      const isAhead = now > at(0, 3) && now < at(0, 4);
      const { weather, labels } = simulatedHours(now);
      const generated_at = new Date(now + 10 * dayMs).toISOString();
      if (!isAhead || weather.kind !== 'readable' || labels.kind !== 'readable') return { weather, labels };
      return {
        weather: { kind: 'readable', artifact: { ...weather.artifact, generated_at } },
        labels: { kind: 'readable', artifact: { ...labels.artifact, generated_at } },
      };
    };
    const archive = await archiveInTest(4, { hours });
    expect(archive.messages).toEqual(
      ['weather-hours.json', 'labels-hours.json'].map((file) => ({
        message: 'an hours file is dated in the future and was not archived: check the clocks',
        fields: { file },
      })),
    );
    for (const name of ['weather', 'labels']) {
      expect(archive.bytes(`days/${first}/${name}-hours.json`).toString()).not.toContain('"generated_at":"2026-11-30');
    }
    await archive.run(6, 4);
    expect(archive.seconds(first, 'labels-totals')[7]).toBe('3600');
    expect(archive.seconds(first, 'weather-totals')[7]).toBe('3600');
  });

  it('contains the hours of files that were written after wrong clocks had been corrected', async () => {
    const unseen = [{ start: at(0, 3), end: at(1, 20) }];
    const archive = await archiveInTest(3, {
      hours: (now) => simulatedHours(now, now > at(1, 0) ? { weather: unseen, labels: unseen } : {}),
    });
    await archive.tickAt(at(1, 20) + 5_000);
    const seconds = () => [archive.seconds(first, 'labels-totals')[5], archive.seconds(first, 'weather-totals')[5]];
    expect(seconds()).toEqual([null, null]);
    await archive.run(5, 3);
    expect(seconds()).toEqual(['3600', '3600']);
  });

  it('contains no label hours while the facts API does not respond, because the operator might hold the label facts', async () => {
    const respond: SimulationOptions['respond'] = (path, now) =>
      now < at(0, 5) ? publishedFact(path, { now }) : { kind: 'failure', failure: 'unreachable' };
    const { seconds } = await archiveInTest(10, { respond });
    expect(
      seconds(first, 'labels-totals')
        .slice(0, 9)
        .map((one) => one !== null),
    ).toEqual([...[true, true, true, true], ...[false, false, false, false, false]]);
    expect(seconds(first, 'weather-totals')[8]).not.toBeNull();
  });
});

describe('the record of a day', () => {
  it('gets a new revision when the instruments report a late gap, but not when nothing changes', async () => {
    const late = [{ start: at(0, 23, 50), end: at(1, 0, 20), knownAt: at(2, 5) }];
    const archive = await archiveInTest(24 + 3, { hours: (now) => simulatedHours(now, { weather: late }) });
    const before = archive.record(first);
    await archive.run(22, 24 + 3);
    const same = archive.bytes(`days/${first}/day.json`);
    await archive.run(6, 24 + 25);
    const after = archive.record(first);
    expect(before?.state).toBe('open');
    expect(after?.previous).toBe(sha256Of(same));
    expect(after?.revision).toBe((parseDay(same)?.revision ?? 0) + 1);
    expect(archive.seconds(first, 'weather-totals').at(-1)).toBe('3000');
  });

  // The last hours file before the day closes begins with the first hour of the day.
  it.each([
    ['the first hours of the day', { from: 0, to: 3, known: 72 }, [null, null, null, '3600']],
    ['a part of the first hour of the day', { from: 0, to: 0.5, known: 72 }, ['1800', '3600', '3600', '3600']],
    [
      'the last hours of the previous day and the first hours of the day',
      { from: -4, to: 2, known: 68 },
      [null, null, '3600', '3600'],
    ],
  ])(
    'gets a new revision when the instruments report a late gap that covers %s',
    async (_hours, { from, to, known }, seconds) => {
      const gap = { start: at(0, from), end: at(0, to), knownAt: at(0, known) };
      const hours = (now: number) => simulatedHours(now, { weather: [gap], labels: [gap] });
      const archive = await archiveInTest(24 * 2 + 20, { hours });
      const observed = () =>
        (['weather-totals', 'labels-totals'] as const).map((table) => archive.seconds(first, table).slice(0, 4));
      expect(observed()).toEqual([Array(4).fill('3600'), Array(4).fill('3600')]);
      const before = archive.bytes(`days/${first}/day.json`);
      await archive.run(5, 24 * 2 + 20);
      expect(archive.record(first)?.state).toBe('closed');
      expect(archive.record(first)?.revision).toBeGreaterThan(parseDay(before)?.revision ?? 0);
      expect(observed()).toEqual([seconds, seconds]);
      const stated = archive.gaps(first).filter(({ source }) => source === 'weather');
      expect(stated).toMatchObject([{ start: at(0, Math.max(0, from)), end: at(0, to) }].map(instants));
      expect((await archive.verify()).findings).toEqual([]);
    },
  );
});

function instants({ start, end }: { start: number; end: number }) {
  return { start: new Date(start).toISOString(), end: new Date(end).toISOString() };
}

describe('an hours file of an instrument that lost its store', () => {
  it('does not erase the counts of earlier hours', async () => {
    const lostAt = at(0, 10, 30);
    const lost = [{ start: 0, end: lostAt, knownAt: lostAt }];
    const hours: SimulationOptions['hours'] = (now) => {
      const read = simulatedHours(now, { weather: lost, labels: lost });
      if (read.labels.kind !== 'readable' || now < lostAt) return read;
      const artifact = { ...read.labels.artifact, generation_id: '00000000-0000-4000-8000-000000000002' };
      return { ...read, labels: { ...read.labels, artifact } };
    };
    const { seconds } = await archiveInTest(24, { hours });
    const expected = Array.from({ length: 12 }, (_, hour) => lastSecondsOf(hour));
    expect(seconds(first, 'weather-totals').slice(0, 12)).toEqual(expected);
    expect(seconds(first, 'labels-totals').slice(0, 12)).toEqual(expected);
  });
});

describe('an identity (DID or handle) found by the privacy scan', () => {
  const planted = 'did:plc:ar7c4by46qjdydhdevvrndac';

  it('in an hours file never enters the archive, and stops only the hourly counts', async () => {
    const hours: SimulationOptions['hours'] = (now) => {
      const read = simulatedHours(now);
      if (read.weather.kind !== 'readable') return read;
      const artifact = structuredClone(read.weather.artifact);
      for (const series of artifact.series) series.endpoint = `wss://alice.bsky.social/${planted}`;
      const first = artifact.series[0];
      if (first) first.endpoint = `wss://${planted.replaceAll(':', '%3A')}.example/`;
      return { ...read, weather: { kind: 'readable', artifact } };
    };
    const archive = await archiveInTest(24 * 3 + 1, { hours });
    for (const [path, bytes] of archive.content) {
      expect(bytes.includes('ar7c4by46qjdydhdevvrndac'), path).toBe(false);
      expect(bytes.includes('alice'), path).toBe(false);
    }
    expect(archive.csv(first, 'labels-labelers')).toHaveLength(3);
    expect((await archive.verify()).findings).toEqual([]);
  });

  it('in a computed file keeps that file out of the archive, and the day is closed without it', async () => {
    const stopped = 'labels-labelers.csv';
    const scan = (name: string): string | null => (name === stopped ? 'a DID is at /rows/0' : null);
    const archive = await archiveInTest(24 * 3 + 1, { findIdentityIn: scan });
    expect(archive.content.has(`days/${first}/${stopped}`)).toBe(false);
    expect(parseDay(archive.bytes(`days/${first}/day.json`))).toMatchObject({ state: 'closed', withheld: [stopped] });
    expect(archive.messages.map(({ message }) => message)).toContain(
      'an archive file contains an identity and was not written',
    );
    expect(await archive.verify()).toMatchObject({ findings: [], closedDays: 1 });
  });
});

/** Returns the hours files of both instruments; `hold` states whether the operator holds the label facts. */
function heldHours(now: number, hold: boolean): HoursReadings {
  const read = simulatedHours(now);
  if (read.labels.kind !== 'readable') return read;
  return { ...read, labels: { ...read.labels, artifact: { ...read.labels.artifact, hold } } };
}

/** Returns the archived seconds of an hour: hour 9 lacks its last minute, and hour 10 lacks its first half. */
function lastSecondsOf(hour: number): string {
  return hour === 9 ? '3540' : hour === 10 ? '1800' : '3600';
}

import { describe, expect, it } from 'vitest';
import {
  publishedFact,
  type SimulatedArchive,
  served,
  simulateArchive,
  simulatedStart,
} from '../../harness/archive/simulated-archive.ts';
import { simulatedHours } from '../../harness/archive/simulated-hours.ts';
import { errorBody } from '../contract/errors.ts';
import { hourMs } from './days/calendar.ts';
import { parseDay } from './days/records.ts';
import type { HoursReadings } from './hours/hour-lists.ts';

/**
 * A day is closed unless the operator may be holding the label facts; an observatory without a label instrument also
 * closes its days.
 */

const first = '2026-11-20';
const unavailable = served(errorBody('source_unavailable'), 503);
const stale = served(errorBody('source_stale'), 503);

const missing = (now: number): HoursReadings => {
  return { ...simulatedHours(now), labels: { kind: 'failure', reason: 'missing' } };
};

/**
 * Runs an archive. `overview` takes the hours since the start and returns the response to a request for the label
 * overview, or null to serve the overview.
 */
async function archiveOf(
  hours: number,
  overview: (hour: number) => ReturnType<typeof served> | null,
  readHours: (now: number) => HoursReadings | null = missing,
): Promise<SimulatedArchive> {
  const archive = simulateArchive({
    respond(path, now) {
      const refusal = path === '/v1/labels/overview' ? overview(Math.floor((now - simulatedStart) / hourMs)) : null;
      return refusal ?? publishedFact(path, { now });
    },
    hours: readHours,
  });
  await archive.run(hours);
  return archive;
}

const textOf = ({ content }: SimulatedArchive, name: string): string =>
  content.get(`days/${first}/${name}`)?.toString('utf8') ?? '';
const stateOf = ({ content }: SimulatedArchive) => parseDay(content.get(`days/${first}/day.json`) ?? Buffer.alloc(0));

describe('a day of an observatory without a label instrument', () => {
  it('is closed after 48 hours, with a gap and without a row for every hour of labels', async () => {
    const archive = await archiveOf(73, () => unavailable);
    expect(stateOf(archive)).toMatchObject({ state: 'closed' });
    const { gaps } = JSON.parse(textOf(archive, 'gaps.json')) as { gaps: object[] };
    const day = { start: '2026-11-20T00:00:00Z', end: '2026-11-21T00:00:00Z' };
    expect(gaps).toEqual([
      { source: 'publication', fact: 'labels-overview', ...day, reason: 'source_unavailable' },
      { source: 'archive', fact: 'labels-hours', ...day, reason: 'missing' },
    ]);
    expect(textOf(archive, 'labels-totals.csv').trimEnd().split('\n')).toHaveLength(1);
    expect(textOf(archive, 'labels-gaps.csv')).toContain(
      '\n2026-11-20,all,missing,2026-11-20T00:00:00Z,86400,2026-11-21T00:00:00Z\n',
    );
    expect(textOf(archive, 'weather-totals.csv').trimEnd().split('\n')).toHaveLength(25);
    expect(await archive.verify()).toMatchObject({ findings: [], closedDays: 1 });
  });

  it('is closed without hours files, even if a proxy answered for some hours', async () => {
    const proxy = served({}, 502);
    const archive = await archiveOf(
      73,
      (hour) => (hour % 5 === 1 ? proxy : unavailable),
      () => null,
    );
    expect(stateOf(archive)).toMatchObject({ state: 'closed' });
  });

  it('is closed three days after the instrument was removed', async () => {
    const overview = (hour: number) => (hour < 30 ? null : unavailable);
    const readHours = (now: number) => (now < simulatedStart + 30 * hourMs ? simulatedHours(now) : missing(now));
    const archive = await archiveOf(30 + 71, overview, readHours);
    expect(stateOf(archive)).toMatchObject({ state: 'open' });
    await archive.run(1, 30 + 71);
    expect(stateOf(archive)).toMatchObject({ state: 'closed' });
  });
});

describe('a day stays open', () => {
  it('while the label facts have been unavailable for less than three days', async () => {
    const archive = await archiveOf(90, (hour) => (hour < 60 ? null : unavailable));
    expect(stateOf(archive)).toMatchObject({ state: 'open', reason: 'recent' });
  });

  it('while the hours file exists but cannot be read, because the file might state a hold', async () => {
    const readHours = (now: number): HoursReadings => {
      return { ...simulatedHours(now), labels: { kind: 'failure', reason: 'unreadable' } };
    };
    expect(stateOf(await archiveOf(90, () => unavailable, readHours))).toMatchObject({ state: 'open' });
  });

  it('while the last known state of the label facts is a hold that is less than three days old', async () => {
    const held = served(errorBody('source_held'), 503);
    const archive = await archiveOf(90, (hour) => (hour === 40 ? held : unavailable));
    expect(stateOf(archive)).toMatchObject({ state: 'open' });
  });

  it('while the archiver has recorded too few refusals in the last three days', async () => {
    const archive = await archiveOf(24, () => unavailable);
    await archive.run(20, 24 * 6);
    expect(stateOf(archive)).toMatchObject({ state: 'open' });
    await archive.run(10, 24 * 6 + 20);
    expect(stateOf(archive)).toMatchObject({ state: 'closed' });
  });
});

it('a day is closed while the label facts are stale, because the facts API would refuse held facts as held, not as stale', async () => {
  const archive = await archiveOf(
    73,
    (hour) => (hour < 20 ? null : stale),
    (now) => simulatedHours(now),
  );
  expect(stateOf(archive)).toMatchObject({ state: 'closed' });
});

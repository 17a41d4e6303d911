import { expect, test } from 'vitest';
import { newSource, scriptedTools } from '../../test/support/reader-tools.ts';
import type { HttpClient } from '../network/http.ts';
import { hour, micros } from '../store/time.ts';
import { createIntake } from './intake.ts';
import { noPosition, readPosition } from './position.ts';
import type { ReaderTools } from './source.ts';

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
const signal = new AbortController().signal;
const unasked = { http: {} as HttpClient, openStream: () => Promise.reject(new Error('not asked')) };

function row(val: string): unknown {
  return { src: did, uri: 'did:plc:bbbbbbbbbbbbbbbbbbbbbbbb', val, cts: new Date().toISOString() };
}

/** The intake of a source whose steps are noted in their order. */
function intakeWith(over: Partial<ReaderTools> = {}) {
  const steps: string[] = [];
  const { tools } = scriptedTools({
    ...unasked,
    recordGap: ({ reason }) => Promise.resolve(void steps.push(`gap ${reason}`)),
    accept: ({ observations, positions }) => {
      const cursor = readPosition(positions[0]?.value ?? '')?.cursor;
      steps.push(`commit of ${observations.length} at ${String(cursor)}, in memory ${String(source.position.cursor)}`);
      return Promise.resolve(observations.length);
    },
    ...over,
  });
  const source = newSource(did, 'https://labeler.example', tools);
  return { steps, tools, source, intake: createIntake(source, tools, () => undefined) };
}

const page = (cursor: number, ...rows: unknown[]) => ({
  ...{ rows, way: 'poll' as const },
  move: (position: typeof noPosition) => ({ ...position, cursor }),
});

test('a gap that a page implies is recorded before the position of the page is committed', async () => {
  const { steps, tools, source, intake } = intakeWith();
  const now = tools.clock();
  source.tracker.asked(now);
  source.tracker.answered(now, { dated: 1, undated: 0 });
  source.tracker.failed(micros(now - 2 * hour), 'failed');
  source.tracker.fellBehind(micros(now - 3 * hour));
  await intake.take(page(7, row('a')), signal);
  expect(steps).toEqual(['gap source_unavailable', 'commit of 1 at 7, in memory null']);
});

test('a position moves in memory once its rows are durable, and not where they are refused', async () => {
  const { steps, source, intake } = intakeWith();
  await intake.take(page(7, row('a')), signal);
  expect([steps, source.position.cursor]).toEqual([['commit of 1 at 7, in memory null'], 7]);
  const failing = intakeWith({ accept: () => Promise.reject(new Error('full')) });
  await expect(failing.intake.take(page(7, row('a')), signal)).rejects.toThrow('full');
  expect(failing.source.position).toEqual(noPosition);
});

test('a position is made from the one before it, also where two pages come at once', async () => {
  const { source, intake } = intakeWith();
  const add = (way: 'poll' | 'stream') =>
    intake.take(
      { rows: [row(way)], way, move: (position) => ({ ...position, cursor: (position.cursor ?? 0) + 1 }) },
      signal,
    );
  await Promise.all([add('poll'), add('stream'), intake.place((now) => ({ ...now, cursor: (now.cursor ?? 0) * 10 }))]);
  expect(source.position.cursor).toBe(20);
});

test('samples are stored and move no position', async () => {
  const { steps, source, intake } = intakeWith();
  await intake.keep([row('a'), row('b'), { src: did }], signal);
  expect(steps).toEqual(['commit of 2 at undefined, in memory null']);
  expect(source.position).toEqual(noPosition);
});

test('rows that were not stored give back their part of the day', async () => {
  const { tools, intake } = intakeWith({ accept: () => Promise.resolve(1) });
  await intake.take(page(1, row('a'), row('b'), row('c'), row('d')), signal);
  const one = tools.cap.usedBytes.seeded;
  await intake.take(page(2, row('e')), signal);
  expect(tools.cap.usedBytes.seeded).toBeCloseTo(2 * one, -1);
});

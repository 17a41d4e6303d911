import { isDeepStrictEqual } from 'node:util';
import { expect, test } from 'vitest';
import { labelStage } from '../../../harness/labels/label-stage.ts';
import { startStation } from '../../../harness/labels/label-station.ts';
import { until } from '../../../harness/process/until.ts';
import { movedClock } from '../../../harness/truth/clock.ts';
import { falseAnswers } from '../../../sim/identity/directory.ts';
import { createSim } from '../../../sim/index.ts';
import { minute } from '../../../src/store/time.ts';

const stage = labelStage();

/** Creates a network with labelers that no seeds file, relay or Jetstream names. */
async function network() {
  const made = createSim({
    ...{ rate: 1, historyHours: 0, labelers: 3, labelRate: 0 },
    shapeLabeler: () => ({ software: 'skyware', oddShare: 0, seeded: false, relays: [] }),
  });
  stage.sim = made;
  const { plc } = await made.start();
  const { directory, list } = made.labelers;
  const [a, b, c] = list.map(({ did }) => did);
  if (plc === null || a === undefined || b === undefined || c === undefined)
    throw new Error('the simulation has fewer than three labelers');
  const observe = async (folder?: string) => {
    const station = await startStation({ seeds: [], plc }, folder === undefined ? {} : { folder });
    stage.station = station;
    // Emit labels after the start, because labels from before the epoch are refused.
    for (const { faults } of list) faults.emit(3);
    const enrolled = async () => (await station.store.roster()).filter((row) => row.enrolled).map(({ did }) => did);
    const read = async () => {
      const { startedAt: start } = await station.store.epoch();
      const counts = await station.store.countsByLabeler({ start, end: stage.wall() });
      return counts.filter(({ applied }) => applied === 3).map(({ labeler }) => labeler);
    };
    return { ...station, enrolled, read };
  };
  return { directory, a, b, c, observe };
}

test("a labeler that appears only in the directory's stream is enrolled, read, and counted by the way in which it was found", async () => {
  const { directory, a, b, observe } = await network();
  const { store, enrolled, read, published } = await observe();
  await until('the stream is connected', () => directory.stream.cursors.length === 1);
  // Append an operation of an account that is not a labeler and must not be enrolled.
  directory.stream.append(b, { type: 'plc_operation', services: {} }, stage.wall());
  await directory.publish(a);
  await until('the labeler is read', async () => (await read()).includes(a));
  await until('the labeler is enrolled', async () => (await enrolled()).includes(a));
  const roster = await store.roster();
  expect(roster.map(({ did }) => did)).toEqual([a]);
  expect(roster[0]?.provenance).toEqual([expect.stringMatching(/^directory 127\.0\.0\.1:\d+$/)]);
  expect((await published()).caveats).toContain(
    '1 of 1 labeler that this instrument follows is known only from the directory: no seeds file, relay or Jetstream named it.',
  );
});

test('directory operations that were missed during a stop of the instrument or an outage of the stream are replayed', async () => {
  const { directory, a, b, c, observe } = await network();
  const first = await observe();
  await until('the stream is connected', () => directory.stream.cursors.length === 1);
  await directory.publish(a);
  await until('a first labeler is enrolled', async () => (await first.enrolled()).includes(a));
  const { seq } = directory.stream;
  await first.stop();
  await directory.publish(b);
  const second = await observe(first.folder);
  await until('the labeler that was declared while no process ran is enrolled', async () =>
    (await second.enrolled()).includes(b),
  );
  expect(directory.stream.cursors).toEqual([null, seq]);
  directory.stream.close('ConsumerTooSlow');
  await directory.publish(c);
  await until('the labeler that was declared during the outage of the stream is enrolled', async () =>
    (await second.enrolled()).includes(c),
  );
});

test('a directory operation of a known labeler causes its document to be read', async () => {
  const { directory, a, observe } = await network();
  const { enrolled } = await observe();
  await until('the stream is connected', () => directory.stream.cursors.length === 1);
  await directory.publish(a);
  await until('the labeler is enrolled', async () => (await enrolled()).includes(a));
  directory.set(a, 'no_service');
  await directory.publish(a);
  await until('the labeler has left the enrolment', async () => !(await enrolled()).includes(a));
});

test("a labeler that was declared before the window of the stream is found in the directory's export, even after a restart", async () => {
  const { directory, a, b, c, observe } = await network();
  const first = await observe();
  await until('the stream is connected', () => directory.stream.cursors.length === 1);
  await directory.publish(a);
  await until('a first labeler is enrolled', async () => (await first.enrolled()).includes(a));
  const { seq } = directory.stream;
  await first.stop();
  await directory.publish(b);
  for (let n = 0; n < 2_100; n += 1) directory.stream.append(c, { type: 'plc_operation', services: {} }, stage.wall());
  directory.stream.forget();
  const second = await observe(first.folder);
  await until('the labeler from the export is enrolled', async () => (await second.enrolled()).includes(b));
  await until('the stream follows the export', () => directory.stream.cursors.at(-1) === directory.stream.seq);
  expect(directory.stream.pages[0]).toBe(seq);
  expect(directory.stream.pages).toHaveLength(3);
  expect(directory.stream.closed.get('OutdatedCursor')).toBe(1);
  await directory.publish(c);
  await until('the labeler from the stream is enrolled', async () => (await second.enrolled()).includes(c));
});

test('an old endpoint that a lagging replica served is replaced soon after the primary directory responds again', async () => {
  const clock = movedClock();
  const made = createSim({
    ...{ rate: 1, historyHours: 0, labelers: 2, labelRate: 0, replicas: 1, clock: clock.sim },
    shapeLabeler: () => ({ software: 'skyware', oddShare: 0 }),
  });
  stage.sim = made;
  const { plc, plcReplicas } = await made.start();
  const { directory, replicas, list } = made.labelers;
  const [moved, quiet] = list;
  const [replica] = replicas;
  if (moved === undefined || quiet === undefined || replica === undefined)
    throw new Error('the simulation is too small');
  await replica.freeze(moved.did);
  replica.set(quiet.did, 'no_service');
  const former = moved.endpoint;
  await moved.faults.move();
  directory.state = 'down';
  const seeds = [moved.did, quiet.did];
  const station = await startStation({ seeds, plc: plc ?? '', plcReplicas }, clock);
  stage.station = station;
  const endpoints = async () => new Map((await station.store.roster()).map(({ did, endpoint }) => [did, endpoint]));
  await until('the replica has answered', async () => (await endpoints()).get(moved.did) === former);
  directory.state = 'up';
  clock.advance(minute);
  const current = new Map([moved, quiet].map(({ did, endpoint }) => [did, endpoint]));
  await until('the current documents are known', async () => isDeepStrictEqual(await endpoints(), current));
  expect(directory.fired.get('whole')).toBeGreaterThanOrEqual(2);
});

test('labelers stay enrolled while the directory responds to requests for their documents with something else', async () => {
  const made = createSim({
    ...{ rate: 1, historyHours: 0, labelers: falseAnswers.length, labelRate: 0 },
    shapeLabeler: () => ({ software: 'skyware', oddShare: 0 }),
  });
  stage.sim = made;
  const { plc } = await made.start();
  const { directory, list } = made.labelers;
  const station = await startStation({ seeds: list.map(({ did }) => did), plc: plc ?? '' });
  stage.station = station;
  const enrolled = async () => (await station.store.roster()).filter((row) => row.enrolled).length;
  await until('the labelers are enrolled', async () => (await enrolled()) === list.length);
  await until('the stream is connected', () => directory.stream.cursors.length === 1);
  for (const [i, answer] of falseAnswers.entries()) {
    const did = list[i]?.did ?? '';
    await directory.publish(did);
    directory.set(did, answer);
  }
  await until('each document was requested again', () =>
    falseAnswers.every((answer) => (directory.fired.get(answer) ?? 0) > 0),
  );
  expect((await station.published()).coverage.sources.enrolled).toBe(list.length);
  expect(await enrolled()).toBe(list.length);
});

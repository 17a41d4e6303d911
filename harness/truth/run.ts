import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { falseAnswers } from '../../sim/identity/directory.ts';
import { createSim, type Sim } from '../../sim/index.ts';
import type { Labeler } from '../../sim/labelers/labeler.ts';
import { labelerFaultNames, oddKinds } from '../../sim/labelers/odd-labels.ts';
import { ailments } from '../../sim/labelers/profile.ts';
import { formatMicros, type Micros } from '../../src/contract/timestamp.ts';
import { changeDenyFile } from '../../src/labels/operator/deny-file.ts';
import { labelerFromRow } from '../../src/labels/roster/known-labeler.ts';
import { readSeeds } from '../../src/labels/roster/labeler-lists.ts';
import type { InstrumentRole } from '../../src/labels/standby/standby-store.ts';
import type { StoreReader } from '../../src/store/port.ts';
import { day, hour, micros, minute } from '../../src/store/time.ts';
import {
  type LabelStation,
  quickTimings,
  removeStation,
  type StandbyStation,
  startStandby,
  startStation,
} from '../labels/label-station.ts';
import { until } from '../process/until.ts';
import { wholeSpan } from '../store/scan.ts';
import { cast, expectedSources, minLabelers, roleAt, shapeOf, stateOf } from './cast.ts';
import { type MovedClock, movedClock, slowness } from './clock.ts';
import { actionsCheck, type Compared, differences, hiddenLosses, served, skippedMatch, sourcesAre } from './compare.ts';
import { gapDifferences } from './gaps.ts';
import { labelersMatch, resolvesHandles } from './labelers/compare.ts';
import { type Course, courseFrom } from './labelers/course.ts';
import { departs, type Role, type RoleContext } from './roles.ts';

interface Proof {
  readonly accepted: number;
  readonly refused: Readonly<Record<string, number>>;
  readonly gaps: number;
  readonly sources: Readonly<Record<string, number>>;
  /** Number of times that each labeler fault and ailment took effect. */
  readonly fired: Readonly<Record<string, number>>;
  /** Differences that the comparison found. */
  readonly problems: readonly string[];
}

/** Number of labelers that a relay lists per page. */
const relayPage = 20;

/**
 * Runs an instrument on a simulated network from its first label onwards, with every fault, a restart, an outage of 20
 * minutes, and labelers that are discovered two days later. Then compares the stored labels, refusals and gaps with the
 * record.
 */
export async function proveTruth({
  seed,
  labelers = minLabelers,
  standby = false,
}: {
  seed: number;
  labelers?: number;
  /**
   * True to run a standby. The test then repeatedly lets the standby take over instead of restarting the instrument.
   */
  standby?: boolean;
}): Promise<Proof> {
  const clock = movedClock();
  const sim = createSim({
    ...{ seed, labelers, labelRate: 15, population: 'troubled', shapeLabeler: shapeOf(labelers) },
    ...{ rate: 2, historyHours: 0, clock: clock.sim, replicas: 2 },
  });
  // The second page of the first relay fails twice, and the labelers behind it must be found nevertheless.
  for (const relay of sim.labelers.relays) relay.pageLimit = relayPage;
  sim.labelers.relays[0]?.failing.set(1, ['down', 'broken_json']);
  const { seeds, plc, plcReplicas, relays, jetstream } = await sim.start();
  // Use short timeouts so that hanging labelers do not occupy every connection.
  const timings = { ...quickTimings, requestMs: 2_000 * slowness(), maxRetryMs: Math.max(6_000, 40 * labelers) };
  const settings = { timings, seeds: await readSeeds(seeds ?? ''), plc: plc ?? '', plcReplicas, relays, jetstream };
  // Keep the store in memory if possible: the kill tests cover durability, and a slow disk would only delay this test.
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'almanac-truth-'));
  const problems: string[] = [];
  // Whatever a source delivered must be stored, refused with a reason, asked for again or published as a gap.
  const unbalanced = (items: number): void =>
    void problems.push(`${items} delivered items are neither stored nor refused nor missing`);
  const start = (role: InstrumentRole | null = null) =>
    startStation(settings, { ...clock, folder, resolveTxt: resolvesHandles(sim), role, unbalanced });
  const station = await start();
  const { start: startedUs } = await wholeSpan(station.store);
  const run: Run = { sim, clock, start, station, standby: null, course: courseFrom(startedUs, standby), problems };
  if (standby) run.standby = await startStandby(folder, clock.wall, start);
  try {
    await readFromTheStart(run);
    await interrupt(run);
    await outage(run);
    await passTwoDays(run);
    return await outcome(run);
  } finally {
    await run.standby?.station.stop();
    await run.station.stop();
    removeStation(run.station);
    await sim.stop();
  }
}

interface Run {
  readonly sim: Sim;
  readonly clock: MovedClock;
  readonly start: (role?: InstrumentRole) => Promise<LabelStation>;
  station: LabelStation;
  /** The current standby; null in a proof with a single instrument. */
  standby: StandbyStation | null;
  readonly course: Course;
  readonly problems: string[];
}

/** Returns the input for comparisons with the store. */
function comparedOf({ sim, station: { store }, course }: Run): Compared {
  const { startedUs } = course;
  return {
    ...{ sim, store, span: { start: startedUs, end: micros(startedUs + 10 * day) } },
    // Labels that a late labeler emitted before its discovery are accepted only at its discovery.
    acceptedUs: ({ labeler, emittedUs }) =>
      isFoundLate(sim, labeler) ? Math.max(emittedUs, course.found?.start ?? 0) : emittedUs,
  };
}

/** Returns the context of a role's events. */
function contextOf({ sim, clock, station: { store }, standby, problems }: Run): RoleContext {
  const resetsOnceRead = async (did: string): Promise<number> => {
    await readTo(clock.wall(), [did], store, problems);
    return (await store.gaps(await wholeSpan(store))).filter(
      (gap) => gap.source === did && gap.reason === 'cursor_reset',
    ).length;
  };
  return { sim, clock, resetsOnceRead: standby === null ? resetsOnceRead : null };
}

/** Waits until all labelers have been read, and then injects the faults. */
async function readFromTheStart(run: Run): Promise<void> {
  const { sim, station, clock, course, problems } = run;
  await heardOf(sim, station);
  await sourcesAre(sim, station, 'begun', problems);
  course.begun = { start: course.startedUs, end: clock.wall() };
  problems.push(...(await labelersMatch(sim, station, course, 'begun')));
  emit(sim, 6);
  for (const { labeler, role } of cast(sim)) if (role.earlier) labeler.faults.emit(role.earlier);
  await settled(run);
  const disturbedFrom = clock.wall();
  await actFaults(run);
  // Stop the traffic before the interruption: rows that an Ozone labeler replaces would be lost, and the record does
  // not show which rows they are.
  for (const { faults } of sim.labelers.list) faults.setRate(0);
  await settled(run);
  course.disturbed = { start: disturbedFrom, end: clock.wall() };
}

/**
 * Stops the instrument while labelers emit labels, and waits until the standby has taken over. Does nothing without a
 * standby.
 */
async function handOver(run: Run): Promise<void> {
  const { sim, clock, station, standby, start } = run;
  if (standby === null) return;
  await standby.ready();
  const stopped = station.stop();
  emit(sim, 2);
  await stopped;
  await standby.active;
  run.station = standby.station;
  run.standby = await startStandby(station.folder, clock.wall, start);
}

/** Interrupts the instrument while labelers emit labels: restarts it, or hands over to the standby. */
async function interrupt(run: Run): Promise<void> {
  const { sim, clock, course } = run;
  const stoppedAt = clock.wall();
  if (run.standby !== null) {
    await handOver(run);
    course.paused = { start: stoppedAt, end: clock.wall() };
    await settled(run);
    return;
  }
  await run.station.stop();
  emit(sim, 3);
  run.station = await run.start();
  course.paused = { start: stoppedAt, end: clock.wall() };
  await settled(run);
}

/**
 * Advances the clock by two days in two steps, so that no interruption is longer than the time that can be filled in.
 * In the meantime some labelers change their definitions, leave, are denied or become discoverable.
 */
async function passTwoDays(run: Run): Promise<void> {
  const { sim, clock, course, problems } = run;
  await caughtUp(run);
  clock.advance(24.5 * hour);
  const between = clock.wall();
  emit(sim, 1);
  await settled(run);
  await handOver(run);
  const { station } = run;
  await readTo(between, readable(sim), station.store, problems);
  await redefine(run, 0);
  const leftFrom = clock.wall();
  const found = cast(sim).filter(({ role }) => role.act === 'found');
  for (const { labeler, role } of cast(sim)) {
    if (role.act === 'denied') await deny(station, labeler.did, leftFrom);
    if (role.act === 'leaves' || role.act === 'found') await role.happens(labeler, contextOf(run));
    if (role.act !== 'leaves') continue;
    sim.labelers.directory.set(labeler.did, 'no_service');
    sim.labelers.announceIdentity(labeler.did);
  }
  // Change the documents in the event-loop turn in which the clock is advanced; otherwise a labeler could be discovered
  // too early.
  for (const { labeler } of found) sim.labelers.directory.set(labeler.did, 'whole');
  // The event precedes the document: the directory serves the former one once more.
  for (const { labeler } of found) sim.labelers.directory.lag(labeler.did, { requests: 1, state: 'no_service' });
  clock.advance(24.5 * hour);
  for (const { labeler } of found) sim.labelers.announceIdentity(labeler.did);
  const foundFrom = clock.wall();
  course.found = { start: foundFrom, end: foundFrom };
  for (const { labeler } of found) await sim.labelers.directory.publish(labeler.did);
  await redefine(run, 1);
  await sourcesAre(sim, station, 'after two days', problems);
  course.found = { start: foundFrom, end: clock.wall() };
  course.left = { start: leftFrom, end: clock.wall() };
  for (const { labeler, role } of all(sim)) if (!departs(role)) labeler.faults.emit(2);
  await settled(run);
  problems.push(...(await labelersMatch(sim, station, course, 'after two days')));
}

/** Publishes the next record of every labeler that changes its definitions, and waits until the records are stored. */
async function redefine({ sim, station: { store } }: Run, at: number): Promise<void> {
  for (const { labeler, role } of cast(sim)) {
    const record = role.records?.[at];
    if (record === undefined) continue;
    const { length } = await store.definitions(labeler.did);
    sim.labelers.redefine(labeler.did, record);
    const isStored = async (): Promise<boolean> => (await store.definitions(labeler.did)).length > length;
    await until(`record ${at + 1} of ${role.name} is stored`, isStored, 90_000);
  }
}

/** Denies a labeler as the operator's command does. */
async function deny({ folder }: LabelStation, did: string, at: Micros): Promise<void> {
  const since = formatMicros(at);
  await changeDenyFile(folder, (list) => list.with({ target: { kind: 'did', did }, reason: null, since, purge: null }));
}

/** Compares the store with the record, and returns the result. */
async function outcome(run: Run): Promise<Proof> {
  const { sim, station, problems, course } = run;
  const compared = comparedOf(run);
  const gaps = await station.store.gaps(compared.span);
  const { accepted, refused } = served(compared);
  problems.push(...(await differences(compared)), ...(await skippedMatch(refused, station)));
  problems.push(...gapDifferences(sim, gaps, course));
  problems.push(...hiddenLosses(compared, gaps, (did) => isReadable(sim, did)));
  const fired = firedIn(sim);
  for (const name of [...labelerFaultNames, ...oddKinds, ...ailments, ...documentFaults, ...relayFaults])
    if (name !== 'none' && !fired[name]) problems.push(`${name} never took effect`);
  const { sources } = (await station.overview()).coverage;
  return { accepted, refused, gaps: gaps.length, sources: { ...sources }, fired, problems };
}

/**
 * Waits until all labelers are discovered. Labelers in neither the seeds nor a relay can only be discovered on the
 * Jetstream, so they repeat their announcement.
 */
async function heardOf(sim: Sim, { store }: LabelStation): Promise<void> {
  const unlisted = sim.labelers.list.filter(
    ({ did, profile }) => !profile.seeded && profile.relays.length === 0 && !isFoundLate(sim, did),
  );
  await until(
    'all labelers are discovered',
    async () => {
      const known = new Set((await store.roster()).map(({ did }) => did));
      const unheard = unlisted.filter(({ did }) => !known.has(did));
      // Each announcement takes the place of an event, so more of them would delay all later announcements.
      if (!sim.labelers.isAnnouncing) for (const { did } of unheard) sim.labelers.declare(did, 'update');
      return unheard.length === 0;
    },
    90_000,
  );
}

async function actFaults(run: Run): Promise<void> {
  const { sim } = run;
  // First run the roles that wait for the instrument: after the other faults, new labels must follow immediately.
  for (const act of ['waits', 'faults'] as const) {
    for (const { labeler, role } of cast(sim)) if (role.act === act) await role.happens(labeler, contextOf(run));
  }
  emit(sim, 4);
  await handOver(run);
  await settled(run);
  for (const { labeler } of cast(sim)) labeler.faults.resume();
  emit(sim, 2);
}

/** Makes some labelers unreachable for 20 minutes. Meanwhile they continue to emit labels. */
async function outage(run: Run): Promise<void> {
  const { sim, station, clock, course, problems } = run;
  const from = clock.wall();
  const away = cast(sim).filter(({ role }) => role.act === 'outage');
  for (const { labeler, role } of away) await role.happens(labeler, contextOf(run));
  await sourcesAre(sim, station, 'away', problems);
  // Wait until the overview mentions these labelers: an attempt to read each of them has failed.
  const missed = expectedSources(sim, 'away').probing ?? 0;
  const said = async (): Promise<boolean> =>
    (await station.overview()).caveats.some(
      (caveat) => caveat.startsWith(`${missed} of `) && caveat.includes('at the moment'),
    );
  await until('all unreachable sources are counted', said, 90_000).catch(() =>
    problems.push(`the overview does not count the ${missed} unreachable sources`),
  );
  course.outage = { start: from, end: clock.wall() };
  clock.advance(20 * minute);
  emit(sim, 2);
  await sourcesAre(sim, station, 'after 20 minutes', problems);
  problems.push(...(await labelersMatch(sim, station, course, 'after 20 minutes')));
  await handOver(run);
  // Check the gap of the outage now, because it is withdrawn once the missing labels have been read.
  const gaps = await run.station.store.gaps(await wholeSpan(run.station.store));
  for (const { labeler, role } of away) {
    const own = gaps.filter(({ source }) => source === labeler.did).map(({ reason }) => reason);
    if (own.join() !== 'source_unavailable')
      problems.push(`the gaps of ${role.name} are [${own.join()}], not [source_unavailable]`);
  }
  for (const { labeler } of away) await labeler.faults.revive();
  course.outage = null;
  emit(sim, 2);
  await settled(run);
}

/** Returns all labelers, each with its role. */
function all({ labelers: { list } }: Sim): { readonly labeler: Labeler; readonly role: Role | null }[] {
  return list.map((labeler) => ({ labeler, role: roleAt(labeler.profile.index, list.length) }));
}

/** Makes every labeler emit additional labels. */
function emit(sim: Sim, count: number): void {
  for (const { faults } of sim.labelers.list) faults.emit(count);
}

/**
 * Waits until all readable labels have been served and all served labels are stored. Missing labels are reported later.
 */
async function settled(run: Run): Promise<void> {
  const { sim, course, clock } = run;
  const edges = sim.labelers.list
    .filter(({ did }) => isReadable(sim, did))
    .map((labeler) => ({ labeler, edge: labeler.edge }));
  const given = (): boolean =>
    edges.every(
      ({ labeler, edge }) => labeler.served.has(edge) || labeler.log.replaced(edge, labeler.edge) || !labeler.listening,
    );
  await until('all labels were served', given, 60_000).catch(() => undefined);
  await until('all labels are stored', actionsCheck(comparedOf(run)), 120_000).catch(() => undefined);
  course.settledUs.push(clock.wall());
}

/** Returns the labelers that can be read. */
function readable(sim: Sim): string[] {
  return sim.labelers.list.map(({ did }) => did).filter((did) => isReadable(sim, did));
}

/**
 * Waits until the sources have been read up to `at`. Stored rows do not prove this: only a new label, or some
 * time without one, shows that a reopened stream has sent everything.
 */
async function readTo(at: Micros, sources: readonly string[], store: StoreReader, problems: string[]): Promise<void> {
  let behind = sources;
  await until(
    'all sources are read',
    async () => {
      const through = new Map(
        (await store.roster()).map((row) => [row.did, labelerFromRow(row, null).tracker.unreadSince] as const),
      );
      behind = sources.filter((did) => (through.get(did) ?? 0) < at);
      return behind.length === 0;
    },
    90_000,
  ).catch(() => problems.push(`sources were not read to the end: ${behind.join(' ')}`));
}

/**
 * Waits until every readable source has been read up to now, so that advancing the clock does not prolong an outage.
 */
async function caughtUp({ clock, sim, station, problems }: Run): Promise<void> {
  await readTo(clock.wall(), readable(sim), station.store, problems);
}

function isReadable(sim: Sim, did: string): boolean {
  const labeler = sim.labelers.of(did);
  const role = roleAt(labeler.profile.index, sim.labelers.list.length);
  // Include labelers that are removed or denied: they are readable until then, and emit nothing afterwards.
  if (departs(role)) return true;
  return role?.act !== 'found' && stateOf(labeler, role, 'after two days') === 'established';
}

function isFoundLate(sim: Sim, did: string): boolean {
  const { list } = sim.labelers;
  return roleAt(sim.labelers.of(did).profile.index, list.length)?.act === 'found';
}

/** Names of the false answers of a directory, and of the failures of a relay's page. */
const documentFaults = falseAnswers.map((answer) => `document ${answer}`);
const relayFaults = ['relay down', 'relay broken_json'];

function firedIn({ labelers: { list, directory, relays } }: Sim): Record<string, number> {
  const sums: Record<string, number> = {};
  const add = (name: string, times: number): void => {
    sums[name] = (sums[name] ?? 0) + times;
  };
  for (const { faults, profile, queries } of list) {
    for (const [name, times] of faults.fired) add(name, times);
    // Count a permanent ailment only after a request, because it takes effect at the first request.
    if (profile.ailment !== 'none' && (queries > 0 || profile.ailment === 'dead')) add(profile.ailment, 1);
  }
  for (const name of ['no_document', 'tombstone', 'no_service'] as const) add(name, directory.fired.get(name) ?? 0);
  for (const answer of falseAnswers) add(`document ${answer}`, directory.fired.get(answer) ?? 0);
  for (const { fired } of relays) for (const [state, times] of fired) add(`relay ${state}`, times);
  add('directory_down', directory.fired.get('html') ?? 0);
  return sums;
}

import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { createSim, type Sim } from '../../sim/index.ts';
import { labelerFaultNames } from '../../sim/labelers/faults.ts';
import { oddKinds } from '../../sim/labelers/odd-labels.ts';
import { ailments } from '../../sim/labelers/profile.ts';
import type { Micros } from '../../src/contract/timestamp.ts';
import { labelerFromRow } from '../../src/labels/roster/known-labeler.ts';
import { readSeeds } from '../../src/labels/roster/seeds.ts';
import { sourceStates } from '../../src/labels/state/source-state.ts';
import { hour, minute } from '../../src/store/time.ts';
import { type LabelStation, quickTimings, removeStation, startStation } from '../labels/label-station.ts';
import { until } from '../process/until.ts';
import { cast, expectedSources, type Moment, minLabelers, roleAt, shapeOf, stateOf } from './cast.ts';
import { movedClock } from './clock.ts';
import { type Compared, differences, hiddenLosses, sameActions, served, wholeSpan } from './compare.ts';
import { gapDifferences } from './gaps.ts';

/** Result of the comparison of an instrument with a network's record. */
export interface Proof {
  readonly accepted: number;
  readonly refused: Readonly<Record<string, number>>;
  readonly gaps: number;
  readonly sources: Readonly<Record<string, number>>;
  /** Number of times that each fault and ailment of labelers took effect. */
  readonly fired: Readonly<Record<string, number>>;
  /** Problems that the proof detected. */
  readonly problems: readonly string[];
}

/**
 * Runs an instrument over a simulated network from the network's first label on, with every fault, a restart, an outage
 * of 20 minutes, and labelers that are discovered two days later. Then compares stored labels, refusals and gaps with
 * the record.
 */
export async function proveTruth({
  seed,
  labelers = minLabelers,
}: {
  seed: number;
  labelers?: number;
}): Promise<Proof> {
  const clock = movedClock();
  const sim = createSim({
    ...{ seed, labelers, labelRate: 15, population: 'troubled', shapeLabeler: shapeOf(labelers) },
    ...{ rate: 2, historyHours: 0, clock: clock.sim },
  });
  const { seeds, plc, relays, jetstream } = await sim.start();
  // Use short timeouts, because hanging labelers must not occupy every connection permanently.
  const timings = { ...quickTimings, requestMs: 2_000, maxRetryMs: Math.max(6_000, 40 * labelers) };
  const settings = { timings, seeds: await readSeeds(seeds ?? ''), plc: plc ?? '', relays, jetstream };
  // Keep the store in memory if possible, because the kill tests cover durability and a slow disk would only delay this
  // test.
  const folder = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'almanac-truth-'));
  let station = await startStation(settings, { ...clock, folder });
  try {
    const foundAt = { us: 0 };
    const span = await wholeSpan(station.store);
    const compared = (): Compared => ({
      ...{ sim, store: station.store, span },
      // Labels from before the discovery of their labeler are accepted at the discovery.
      acceptedUs: ({ labeler, emittedUs }) => (isFoundLate(sim, labeler) ? Math.max(emittedUs, foundAt.us) : emittedUs),
    });
    const problems: string[] = [];
    await heardOf(sim, station);
    await sourcesAre(sim, station, 'begun', problems);
    emit(sim, 6);
    await settled(compared);
    await actFaults(sim, compared);
    // Stop emissions during the interruption: rows that an Ozone replaces would be lost, and the record does not state
    // which.
    for (const { faults } of sim.labelers.list) faults.setRate(0);
    await settled(compared);
    await station.stop();
    emit(sim, 3);
    station = await startStation(settings, { ...clock, folder });
    await settled(compared);

    await outage(sim, station, clock.advance, problems);
    emit(sim, 2);
    await settled(compared);

    // Advance the clock in two steps, so that no interruption exceeds the maximum that can be filled in.
    clock.advance(24.5 * hour);
    const between = clock.wall();
    emit(sim, 1);
    await settled(compared);
    await readTo(between, sim, station, problems);
    for (const { labeler, role } of cast(sim)) {
      if (role.act !== 'found') continue;
      await role.happens(labeler);
      sim.labelers.directory.set(labeler.did, 'whole');
      sim.labelers.announceIdentity(labeler.did);
    }
    clock.advance(24.5 * hour);
    foundAt.us = clock.wall();
    await sourcesAre(sim, station, 'after two days', problems);
    emit(sim, 2);
    await settled(compared);

    const gaps = await station.store.gaps(span);
    problems.push(...(await differences(compared())));
    problems.push(...gapDifferences(sim, gaps, 1));
    problems.push(...hiddenLosses(compared(), gaps, (did) => isReadable(sim, did)));
    const fired = firedIn(sim);
    for (const name of [...labelerFaultNames, ...oddKinds, ...ailments])
      if (name !== 'none' && !fired[name]) problems.push(`${name} never took effect`);
    const { accepted, refused } = served(compared());
    const { sources } = (await station.overview()).coverage;
    return { accepted, refused, gaps: gaps.length, sources: { ...sources }, fired, problems };
  } finally {
    await station.stop();
    removeStation(station);
    await sim.stop();
  }
}

/**
 * Waits until all labelers are discovered. Labelers that neither seeds nor relays list are discovered only by the
 * Jetstream, so they repeat their announcement.
 */
async function heardOf(sim: Sim, { store }: LabelStation): Promise<void> {
  const unlisted = sim.labelers.list.filter(
    ({ did, profile }) => !profile.seeded && profile.relays.length === 0 && !isFoundLate(sim, did),
  );
  await until(
    'all are heard of',
    async () => {
      const known = new Set((await store.roster()).map(({ did }) => did));
      const unheard = unlisted.filter(({ did }) => !known.has(did));
      for (const { did } of unheard) sim.labelers.declare(did, 'update');
      return unheard.length === 0;
    },
    90_000,
  );
}

async function actFaults(sim: Sim, compared: () => Compared): Promise<void> {
  for (const { labeler, role } of cast(sim)) {
    if (role.act !== 'faults') continue;
    await role.happens(labeler);
  }
  emit(sim, 4);
  await settled(compared);
  for (const { labeler } of cast(sim)) labeler.faults.resume();
  emit(sim, 2);
}

/** Makes some labelers unreachable for 20 minutes, during which they create labels. */
async function outage(
  sim: Sim,
  station: LabelStation,
  advance: (us: number) => void,
  problems: string[],
): Promise<void> {
  const away = cast(sim).filter(({ role }) => role.act === 'outage');
  for (const { labeler, role } of away) await role.happens(labeler);
  await sourcesAre(sim, station, 'away', problems);
  // Each labeler has failed once, so the overview now counts it among the missed sources.
  const missed = expectedSources(sim, 'away').probing ?? 0;
  const said = async (): Promise<boolean> =>
    (await station.overview()).caveats.some(
      (caveat) => caveat.startsWith(`${missed} of `) && caveat.includes('at the moment'),
    );
  await until('all unreachable sources are counted', said, 90_000).catch(() =>
    problems.push(`${missed} sources are not late`),
  );
  advance(20 * minute);
  emit(sim, 2);
  await sourcesAre(sim, station, 'after 20 minutes', problems);
  // Expect no gap: the gap of the outage is withdrawn after the missing labels were read.
  const gaps = await station.store.gaps(await wholeSpan(station.store));
  for (const { labeler, role } of away) {
    const own = gaps.filter(({ source }) => source === labeler.did).map(({ reason }) => reason);
    if (own.join() !== 'source_unavailable') problems.push(`gaps of ${role.name} during the outage: ${own.join()}`);
  }
  for (const { labeler } of away) await labeler.faults.revive();
}

/** Emits labels of every labeler, in addition to the regular ones. */
function emit(sim: Sim, count: number): void {
  for (const { faults } of sim.labelers.list) faults.emit(count);
}

/** Waits until all readable labels were served and all served labels are stored. Missing labels are reported later. */
async function settled(compared: () => Compared): Promise<void> {
  const { sim } = compared();
  const edges = sim.labelers.list
    .filter(({ did }) => isReadable(sim, did))
    .map((labeler) => ({ labeler, edge: labeler.edge }));
  const given = (): boolean =>
    edges.every(
      ({ labeler, edge }) => labeler.served.has(edge) || labeler.log.replaced(edge, labeler.edge) || !labeler.listening,
    );
  await until('all labels were served', given, 60_000).catch(() => undefined);
  await until('all labels are stored', () => sameActions(compared()), 120_000).catch(() => undefined);
}

/**
 * Waits until every readable source was read up to an instant. Stored rows do not prove that, because only a new label,
 * or some time without one, shows that a reopened stream has sent everything.
 */
async function readTo(at: Micros, sim: Sim, { store }: LabelStation, problems: string[]): Promise<void> {
  const readable = sim.labelers.list.map(({ did }) => did).filter((did) => isReadable(sim, did));
  let behind: readonly string[] = readable;
  await until(
    'all are read',
    async () => {
      const through = new Map(
        (await store.roster()).map((row) => [row.did, labelerFromRow(row, null).tracker.unreadSince] as const),
      );
      behind = readable.filter((did) => (through.get(did) ?? 0) < at);
      return behind.length === 0;
    },
    90_000,
  ).catch(() => problems.push(`sources were not read to the end: ${behind.join(' ')}`));
}

const named: ReadonlySet<string> = new Set(['enrolled', ...sourceStates]);

async function sourcesAre(sim: Sim, station: LabelStation, moment: Moment, problems: string[]): Promise<void> {
  const wanted = expectedSources(sim, moment);
  let got: Record<string, number> = {};
  const same = async (): Promise<boolean> => {
    const { coverage } = await station.overview();
    const counts: Readonly<Record<string, number | null | undefined>> = coverage.sources;
    got = Object.fromEntries(
      Object.entries(counts).flatMap(([name, count]) => (named.has(name) && count ? [[name, count]] : [])),
    );
    return isDeepStrictEqual({ ...wanted }, { ...got });
  };
  try {
    await until('all sources have the required states', same, 90_000);
  } catch {
    problems.push(
      `sources ${moment}: ${JSON.stringify(wanted)} expected, ${JSON.stringify(got)} counted; ${await others(sim, station, moment)}`,
    );
  }
  const { sources } = (await station.overview()).coverage;
  const { enrolled, seeded, discovered } = sources;
  const sum = sourceStates.reduce((all, state) => all + (sources[state] ?? 0), 0);
  if (sum !== enrolled || (seeded ?? 0) + (discovered ?? 0) !== enrolled)
    problems.push(`sources ${moment} do not add up to ${enrolled}`);
}

/** Returns the sources that do not have the required state. */
async function others(sim: Sim, { store }: LabelStation, moment: Moment): Promise<string> {
  const { list } = sim.labelers;
  const rows = new Map((await store.roster()).map((row) => [row.did, row]));
  return list
    .map((labeler) => {
      const role = roleAt(labeler.profile.index, list.length);
      const row = rows.get(labeler.did);
      const [wanted, got] = [stateOf(labeler, role, moment), row?.enrolled ? row.state : null];
      return wanted === got ? '' : `${labeler.did} (${role?.name ?? labeler.profile.ailment}): ${wanted}, is ${got}`;
    })
    .filter((text) => text !== '')
    .join('; ');
}

function isReadable(sim: Sim, did: string): boolean {
  const labeler = sim.labelers.of(did);
  const role = roleAt(labeler.profile.index, sim.labelers.list.length);
  return role?.act !== 'found' && stateOf(labeler, role, 'after two days') === 'established';
}

function isFoundLate(sim: Sim, did: string): boolean {
  const { list } = sim.labelers;
  return roleAt(sim.labelers.of(did).profile.index, list.length)?.act === 'found';
}

function firedIn({ labelers: { list, directory } }: Sim): Record<string, number> {
  const sums: Record<string, number> = {};
  const add = (name: string, times: number): void => {
    sums[name] = (sums[name] ?? 0) + times;
  };
  for (const { faults, profile, queries } of list) {
    for (const [name, times] of faults.fired) add(name, times);
    // Exclude permanent ailments until the first request, at which they take effect.
    if (profile.ailment !== 'none' && (queries > 0 || profile.ailment === 'dead')) add(profile.ailment, 1);
  }
  for (const name of ['no_document', 'tombstone', 'no_service'] as const) add(name, directory.fired.get(name) ?? 0);
  add('directory_down', directory.fired.get('html') ?? 0);
  return sums;
}

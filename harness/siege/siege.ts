import { paths } from '../../src/contract/identifiers.ts';
import { type LabelersSet, readLabelersSet } from '../truth/labelers/read-set.ts';
import { areAllCounted, areStored, type HonestRows, judgeRows, type Spans } from './honest.ts';
import { establishedOf, publishedProblems, readOverview, undeservedGaps } from './judge-state.ts';
import { maxRssMegabytes, type ReadPage, type SiegeOptions, type SiegeReport } from './options.ts';
import { bytesUnder } from './samples.ts';
import { comesToHold, pause, reading, rosterOf, startWatch, type Watch } from './watch.ts';
import { buildWorld, type World } from './world.ts';

/** Duration of the phase before an attack, which serves as a comparison, in milliseconds. */
const beforeMs = 10_000;
/** Maximum time from the last emitted label until all labels must be stored, in milliseconds. */
const settleMs = 60_000;
/** Maximum age of a label from a recovered source that need not be stored yet, in milliseconds. */
const recentMs = 15_000;

/**
 * Runs the real label instrument within the limits of its unit against hostile and honest labelers, and returns the
 * results with all problems.
 */
export async function runSiege(options: SiegeOptions): Promise<SiegeReport> {
  const world = await buildWorld(options);
  try {
    return await besiege(world, options);
  } finally {
    await world.clear();
  }
}

async function besiege(world: World, options: SiegeOptions): Promise<SiegeReport> {
  const { honest, instrument, store } = world;
  const { onProgress } = options;
  const problems: string[] = [];
  await instrument.start();
  const factsUrl = await world.serveFacts();
  const watch = startWatch(world, factsUrl, options.csv);
  try {
    onProgress(
      `${honest.size} honest labelers, ${options.hostile} hostile ones of ${world.kinds.length} kinds; ` +
        `memory limited by ${instrument.memory}, ${world.names ? 'with' : 'without'} a name server`,
    );
    const areEstablished = async (): Promise<boolean> =>
      establishedOf(await rosterOf(store), honest).size === honest.size;
    if (!(await comesToHold(areEstablished, 180_000)))
      problems.push('some honest labelers were not established before the attack');
    await pause(beforeMs);
    const attackFromMs = Date.now();
    await attack(world, options, watch);
    const attackToMs = Date.now();
    const { met, floodBytes } = await world.attackers.report();
    watch.phase = 'after';
    const isAsBefore = async (): Promise<boolean> =>
      (await areEstablished()) && (await recentAreStored(world, attackToMs));
    const recovered = await comesToHold(isAsBefore, options.recoverySeconds * 1000);
    const recoveredAfterSeconds = recovered ? (Date.now() - attackToMs) / 1000 : null;
    if (!recovered)
      problems.push(`the instrument did not recover within ${options.recoverySeconds} s after the attack`);
    onProgress('judging');
    const rows = await settledRows(world, { attackFromMs, attackToMs, downtimes: instrument.downtimes });
    problems.push(...(await stateProblems(world)));
    watch.phase = 'end';
    await instrument.stop();
    await watch.stop();
    problems.push(...(await publicationProblems(factsUrl, world.artifacts, options.readPage)));
    const diskMegabytes = Math.max(bytesUnder(store) / 1e6, watch.samples.maxDisk);
    problems.push(...rowProblems(rows), ...runProblems(world, watch, met), ...diskProblems(diskMegabytes, options));
    return {
      ...{ problems, rows, diskMegabytes, met, recoveredAfterSeconds },
      undeserved: watch.states.undeserved,
      crashes: instrument.crashes,
      stops: instrument.stops,
      memory: instrument.memory,
      names: world.names,
      maxRssMegabytes: watch.samples.maxRss,
      rssSlope: watch.samples.slope('attack'),
      maxStallSeconds: watch.samples.maxStall,
      cpuShare: watch.samples.cpuShare('attack'),
      floodMegabytes: floodBytes / 1e6,
      factsStatuses: watch.statuses,
    };
  } finally {
    await watch.stop();
  }
}

/** Runs the attack with its restarts. Late labelers become hostile halfway through the first part. */
async function attack(world: World, options: SiegeOptions, watch: Watch): Promise<void> {
  const { instrument } = world;
  const { seconds, restarts, onProgress } = options;
  onProgress('the attack begins');
  watch.phase = 'attack';
  await world.attack();
  const partMs = (seconds * 1000) / (restarts + 1);
  for (let part = 0; part <= restarts && !instrument.givenUp; part += 1) {
    await pause(part === 0 ? partMs / 2 : partMs);
    if (part === 0) {
      await world.turn();
      await pause(partMs / 2);
    }
    if (part === restarts || instrument.givenUp) break;
    await instrument.stop();
    onProgress(`restart ${part + 1}: stopped after ${instrument.stops.at(-1)?.tookMs} ms`);
    await instrument.start();
  }
  await world.end();
  onProgress('the attack has ended');
}

/**
 * Returns true if the store contains all labels that honest labelers emitted after the attack and between 45 s and 15 s
 * ago. Returns false within 15 s after the attack, or if the store cannot be opened.
 */
async function recentAreStored({ sim, store }: World, attackToMs: number): Promise<boolean> {
  const toMs = Date.now() - recentMs;
  const fromMs = Math.max(attackToMs, toMs - 2 * recentMs);
  if (fromMs >= toMs) return false;
  return (await reading(store, (reader) => areStored(sim, reader, fromMs * 1000, toMs * 1000))) ?? false;
}

/**
 * Stops the honest traffic, waits at most a minute until all labels are stored, and compares the rows with the
 * network's record. Throws if the store cannot be opened.
 */
async function settledRows({ sim, store }: World, spans: Spans): Promise<HonestRows> {
  for (const { faults } of sim.labelers.list) faults.setRate(0);
  const areCounted = async (): Promise<boolean> =>
    (await reading(store, (reader) => areAllCounted(sim, reader))) ?? false;
  await comesToHold(areCounted, settleMs);
  const rows = await reading(store, (reader) => judgeRows(sim, reader, spans));
  if (rows === null) throw new Error('the store cannot be opened');
  return rows;
}

/** Returns the errors in the published artifacts and the unexplained gaps. */
async function stateProblems({ artifacts, sim, honest, instrument, store }: World): Promise<string[]> {
  let published: LabelersSet | null = null;
  const arePublished = async (): Promise<boolean> => {
    published = await readLabelersSet(artifacts);
    return published !== null;
  };
  // Retry while the artifact files differ in their generation time: they are replaced one after another.
  if (!(await comesToHold(arePublished, 10_000)) || published === null)
    return ['the artifacts never had the same generation time'];
  const set: LabelersSet = published;
  const found = await reading(store, async (reader) => [
    ...(await publishedProblems(reader, set, honest)),
    ...(await undeservedGaps(reader, sim, instrument.downtimes)),
  ]);
  return found ?? ['the store cannot be opened'];
}

function rowProblems({ lost, surplus, losers }: HonestRows): string[] {
  const problems: string[] = [];
  if (lost > 0) problems.push(`${lost} honest labels are lost: ${losers.join(', ')}`);
  if (surplus > 0) problems.push(`${surplus} rows of honest labelers are stored twice or were never sent`);
  return problems;
}

function runProblems({ instrument, kinds }: World, watch: Watch, met: SiegeReport['met']): string[] {
  const problems = instrument.crashes.map(({ code, said }) => `the instrument exited by itself with ${code}: ${said}`);
  for (const { code, tookMs } of instrument.stops) {
    if (code !== 0) problems.push(`the instrument exited with ${code} after ${tookMs} ms`);
  }
  const states = new Map<string, number>();
  for (const { state } of watch.states.undeserved) states.set(state, (states.get(state) ?? 0) + 1);
  for (const [state, count] of states) problems.push(`${count} honest sources were ${state}`);
  const rss = watch.samples.maxRss;
  if (rss > maxRssMegabytes)
    problems.push(`the instrument used ${rss.toFixed(0)} MB, but the limit is ${maxRssMegabytes} MB`);
  const refused = Object.entries(watch.statuses).filter(([status]) => status !== '200');
  for (const [status, count] of refused) problems.push(`the overview returned status ${status} ${count} times`);
  // Every kind must have received a request; otherwise its attack was not tested. The exceptions are kinds without a
  // listener, and did:web labelers, whose documents are possibly still unread.
  for (const { name, elsewhere, identity } of kinds) {
    if (elsewhere === undefined && identity !== 'web' && Object.values(met[name] ?? {}).every((count) => count === 0))
      problems.push(`labelers of the kind ${name} received no request`);
  }
  return problems;
}

function diskProblems(megabytes: number, { diskBudgetMegabytes }: SiegeOptions): string[] {
  return megabytes <= diskBudgetMegabytes
    ? []
    : [`the store took ${megabytes.toFixed(0)} MB, but the budget is ${diskBudgetMegabytes} MB`];
}

/**
 * Time within which the page and the facts must agree, in milliseconds. Representations change once per minute, so two
 * concurrent requests may return different ones.
 */
const patienceMs = 10_000;

/** Returns the differences between the served overview and the artifact, and between the page and the facts. */
async function publicationProblems(factsUrl: string, artifacts: string, readPage: ReadPage | null): Promise<string[]> {
  let problems: string[] = [];
  await comesToHold(async () => {
    problems = await look(factsUrl, artifacts, readPage);
    return problems.length === 0;
  }, patienceMs);
  return problems;
}

async function look(factsUrl: string, artifacts: string, readPage: ReadPage | null): Promise<string[]> {
  const get = async (path: string): Promise<string> => (await fetch(`${factsUrl}${path}`)).text();
  const documents = {
    labels: JSON.parse(await get(paths.labelsOverview)) as { facts?: { counts?: unknown }; generated_at?: unknown },
    conditions: JSON.parse(await get(paths.weatherConditions)) as unknown,
    metrics: JSON.parse(await get(paths.weatherMetrics)) as unknown,
  };
  const artifact = await readOverview(artifacts);
  const { labels } = documents;
  const problems = readPage === null ? [] : readPage(await get('/'), documents).map((fault) => `the page: ${fault}`);
  if (labels.generated_at !== artifact?.generated_at) problems.push('the facts are derived from another artifact');
  else if (JSON.stringify(labels.facts?.counts) !== JSON.stringify(artifact?.counts))
    problems.push('the counts in the facts differ from those in the artifact');
  return problems;
}

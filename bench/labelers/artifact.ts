/**
 * Measures writing the labelers artifact, the overview and the hours file once a minute: `node
 * bench/labelers/artifact.ts [--labelers 700] [--rows 4] [--values 10]`.
 *
 * A real store holds 31 days with `--rows` rows of each labeler a day, gaps, and definitions of `--values` values.
 * Prints the processor time of the first and of later publications, and the longest turn of the event loop for each
 * part. A new publisher of hours first reads the file that an earlier process wrote.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { temporaryFolder } from '../../harness/process/at-exit.ts';
import { longestTurn } from '../../harness/process/longest-turn.ts';
import { rosterRow } from '../../harness/store/roster-row.ts';
import { HoursPublisher } from '../../src/labels/publish/hours/labels-hours.ts';
import { DefinitionCache } from '../../src/labels/publish/labelers/definition-cache.ts';
import { listLabelers, makeLabelers, writeLabelersFiles } from '../../src/labels/publish/labelers/labelers-artifact.ts';
import { makeOverview } from '../../src/labels/publish/overview.ts';
import { WindowReader } from '../../src/labels/publish/window/window-reader.ts';
import { labelerFromRow } from '../../src/labels/roster/known-labeler.ts';
import type { NewObservation } from '../../src/store/port.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { day, hour, micros, minute, second } from '../../src/store/time.ts';
import { accountDid, randomOf } from '../store-traffic.ts';

const { values } = parseArgs({
  options: {
    labelers: { type: 'string', default: '700' },
    rows: { type: 'string', default: '4' },
    values: { type: 'string', default: '10' },
  },
});
const count = Number(values.labelers);
const perDay = Number(values.rows);
const { folder, remove } = temporaryFolder('bench');
const start = 20_000 * day;
let now = start;
const random = randomOf(1);
const dids = Array.from({ length: count }, (_, i) => accountDid(8_000_000 + i));
const names = Array.from(
  { length: Number(values.values) },
  (_, i) => `value-${'abcdefghijklmnopqrstuvwxyz'.slice(0, i + 1)}`,
);

const noSources = {
  ...{ enrolled: count, unstarted: 0, probing: 0, refused: 0, established: count, cursor_order_unverified: 0 },
  ...{ undated_only: 0, provider_rejects: 0, unavailable: 0 },
};

try {
  const store = openSqliteWriter({ folder, at: micros(start) });
  const batches = Math.ceil((count * perDay * 31) / 2_000);
  for (let batch = 0; batch < batches; batch += 1) {
    now = start + Math.floor((batch / batches) * 31 * day);
    const observations = Array.from({ length: 2_000 }, (_, i): NewObservation => {
      const label = {
        src: dids[random() % count] ?? '',
        uri: accountDid(random() % 1_000_000),
        val: names[i % names.length] ?? '',
        cts: new Date(now / 1000).toISOString(),
      };
      return { label, signature: 'verified', live: true };
    });
    await store.append({ at: micros(now), observations, refusals: [], positions: [] });
  }
  const definitions = {
    labelValues: names,
    labelValueDefinitions: names.map((identifier) => ({
      identifier,
      locales: [{ lang: 'en', name: identifier, description: 'Posts about spiders. '.repeat(10) }],
    })),
  };
  for (const [i, did] of dids.entries()) {
    await store.putDefinitions([{ did, seenAt: micros(now), content: JSON.stringify(definitions) }]);
    for (let gap = 0; gap < i % 20; gap += 1) {
      const at = start + ((i * 37 + gap * 31) % 700) * hour;
      await store.recordGap({ source: did, start: micros(at), end: micros(at + hour), reason: 'source_unavailable' });
    }
  }
  const labelers = dids.map((did) => {
    const times = { firstAsked: micros(start), firstAnswered: micros(start), lastAnswered: micros(now) };
    return labelerFromRow(
      rosterRow(did, { ...times, handle: { name: `${did.slice(8, 20)}.example.com`, confirmed: true } }),
      null,
    );
  });
  const reader = new WindowReader(store);
  const cache = { definitions: new DefinitionCache(store), memories: new Map() };
  const inputs = {
    ...{ origin: 'simulated' as const, labelers, waits: () => false, pauseOf: () => null, deniedSince: () => null },
    failed: () => undefined,
  };
  const sources = labelers.map(({ did, tracker: { state } }) => ({
    did,
    state,
    origin: 'seeded' as const,
    answered: true,
  }));
  const overviewInputs = {
    ...{
      windowDays: 30,
      origin: 'simulated' as const,
      departures: [],
      capped: new Map<string, never>(),
      paused: null,
      dailyRows: 1_000_000,
    },
    ...{ notEnrolled: 0, unreachable: 0, directoryOnly: 0, delayed: 0, dropped: 0, waiting: 0, denied: 0 },
  };
  /** Processor time and longest turn of each part in milliseconds. */
  const parts: Record<string, readonly [cpu: number, longestTurn: number]> = {};
  const part = async <T>(name: string, work: () => T | Promise<T>): Promise<T> => {
    const results: T[] = [];
    const before = process.threadCpuUsage();
    const longest = await longestTurn(async () => {
      await nextTurn();
      results.push(await work());
      await nextTurn();
    });
    const { user, system } = process.threadCpuUsage(before);
    parts[name] = [Math.round((user + system) / 1000), Math.round(longest * 10) / 10];
    const [result] = results;
    if (result === undefined) throw new Error(`${name} has no result`);
    return result;
  };
  let bytes = 0;
  for (let i = 0; i < 8; i += 1) {
    const reading = await part('reading', () => reader.read(micros(now), 30));
    const listing = await part('listing', () => listLabelers(reading, inputs));
    await part('overview', () => makeOverview(reading, { ...overviewInputs, now: micros(now), sources }));
    const files = await part('definitions', () => makeLabelers(listing, cache, inputs));
    bytes = await part('writing', () => writeLabelersFiles(folder, files));
    const cpu = Object.values(parts).reduce((sum, [own]) => sum + own, 0);
    const longest = Math.max(...Object.values(parts).map(([, turn]) => turn));
    console.log(`publication ${i + 1}: ${cpu} ms of CPU, longest turn ${longest} ms`, JSON.stringify(parts));
    now += minute + second;
  }
  console.log(`${bytes} bytes`);
  const options = { store, folder, origin: 'simulated' as const, clock: () => micros(now) };
  let hours = new HoursPublisher(options);
  for (let i = 0; i < 8; i += 1) {
    if (i === 4) hours = new HoursPublisher(options);
    const reading = await reader.read(micros(now), 30);
    const { all: entries } = listLabelers(reading, inputs);
    const sources = { ...noSources, at: new Date(now / 1000).toISOString() };
    const before = process.threadCpuUsage();
    const longest = await longestTurn(() => hours.publish({ reading, entries, sources }));
    const { user, system } = process.threadCpuUsage(before);
    const kind = i % 4 === 0 ? (i === 0 ? ', first' : ', in a new process') : '';
    console.log(
      `hours ${i + 1}${kind}: ${((user + system) / 1000).toFixed(0)} ms of CPU, longest turn ${longest.toFixed(1)} ms of CPU`,
    );
    now += minute + second;
  }
  await store.close();
} finally {
  remove();
}

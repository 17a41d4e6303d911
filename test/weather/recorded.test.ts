import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { productionCounts } from '../../harness/classifier/reference.ts';
import { until } from '../../harness/process/until.ts';
import { everythingKept, leaks, readStore } from '../../harness/weather/weather-kept.ts';
import { type Station, startMs, startStation } from '../../harness/weather/weather-station.ts';
import { manualClock } from '../../sim/clock.ts';
import { metricNames } from '../../src/weather/classify/metric-names.ts';

const recorded = readFileSync(join(import.meta.dirname, '..', 'fixtures', 'jetstream', 'production_v1.jsonl'), 'utf8')
  .split('\n')
  .filter((line) => line !== '');
const ending: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0)) await end();
});

/** Starts an instrument that reads frames in sequence. All frames are delivered after the instrument has connected. */
async function follow(frames: readonly string[], beginMs = startMs): Promise<Station> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-frames-'));
  ending.push(() => rmSync(folder, { recursive: true, force: true }));
  const replay = join(folder, 'frames.jsonl');
  writeFileSync(replay, `${frames.join('\n')}\n`);
  const clock = manualClock(beginMs);
  const station = await startStation({
    clock: clock.now,
    backfillHours: 0,
    sim: { replay, rate: 1, clock: clock.now },
  });
  ending.push(station.end);
  await until('the instrument is connected', () => station.told.connections.live === 1);
  clock.advance(1000 * (frames.length + 1));
  const seen = (): number => Object.values(station.told.outcomes).reduce((sum, n) => sum + n, 0);
  await until('all frames are committed', () => seen() === frames.length);
  await station.weather().publish();
  return station;
}

const timeOf = (line: string): number => (JSON.parse(line) as { time_us: number }).time_us;
/** Time of the recording, in milliseconds. It is needed because a live host sends no events of another day. */
const recordedMs = Math.max(...recorded.map(timeOf)) / 1000;

describe('the recorded events of a production host', () => {
  test('are all counted in the order of their times', async () => {
    const station = await follow(
      recorded.toSorted((a, b) => timeOf(a) - timeOf(b)),
      recordedMs,
    );
    await station.weather().stop();
    const { rows } = readStore(station.folder, station.artifact().source.endpoint);
    const sums = metricNames.map(
      (name, i) => [name, rows.reduce((sum, { counts }) => sum + (counts[i] ?? 0), 0)] as const,
    );
    expect(station.told.outcomes).toMatchObject({ counted: 152, late_or_repeat: 0, parse_error: 0, no_time_us: 0 });
    expect(Object.fromEntries(sums.filter(([, n]) => n > 0))).toEqual(productionCounts);
  });

  test('are counted in the order of the file, or reported as out of order', async () => {
    const station = await follow(recorded, recordedMs);
    expect(station.told.outcomes).toMatchObject({ counted: 152 - 77, late_or_repeat: 77 });
  });
});

describe('the stored data of a run', () => {
  const planted = {
    did: 'did:plc:plantedplantedplanted2345',
    web: 'did:web:planted-host.example',
    handle: 'planted-handle.example',
    text: 'planted-words not to be stored',
    rkey: '3plantedrkey2',
    cid: 'bafyreiplantedplantedplantedplanted',
    nsid: 'example.planted.collection',
    operation: 'planted-operation',
    kind: 'planted-kind',
    status: 'planted-status',
  };
  const at = Date.parse('2026-11-20T11:00:00Z') * 1000;
  const record = { $type: 'app.bsky.feed.post', text: planted.text, langs: ['xx'] };
  const commit = {
    rev: planted.rkey,
    operation: 'create',
    collection: 'app.bsky.feed.post',
    rkey: planted.rkey,
    record,
    cid: planted.cid,
  };
  const frames = [
    { did: planted.did, time_us: at, kind: 'commit', commit },
    { did: planted.web, time_us: at + 1, kind: 'commit', commit: { ...commit, collection: planted.nsid } },
    { did: planted.did, time_us: at + 2, kind: 'commit', commit: { ...commit, operation: planted.operation } },
    {
      did: planted.did,
      time_us: at + 3,
      kind: 'identity',
      identity: { did: planted.did, handle: planted.handle, seq: 1 },
    },
    {
      did: planted.did,
      time_us: at + 4,
      kind: 'account',
      account: { active: false, did: planted.did, status: planted.status },
    },
    { did: planted.did, time_us: at + 5, kind: planted.kind, text: planted.text },
    { did: planted.did, time_us: planted.text, kind: 'commit', commit },
    { did: planted.did, time_us: at + 7200e6, kind: 'commit', commit },
    { did: planted.did, time_us: at - 1, kind: 'commit', commit },
  ].map((frame) => JSON.stringify(frame));
  const values = Object.values(planted);

  test('contains no identity, record or text, whatever the frames contain', async () => {
    const station = await follow([...frames, `{"did":"${planted.did}","text":"${planted.text}`]);
    station.sim.faults.drop();
    await until('the instrument connects again', () => station.told.connections.live === 2);
    const running = everythingKept(station);
    await station.weather().stop();
    expect(station.told.outcomes).toMatchObject({
      counted: 6,
      no_time_us: 1,
      future: 1,
      late_or_repeat: 1,
      parse_error: 1,
    });
    expect(leaks([...running, ...everythingKept(station)], values)).toEqual([]);
  });

  test('is scanned by a function that finds each planted value', () => {
    for (const value of values) expect(leaks([{ name: value, text: `… ${value} …` }], values)).toEqual([value]);
    for (const line of recorded) expect(leaks([{ name: 'line', text: line }])).toEqual(['line']);
  });
});

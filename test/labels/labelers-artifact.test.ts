import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { labelStage } from '../../harness/labels/label-stage.ts';
import { type LabelStation, startStation } from '../../harness/labels/label-station.ts';
import { until } from '../../harness/process/until.ts';
import { createSim } from '../../sim/index.ts';
import {
  checkDefinitionsHeader,
  checkLabeler,
  checkLabelerDefinitions,
  checkLabelersHeader,
  type DefinitionsHeader,
  type LabelerDefinitionsLine,
  type LabelerLine,
  type LabelersHeader,
} from '../../src/artifact/labelers.ts';
import type { RecentOverview } from '../../src/artifact/recognise.ts';
import type { Check } from '../../src/input/schema.ts';

const stage = labelStage();
const { wall, monotonic } = stage;

interface Published {
  readonly overview: RecentOverview;
  readonly header: LabelersHeader;
  readonly labelers: readonly LabelerLine[];
  readonly textHeader: DefinitionsHeader;
  readonly definitions: readonly LabelerDefinitionsLine[];
}

function checked<T>(check: Check<T>, line: string | undefined): T {
  const result = check(JSON.parse(line ?? 'null'));
  if (!result.ok) throw new Error(`${result.pointer} ${result.why}: ${line}`);
  return result.value;
}

/** Reads the overview and both files of the labelers artifact that were generated at the same time. */
async function published(station: LabelStation): Promise<Published> {
  const lines = async (name: string): Promise<readonly string[]> =>
    (await readFile(join(station.folder, 'artifacts', name), 'utf8')).trimEnd().split('\n');
  await station.published();
  for (;;) {
    const [head, ...labelers] = await lines('labelers.ndjson');
    const [textHead, ...texts] = await lines('labeler-definitions.ndjson');
    const overview = await station.overview();
    const header = checked(checkLabelersHeader, head);
    const textHeader = checked(checkDefinitionsHeader, textHead);
    // A later publication may have replaced one of the files since the first one was read.
    const instants = new Set([header.generated_at, textHeader.generated_at, overview.generated_at]);
    if (instants.size > 1) continue;
    return {
      ...{ overview, header, textHeader },
      labelers: labelers.map((line) => checked(checkLabeler, line)),
      definitions: texts.map((line) => checked(checkLabelerDefinitions, line)),
    };
  }
}

/**
 * Reads the files of a publication during which no row was stored: the next one counts the same rows. Otherwise the counts
 * of signatures, which are read last, can include rows from after the end of the window.
 */
async function publishedAtRest(station: LabelStation): Promise<Published> {
  for (let last = await published(station); ; ) {
    const next = await published(station);
    if (next.overview.counts.events_window === last.overview.counts.events_window) return last;
    last = next;
  }
}

/** Starts an instrument that reads a network of labelers with different behaviour. */
async function observe(labelers: number) {
  const sim = createSim({ rate: 1, historyHours: 1, labelers, labelRate: 20, seed: 7 });
  stage.sim = sim;
  const { plc, relays } = await sim.start();
  if (plc === null) throw new Error('the simulated network has a directory');
  const settings = { seeds: sim.labelers.list.slice(0, 3).map(({ did }) => did), plc, relays };
  const station = await startStation(settings, { wall, monotonic });
  stage.station = station;
  return { sim, station };
}

test('the files of the labelers artifact describe the same rows as the overview generated at the same time', async () => {
  const { sim, station } = await observe(24);
  const enough = async () => (await station.overview()).counts.events_window >= 40;
  await until('enough events are counted', enough);
  for (const { faults } of sim.labelers.list) faults.setRate(0);
  const { overview, header, labelers, textHeader, definitions } = await publishedAtRest(station);
  const sum = (of: (line: LabelerLine) => number): number => labelers.reduce((total, line) => total + of(line), 0);
  expect([header.labelers, textHeader.labelers]).toEqual([labelers.length, definitions.length]);
  expect(header.generation_id).toBe(overview.acquisition.generation_id);
  expect(header.started_at).toBe(overview.acquisition.started_at);
  expect(header.days.length).toBeGreaterThanOrEqual(30);
  expect(sum(({ events }) => events.window)).toBe(overview.counts.events_window);
  expect(sum(({ events }) => events.week)).toBe(overview.counts.events_7d);
  expect(sum(({ events }) => events.day)).toBe(overview.counts.events_24h);
  for (const { did, events, days, signatures } of labelers) {
    const counted = days.reduce((total, [applied, removed]) => total + (applied ?? 0) + (removed ?? 0), 0);
    expect(counted, did).toBe(events.window);
    const verdicts = Object.values(signatures ?? {}).reduce((total, count) => total + count, 0);
    expect(verdicts, did).toBe(events.window);
  }
  const states = Map.groupBy(
    labelers.filter(({ enrolled }) => enrolled),
    ({ state }) => state,
  );
  const { sources } = overview.coverage;
  expect([...states.values()].flat()).toHaveLength(sources.enrolled);
  for (const [state, own] of states) expect(sources[state as keyof typeof sources], state).toBe(own.length);
  expect(labelers.map(({ did }) => did)).toEqual(labelers.map(({ did }) => did).toSorted());
  for (const { did, days, first_answered: answered } of labelers) {
    expect(
      days.slice(0, -2).every(([applied, , share]) => applied === null && share === 0),
      did,
    ).toBe(true);
    if (answered === null)
      expect(
        days.every(([applied]) => applied === null),
        did,
      ).toBe(true);
  }
});

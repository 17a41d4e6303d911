import { expect, test } from 'vitest';
import { windowStore } from '../../../../harness/labels/window-store.ts';
import { rosterRow } from '../../../../harness/store/roster-row.ts';
import type { LabelerLine } from '../../../artifact/labelers.ts';
import type { LabelerCounters } from '../../../store/counts.ts';
import { day, micros } from '../../../store/time.ts';
import { labelerFromRow } from '../../roster/known-labeler.ts';
import { WindowReader } from '../window/window-reader.ts';
import { DefinitionCache } from './definition-cache.ts';
import { listLabelers, makeLabelers } from './labelers-artifact.ts';

/** Tests of the lines of labelers whose definitions are stored, but could not be read yet. */

const now = micros(20_040 * day);
const [first, second] = ['did:plc:ar7c4by46qjdydhdevvrndac', 'did:plc:22222222222222222222zzzz'];

const labelers = [first, second].map((did, i) => {
  const answered = micros(now - (35 - i) * day);
  const times = { firstAsked: answered, firstAnswered: answered, lastAnswered: now, completeThrough: now };
  return labelerFromRow(rosterRow(did, times), null);
});

function countersOf(labeler: string): LabelerCounters {
  const verdicts = { verified: 27, verified_earlier_key: 0, invalid: 0, unsigned: 0, unverified: 0 };
  const values = [
    { value: 'spam', applied: 20, removed: 0 },
    { value: 'rude', applied: 7, removed: 0 },
  ];
  return { labeler, verdicts, values, others: { applied: 0, removed: 0 }, delays: [] };
}

type Values = Pick<LabelerLine, 'values' | 'values_omitted' | 'undeclared'>;

/** Publishes repeatedly with one cache, and returns for each publication what the lines state about values. */
async function publications(
  count: number,
  definitions: ConstructorParameters<typeof DefinitionCache>[0]['definitions'],
  monotonic: () => number,
): Promise<Record<string, Values>[]> {
  const content = {
    startedAt: now - 40 * day,
    rows: [],
    counters: { since: micros(now - 40 * day), labelers: [first, second].map(countersOf) },
  };
  const cache = { definitions: new DefinitionCache({ definitions }), memories: new Map() };
  const inputs = {
    ...{ origin: 'simulated' as const, labelers, waits: () => false, pauseOf: () => null, deniedSince: () => null },
    ...{ failed: () => undefined, monotonic },
  };
  const published: Record<string, Values>[] = [];
  for (let i = 0; i < count; i += 1) {
    const reading = await new WindowReader(windowStore(() => content)).read(now, 30);
    const files = await makeLabelers(listLabelers(reading, inputs), cache, inputs);
    const texts: string[] = [];
    for await (const text of files.labelers) texts.push(text);
    const lines = texts.slice(1).map((text) => JSON.parse(text) as LabelerLine);
    published.push(
      Object.fromEntries(
        lines.map(({ did, values, values_omitted, undeclared }) => [did, { values, values_omitted, undeclared }]),
      ),
    );
  }
  return published;
}

const revision = { seenAt: micros(now - 10 * day), content: JSON.stringify({ labelValues: ['spam'] }) };
const known: Values = {
  values: [{ value: 'spam', events: 20, first_defined: '2024-11-03', last_defined: null }],
  values_omitted: 0,
  undeclared: 7,
};
const unknown: Values = { values: [], values_omitted: 0, undeclared: null };

test('the events of a labeler whose definitions were not read in time are not counted as undeclared', async () => {
  let milliseconds = 0;
  const definitions = async (did: string) => {
    milliseconds += 7_000;
    return [{ ...revision, did }];
  };
  expect(await publications(2, definitions, () => milliseconds)).toEqual([
    { [first]: known, [second]: unknown },
    { [first]: known, [second]: known },
  ]);
});

test('the same holds if the definitions could not be read, but not if none are stored', async () => {
  const definitions = async (did: string) => {
    if (did === first) throw new Error('the store is busy');
    return [];
  };
  expect(await publications(1, definitions, () => 0)).toEqual([
    { [first]: unknown, [second]: { values: [], values_omitted: 0, undeclared: 27 } },
  ]);
});

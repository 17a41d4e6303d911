import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { labelStage } from '../../harness/labels/label-stage.ts';
import { startStation } from '../../harness/labels/label-station.ts';
import { lettersOf, spellings } from '../../harness/privacy/spellings.ts';
import { runProgram, startProgramInTest } from '../../harness/process/program-in-test.ts';
import { until } from '../../harness/process/until.ts';
import { readLabelersSet } from '../../harness/truth/labelers/read-set.ts';
import { createSim } from '../../sim/index.ts';
import type { LabelDefinition } from '../../sim/labelers/profile.ts';
import { findIdentity } from '../../src/contract/privacy/find-identity.ts';

/** Identities of subjects that a labeler could publish. A name is not an identity that a scan can detect. */
const handle = 'carla-meyerhold.bsky.social';
const did = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz';
const name = 'Ottilie Brandenburger';
const identities = [handle, did, name];
/** Letters that reveal an identity in any spelling. */
const found = { handle: 'carlameyerhold', did: 'ewvi7nxzyoun6zhxrhs64oiz', name: 'brandenburger' };

const stage = labelStage();

/** Returns a definition of a value whose name and description contain the given text. */
function definition(identifier: string, text: string, word = 'inform'): LabelDefinition {
  const locales = [{ lang: 'en', name: text, description: `About ${text}` }];
  return { identifier, severity: word, blurs: 'none', defaultSetting: 'warn', adultOnly: false, locales };
}

/** Returns letters that encode a number in the syntax of label values. */
const letters = (number: number): string => String.fromCharCode(97 + Math.floor(number / 26), 97 + (number % 26));

/**
 * Returns the values and definitions of one labeler that plants an identity: in the texts of valid values, as values,
 * in the words of a definition, and as the language of a text.
 */
function planted(identity: string): { values: string[]; definitions: LabelDefinition[]; labeled: string[] } {
  const spelled = Object.values(spellings).map((spell) => spell(identity));
  const hyphenated = identity.toLowerCase().replaceAll(/[^a-z]/g, '-');
  const inTexts = spelled.map((text, at) => definition(`text-${letters(at)}`, text));
  // A declared value is quoted, so a name that has the syntax of a value is planted only as an undeclared value.
  const declared = identity === name ? spelled : [...spelled, hyphenated];
  const asValues = declared.map((text) => definition(text, 'A value'));
  const inWords = definition('in-words', 'Words', identity);
  const inLanguage = { ...definition('in-language', 'x'), locales: [{ lang: identity, name: 'x', description: 'y' }] };
  const definitions = [...inTexts, ...asValues, inWords, inLanguage];
  const labeled = [...definitions.map(({ identifier }) => identifier), hyphenated];
  return { values: definitions.map(({ identifier }) => identifier), definitions, labeled };
}

test("an identity that a labeler plants in values, definitions and names is published nowhere except in the labeler's own quoted definitions", async () => {
  const sim = createSim({
    ...{ rate: 1, historyHours: 0, labelers: identities.length, labelRate: 0 },
    shapeLabeler: ({ index }) => {
      const { values, definitions } = planted(identities[index] ?? '');
      return { software: 'skyware', didWeb: false, values, definitions };
    },
  });
  stage.sim = sim;
  const { plc } = await sim.start();
  const { list } = sim.labelers;
  const station = await startStation({ seeds: list.map((labeler) => labeler.did), plc: plc ?? '' });
  stage.station = station;
  const artifacts = join(station.folder, 'artifacts');
  await until('all are read', async () => (await station.overview()).coverage.sources.established === list.length);
  for (const { faults, profile } of list) {
    const values = planted(identities[profile.index] ?? '').labeled.filter((val) => Buffer.byteLength(val) <= 128);
    faults.say(values.flatMap((val) => Array.from({ length: 6 }, () => ({ val }))));
  }
  await until('all rows and definitions are published', async () => {
    const set = await readLabelersSet(artifacts);
    const isComplete = set?.labelers.every(({ events }) => events.window >= 6 * 30) ?? false;
    return isComplete && set?.definitions.length === list.length;
  });
  const facts = await startProgramInTest(['facts', '--artifacts', artifacts, '--port', '0']).listening();

  const [listed, texts] = ['labelers.ndjson', 'labeler-definitions.ndjson'].map((file) =>
    readFileSync(join(artifacts, file), 'utf8'),
  );
  expect(leaksIn(listed ?? '', [...Object.values(found)])).toEqual([]);
  expect(leaksIn(texts ?? '', [found.handle, found.did])).toEqual([]);
  // Make sure that the search for names can fail.
  expect(lettersOf(texts ?? '')).toContain(found.name);
  expect(
    identitiesIn(
      texts ?? '',
      list.map((labeler) => labeler.did),
    ),
  ).toEqual([]);

  await until('the labelers are served', async () => (await fetch(`${facts.url}/labelers.json`)).status === 200);
  for (const path of [
    '/labelers',
    '/labelers.json',
    '/labelers?q=brandenburger',
    ...list.flatMap((labeler) => [`/labelers/${labeler.did}`, `/labelers/${labeler.did}.json`]),
  ]) {
    const response = await fetch(facts.url + path);
    const body = await response.text();
    expect([path, response.status]).toEqual([path, 200]);
    expect(leaksIn(body, [found.handle, found.did]), path).toEqual([]);
    expect(leaksIn(withoutDefinitions(path, body), [found.name]), path).toEqual([]);
  }
  for (const labeler of list) {
    const { stdout: lines, code } = await runProgram(['labeler', labeler.did, '--facts', facts.url]);
    const stdout = lines.join('\n');
    expect(code).toBe(0);
    expect(leaksIn(stdout, [found.handle, found.did])).toEqual([]);
    expect(leaksIn(stdout.replaceAll(/“[^”]*”/g, ''), [found.name])).toEqual([]);
  }
});

/** Returns the letters of identities that a text contains in any spelling. */
function leaksIn(text: string, needles: readonly string[]): string[] {
  const plain = lettersOf(text);
  return needles.filter((needle) => plain.includes(needle));
}

/** Returns the texts of definitions that the privacy scan rejects, apart from the DIDs of the labelers. */
function identitiesIn(text: string, dids: readonly string[]): string[] {
  const rejected: string[] = [];
  const visit = (value: unknown): void => {
    if (typeof value === 'string' && !dids.includes(value) && findIdentity(value) !== null) rejected.push(value);
    if (typeof value === 'object' && value !== null) for (const entry of Object.values(value)) visit(entry);
  };
  for (const line of text.trimEnd().split('\n').slice(1)) visit(JSON.parse(line));
  return rejected;
}

/** Returns a response without a labeler's quoted definitions. */
function withoutDefinitions(path: string, body: string): string {
  if (path.endsWith('.json')) {
    return JSON.stringify(JSON.parse(body), (key, value: unknown) => (key === 'definitions' ? null : value));
  }
  // The search form repeats what the reader searched for.
  return body.replaceAll(/<bdi>.*?<\/bdi>/gs, '').replaceAll('brandenburger', '');
}

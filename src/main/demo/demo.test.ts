import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderInTest } from '../../../harness/process/folder.ts';
import { resolveSettings, type Setting, type Settings, variableOf } from '../../ops/setting.ts';
import { accountSettings } from '../account/account-settings.ts';
import { archiveSettings } from '../archive/archive-settings.ts';
import { takeDemoFolder } from '../demo-folder.ts';
import { factsSettings } from '../facts/facts-settings.ts';
import { labelsSettings } from '../labels/labels-settings.ts';
import type { ObservatoryValues } from '../up/up.ts';
import { weatherSettings } from '../weather/weather-settings.ts';
import { demoCommand, demoParts } from './demo.ts';

/** The command of each part, with its settings that name a file, a directory or a host. */
const places = {
  facts: [factsSettings, ['artifacts', 'labelsArtifact', 'labelersArtifact', 'weatherArtifact', 'archive']],
  account: [accountSettings, ['store', 'data', 'secretFile', 'plc', 'factsUrl']],
  weather: [weatherSettings, ['data', 'artifacts', 'jetstream']],
  labels: [labelsSettings, ['store', 'artifacts', 'seeds', 'relay', 'plc', 'jetstream']],
  archive: [archiveSettings, ['archive', 'artifacts', 'archiveKey']],
} as const satisfies Readonly<Record<string, readonly [Settings, readonly string[]]>>;

const demo: ObservatoryValues = {
  ...{ host: '127.0.0.1', port: 8400, basePath: '/atproto', accountPort: 8401, metricsPort: null, data: '/demo' },
  contact: null,
  logLevel: 'info',
};

/** Returns the places that each part of a demo uses if variables name those of a live observatory. */
async function usedPlaces(port: number): Promise<Record<string, Record<string, unknown>>> {
  const network = {
    ...{ jetstream: 'ws://127.0.0.1:1', plc: 'http://127.0.0.1:2', relay: 'http://127.0.0.1:3', seeds: '/sim/seeds' },
    ...{ accounts: [], archive: '/demo/archive', archived: Promise.resolve(true) },
  };
  const parts = await demoParts({ ...demo, port }, [], network);
  const known = Object.values(places).flatMap(([settings]) => Object.values<Setting<unknown>>(settings));
  const named = Object.values(places).flatMap(([settings, names]) => names.map((name) => flagOf(settings, name)));
  const resolved = Object.entries(places).map(([part, [settings, names]]) => {
    const { values } = resolveSettings<Settings>(settings, {
      args: parts.find(({ name }) => name === part)?.args ?? [],
      env: Object.fromEntries(named.map((flag) => [variableOf(flag), `https://live.example/${flag}`])),
      knownFlags: known.map(({ flag }) => flag),
    });
    return [part, Object.fromEntries(names.map((name) => [name, values[name]]))];
  });
  return Object.fromEntries(resolved);
}

it('a demo uses only its own files and its own network, even if variables name those of a live observatory', async () => {
  expect(await usedPlaces(8400)).toEqual({
    facts: {
      artifacts: '/demo/artifacts',
      labelsArtifact: '/demo/artifacts/labels-overview.json',
      labelersArtifact: '/demo/artifacts/labelers.ndjson',
      weatherArtifact: '/demo/artifacts/weather-summary.json',
      archive: '/demo/archive',
    },
    account: {
      store: 'sqlite:/demo/labels',
      data: '/demo',
      secretFile: '/demo/account-secret',
      plc: ['http://127.0.0.1:2'],
      factsUrl: 'http://127.0.0.1:8400/atproto',
    },
    weather: { data: '/demo', artifacts: '/demo/artifacts', jetstream: ['ws://127.0.0.1:1'] },
    labels: {
      store: 'sqlite:/demo/labels',
      artifacts: '/demo/artifacts',
      seeds: '/sim/seeds',
      relay: ['http://127.0.0.1:3'],
      plc: ['http://127.0.0.1:2'],
      jetstream: 'ws://127.0.0.1:1',
    },
    archive: { archive: '/demo/archive', artifacts: '/demo/artifacts', archiveKey: '/demo/archive.key' },
  });
});

it('the account pages of a demo whose facts part selects its port link to no facts API, even if a variable names one', async () => {
  expect((await usedPlaces(0)).account).toEqual({
    store: 'sqlite:/demo/labels',
    data: '/demo',
    secretFile: '/demo/account-secret',
    plc: ['http://127.0.0.1:2'],
    factsUrl: null,
  });
});

it('a demo with an invalid base path fails before it deletes the data of an earlier demo', async () => {
  const data = folderInTest();
  (await takeDemoFolder(data)).release();
  writeFileSync(join(data, 'labels'), '');
  const before = readdirSync(data);
  const values = { ...demo, data, port: 0, accountPort: 0, basePath: 'atproto' };
  const context = { args: [], env: {}, knownFlags: [], positionals: [], print: () => undefined };
  await expect(demoCommand.run(values, context)).rejects.toThrow(
    '--base-path requires a path such as /atproto; got "atproto"',
  );
  expect(readdirSync(data)).toEqual(before);
});

function flagOf(settings: Settings, name: string): string {
  return settings[name]?.flag ?? '';
}

import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createLog, type Log } from '../ops/log.ts';
import { integer, text, type Values } from '../ops/setting.ts';
import { resolveSettings, resolveSettingsAlone } from '../ops/settings.ts';
import { defaultData } from './artifact-sources.ts';
import type { Command, CommandContext } from './command.ts';
import { type RunningFacts, startFacts } from './facts-process.ts';
import { factsSettings, serverSettings } from './facts-settings.ts';
import { serveUntilStopped } from './serve.ts';

/** Settings of `almanac up` and `almanac demo`. */
export const observatorySettings = {
  data: text('data', 'DIR', defaultData, 'folder of everything that is kept'),
  host: factsSettings.host,
  port: factsSettings.port,
  accountPort: integer('account-port', 'PORT', 8401, { min: 0, max: 65_535 }, 'port of the account-view surface'),
  ...serverSettings,
};

/** The settings of an observatory, resolved. */
export type ObservatoryValues = Values<typeof observatorySettings>;

/** `almanac up`: the observatory against the live network, as far as it is built: the facts API over its folder. */
export const upCommand: Command = {
  summary: 'the observatory over its data folder',
  operands: '',
  settings: observatorySettings,
  run: (context) =>
    runObservatory('up', context, (values, log) => factsOver(join(values.data, 'artifacts'), values, log)),
};

/** Runs what an observatory command starts, until it is asked to stop. */
export function runObservatory(
  name: string,
  { args, env, knownFlags, print }: CommandContext,
  start: (values: ObservatoryValues, log: Log) => Promise<RunningFacts>,
): Promise<number> {
  const values = resolveSettingsAlone(observatorySettings, { args, env, knownFlags });
  const log = createLog(name, values.logLevel);
  return serveUntilStopped({
    metricsPort: values.metricsPort,
    collectMetrics: values.metricsPort !== null,
    log,
    start: async () => {
      const running = await start(values, log);
      print(`almanac ${name} listening on http://${values.host}:${running.port}`);
      return running;
    },
  });
}

/** The facts API over a folder of artifacts, with every other setting as it comes. */
export async function factsOver(folder: string, values: ObservatoryValues, log: Log): Promise<RunningFacts> {
  await mkdir(folder, { recursive: true });
  const fallbacks = resolveSettings(factsSettings, { args: [], env: {}, knownFlags: [] }).values;
  const settings = { ...fallbacks, artifacts: folder, host: values.host, port: values.port };
  return startFacts(settings, log, null);
}

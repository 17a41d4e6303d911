import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createLog, type Log } from '../ops/log.ts';
import { integer, text, type Values } from '../ops/setting.ts';
import { resolveSettingsAlone } from '../ops/settings.ts';
import type { Command, CommandContext } from './command.ts';
import { defaultData, factsSettings, serverSettings } from './facts-settings.ts';
import { type Running, serveUntilStopped } from './serve.ts';
import { type Part, supervise } from './supervisor.ts';

/** Settings of `almanac up` and `almanac demo`. */
export const observatorySettings = {
  data: text('data', 'DIR', defaultData, 'folder of everything that is kept'),
  host: factsSettings.host,
  port: factsSettings.port,
  accountPort: integer('account-port', 'PORT', 8401, { min: 0, max: 65_535 }, 'port of the account-view surface'),
  logLevel: serverSettings.logLevel,
};

/** The settings of an observatory, resolved. */
export type ObservatoryValues = Values<typeof observatorySettings>;

/** `almanac up`: the observatory against the live network, as far as it is built. */
export const upCommand: Command = {
  summary:
    'the observatory against the live network: the weather instrument and the facts API, as processes of their own',
  operands: '',
  settings: observatorySettings,
  run: (context) =>
    runObservatory('up', context, (values) => [
      facts(join(values.data, 'artifacts'), values),
      { name: 'weather', args: ['--data', values.data, '--log-level', values.logLevel] },
    ]),
};

/** The facts API over a folder of artifacts. */
export function facts(artifacts: string, { host, port, logLevel }: ObservatoryValues): Part {
  return {
    name: 'facts',
    args: ['--artifacts', artifacts, '--host', host, '--port', String(port), '--log-level', logLevel],
  };
}

/** Runs the parts of an observatory, and what `beside` starts before them, until it is asked to stop. */
export function runObservatory(
  name: string,
  { args, env, knownFlags, print }: CommandContext,
  parts: (values: ObservatoryValues) => readonly Part[],
  beside: (values: ObservatoryValues, log: Log) => Promise<Running> = () => Promise.resolve({ stop: async () => {} }),
): Promise<number> {
  const values = resolveSettingsAlone(observatorySettings, { args, env, knownFlags });
  const log = createLog(name, values.logLevel);
  return serveUntilStopped({
    metricsPort: null,
    collectMetrics: false,
    log,
    start: async () => {
      await mkdir(join(values.data, 'artifacts'), { recursive: true });
      const companion = await beside(values, log);
      const supervised = await supervise(parts(values), log, Date.now).catch(async (error: unknown) => {
        await companion.stop();
        throw error;
      });
      for (const line of supervised.ready.values()) print(line);
      print(`almanac ${name} ${addressIn(supervised.ready.get('facts') ?? '')}`);
      return {
        async stop() {
          await supervised.stop();
          await companion.stop();
        },
      };
    },
  });
}

function addressIn(line: string): string {
  return /listening on \S+$/.exec(line)?.[0] ?? 'running';
}

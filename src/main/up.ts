import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { artifactNames } from '../artifact/write.ts';
import { createLog, type Log } from '../ops/log.ts';
import { integer, optionalInteger, text, type Values } from '../ops/setting.ts';
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
  metricsPort: optionalInteger(
    'metrics-port',
    'PORT',
    { min: 1, max: 65_000 },
    "serve the facts API's Prometheus metrics on this loopback port, and those of the instruments on the ports above it",
  ),
  logLevel: serverSettings.logLevel,
};

/** The settings of an observatory, resolved. */
export type ObservatoryValues = Values<typeof observatorySettings>;

/** `almanac up`: the observatory against the live network, as far as it is built. */
export const upCommand: Command = {
  summary:
    'the observatory against the live network: both instruments, the facts API and the account-view surface, as processes of their own',
  operands: '',
  settings: observatorySettings,
  run: (context) =>
    runObservatory('up', context, (values) => [
      facts(join(values.data, 'artifacts'), values),
      {
        name: 'weather',
        args: ['--data', values.data, '--artifacts', join(values.data, 'artifacts'), ...common(values, 1)],
      },
      {
        name: 'labels',
        args: [
          '--store',
          `sqlite:${join(values.data, 'labels')}`,
          '--artifacts',
          join(values.data, 'artifacts'),
          ...common(values, 2),
        ],
      },
      {
        name: 'account',
        args: [
          '--store',
          `sqlite:${join(values.data, 'labels')}`,
          '--data',
          values.data,
          '--host',
          values.host,
          '--port',
          String(values.accountPort),
          ...common(values, 3),
        ],
      },
    ]),
};

/**
 * The facts API over a folder of artifacts. All that the observatory decides is given as flags, which win over what
 * its parts would read from variables or a config file themselves.
 */
export function facts(artifacts: string, values: ObservatoryValues): Part {
  const { host, port } = values;
  return {
    name: 'facts',
    args: [
      '--labels-artifact',
      join(artifacts, artifactNames.labels),
      '--weather-artifact',
      join(artifacts, artifactNames.weather),
      '--host',
      host,
      '--port',
      String(port),
      ...common(values, 0),
    ],
  };
}

/** What every part is told; `place` keeps their metrics on ports of their own. */
function common({ logLevel, metricsPort }: ObservatoryValues, place: number): string[] {
  return ['--log-level', logLevel, ...(metricsPort === null ? [] : ['--metrics-port', String(metricsPort + place)])];
}

/** Runs the parts of an observatory, and what `beside` starts before them, until it is asked to stop. */
export function runObservatory(
  name: string,
  { args, env, knownFlags, print }: CommandContext,
  parts: (values: ObservatoryValues) => readonly Part[],
  beside: (values: ObservatoryValues, log: Log) => Promise<Running> = () => Promise.resolve({ stop: async () => {} }),
): Promise<number> {
  const values = resolveSettingsAlone(observatorySettings, { args, env, knownFlags });
  const config = configOf(args);
  const log = createLog(name, values.logLevel);
  return serveUntilStopped({
    metricsPort: null,
    collectMetrics: false,
    log,
    start: async () => {
      await mkdir(join(values.data, 'artifacts'), { recursive: true });
      const companion = await beside(values, log);
      const told = parts(values).map((part) => ({ ...part, args: [...part.args, ...config] }));
      const supervised = await supervise(told, log, Date.now).catch(async (error: unknown) => {
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

/** The config file that was named as a flag: the parts read their own settings from it. */
function configOf(args: readonly string[]): string[] {
  const at = args.findLastIndex((word) => word === '--config' || word.startsWith('--config='));
  if (at < 0) return [];
  return args[at] === '--config' ? ['--config', args[at + 1] ?? ''] : [args[at] ?? ''];
}

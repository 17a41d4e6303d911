import { join } from 'node:path';
import { OperatorError } from '../../ops/errors.ts';
import {
  integer,
  optionalInteger,
  optionalText,
  resolveSettings,
  type SettingSources,
  type Settings,
  text,
  type Values,
} from '../../ops/setting.ts';
import type { Command } from '../command.ts';
import { isDemoFolder } from '../demo-folder.ts';
import type { TriedHost } from '../doctor/finding.ts';
import { defaultData, factsSettings, serverSettings } from '../facts/facts-settings.ts';
import { labelsSettings } from '../labels/labels-settings.ts';
import { addressOf, serveUntilStopped } from '../serve.ts';
import { contactSetting, labelStoreIn } from '../shared-settings.ts';
import { weatherSettings } from '../weather/weather-settings.ts';
import type { SupervisedPart } from './supervisor.ts';

/** Settings of `almanac up` and `almanac demo`. */
export const observatorySettings = {
  host: factsSettings.host,
  port: factsSettings.port,
  basePath: factsSettings.basePath,
  accountPort: integer('account-port', 'PORT', 8401, { min: 0, max: 65_535 }, 'port of the account-view surface'),
  metricsPort: optionalInteger(
    'metrics-port',
    'PORT',
    { min: 1, max: 65_000 },
    "serve the facts API's Prometheus metrics on this loopback port, and those of the other parts on the next ports",
  ),
  contact: contactSetting,
  logLevel: serverSettings.logLevel,
};

/** Number of consecutive metrics ports of an observatory: facts, weather, labels, account and archive. */
export const metricsPorts = 5;

const upSettings = {
  data: text('data', 'DIR', defaultData, 'data directory'),
  jetstream: weatherSettings.jetstream,
  archive: optionalText(
    'archive',
    'DIR',
    'directory in which to archive what is published; default: nothing is archived',
  ),
  ...observatorySettings,
};

/** `almanac up`: runs the observatory against the live network. */
export const upCommand: Command<typeof upSettings> = {
  summary: 'the observatory against the live network: both instruments and both servers, each in its own process',
  operands: '',
  settings: upSettings,
  run(values, context) {
    const { data } = values;
    const tryHosts = hostTries(values, context);
    return serveUntilStopped({
      start: async (_, asked) => {
        // Simulated data must never be mixed with live data.
        if (isDemoFolder(data)) {
          throw new OperatorError(
            `${data} contains the simulated data of a demo; choose another directory with --data`,
          );
        }
        // Load this module on demand, because other commands do not need the schemas of the artifacts.
        const { openLog, startObservatory } = await import('./observatory.ts');
        const log = openLog('up', values.logLevel, data, context.env);
        const jetstream = values.jetstream.flatMap((host) => ['--jetstream', host]);
        const running = await startObservatory({
          name: 'up',
          data,
          endpoints: values.jetstream,
          tryHosts,
          parts: observatoryParts(values, context.args, {
            weather: jetstream,
            labels: jetstream,
            archive: values.archive,
          }),
          remarks: () => [],
          print: context.print,
          log,
          asked,
        });
        return {
          async stop() {
            await running.stop();
            log.close();
          },
        };
      },
    });
  },
};

/**
 * Timeout of each host, in milliseconds. It is short enough for the first start to report unresponsive hosts within 10
 * s.
 */
const timeoutMs = 3_000;

/** Settings of the label instrument that name hosts. The instrument's own process reads them from the same sources. */
const hostSettings = {
  relay: labelsSettings.relay,
  plc: labelsSettings.plc,
  seeds: labelsSettings.seeds,
  allowLoopback: labelsSettings.allowLoopback,
} satisfies Settings;

/**
 * Returns the function that contacts every host of both instruments once. The function resolves with an empty list if a
 * setting or the seeds file is invalid.
 */
function hostTries(
  values: { readonly contact: string | null; readonly jetstream: readonly string[] },
  { args, ...sources }: SettingSources,
): () => Promise<readonly TriedHost[]> {
  const { values: hosts } = resolveSettings(hostSettings, { args: configOf(args), ...sources });
  return async () => {
    try {
      // Load the module on demand, because it is needed only if the network does not respond.
      const { checkUpstreams } = await import('../doctor/upstreams.ts');
      const { tried } = await checkUpstreams({ ...hosts, ...values }, timeoutMs);
      return tried;
    } catch {
      // Ignore an invalid seeds file or setting here, because it stops a part, which reports the error.
      return [];
    }
  };
}

/** Resolved settings of an observatory. */
export type ObservatoryValues = Values<typeof observatorySettings> & { readonly data: string };

/** Additional arguments of the parts, keyed by the name of their command. */
type Extra = Readonly<Partial<Record<'facts' | 'account' | 'weather' | 'labels', readonly string[]>>> & {
  /** True if the observatory page links to this machine's account part once that part listens. */
  readonly linksAccounts?: boolean;
  /** Directory of the archive, or null if nothing is archived. */
  readonly archive: string | null;
  /** File of the archive's key. If it is absent, the archive part reads its own setting. */
  readonly archiveKey?: string;
  /** Resolves when other work on the archive directory has finished; the archive process starts after that. */
  readonly archiveFollows?: Promise<unknown>;
};

/**
 * Runtime flag that limits the heap for new objects. Reading hundreds of labelers at startup creates garbage for which
 * the runtime would otherwise keep 100 MB.
 */
const smallNursery = ['--max-semi-space-size=4'] as const;

/**
 * Runtime flag that limits the heap for new objects. A flood of requests creates garbage for which the runtime would
 * otherwise keep 130 MB.
 */
const boundedNursery = ['--max-semi-space-size=8'] as const;

/**
 * Returns the processes of an observatory. Settings are passed as flags, which take precedence over variables and the
 * config file. Of the flags in `args`, only `--config` is passed on.
 */
export function observatoryParts(values: ObservatoryValues, args: readonly string[], extra: Extra): SupervisedPart[] {
  const { data, host, port, basePath, accountPort } = values;
  const { archive, archiveKey } = extra;
  const artifacts = join(data, 'artifacts');
  const common = commonArgs(values, args);
  // The archive process starts once the facts API listens, and stops before it.
  const archivePart = (folder: string): SupervisedPart => ({
    name: 'archive',
    kind: 'instrument',
    after: { part: 'facts', urlFlag: '--facts' },
    ...(extra.archiveFollows === undefined ? {} : { follows: extra.archiveFollows }),
    args: [
      ...['--archive', folder, '--artifacts', artifacts],
      ...(archiveKey === undefined ? [] : ['--archive-key', archiveKey]),
      ...common(4),
    ],
  });
  return [
    {
      name: 'facts',
      kind: 'server',
      args: [
        ...['--artifacts', artifacts, '--host', host, '--port', String(port), '--base-path', basePath],
        ...(archive === null ? [] : ['--archive', archive]),
        ...[...(extra.facts ?? []), ...common(0)],
      ],
      ...(extra.linksAccounts ? { after: { part: 'account', urlFlag: '--account-url' } } : {}),
    },
    {
      name: 'account',
      kind: 'server',
      nodeFlags: boundedNursery,
      args: [
        ...['--store', labelStoreIn(data), '--data', data],
        ...['--host', host, '--port', String(accountPort), '--base-path', basePath],
        // The account part starts before the facts part, so a port that the facts part selects itself is not known yet.
        // An empty URL prevents links to the address that a variable or the config file names.
        ...(extra.linksAccounts ? ['--facts-url', port === 0 ? '' : addressOf({ host, basePath }, port)] : []),
        ...(extra.account ?? []),
        ...common(3),
      ],
    },
    {
      name: 'weather',
      kind: 'instrument',
      args: ['--data', data, '--artifacts', artifacts, ...(extra.weather ?? []), ...common(1)],
    },
    {
      name: 'labels',
      kind: 'instrument',
      nodeFlags: smallNursery,
      args: ['--store', labelStoreIn(data), '--artifacts', artifacts, ...(extra.labels ?? []), ...common(2)],
    },
    ...(archive === null ? [] : [archivePart(archive)]),
  ];
}

/** Returns a function that returns the flags that every part accepts. `place` is the place of its metrics port. */
function commonArgs(
  { logLevel, contact, metricsPort }: ObservatoryValues,
  args: readonly string[],
): (place: number) => readonly string[] {
  const config = configOf(args);
  return (place) => [
    ...['--log-level', logLevel],
    ...(contact === null ? [] : ['--contact', contact]),
    ...(metricsPort === null ? [] : ['--metrics-port', String(metricsPort + place)]),
    ...config,
  ];
}

/**
 * Returns the `--config` flag in `args` for the parts, which read their other settings from that file. Returns an empty
 * list if the flag is missing.
 */
function configOf(args: readonly string[]): string[] {
  const at = args.findLastIndex((word) => word === '--config' || word.startsWith('--config='));
  if (at < 0) return [];
  return args[at] === '--config' ? ['--config', args[at + 1] ?? ''] : [args[at] ?? ''];
}

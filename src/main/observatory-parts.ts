import { join } from 'node:path';
import { integer, optionalInteger, text, type Values } from '../ops/setting.ts';
import { contactSetting } from './contact-setting.ts';
import { defaultData, factsSettings, serverSettings } from './facts-settings.ts';
import type { SupervisedPart } from './supervisor.ts';

/** Settings of `almanac up` and `almanac demo`. */
export const observatorySettings = {
  host: factsSettings.host,
  port: factsSettings.port,
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

/** The folder of an observatory, where one is always used. */
export const dataSetting = text('data', 'DIR', defaultData, 'data directory');

/** The settings of an observatory, resolved. */
export type ObservatoryValues = Values<typeof observatorySettings> & { readonly data: string };

/** Additional arguments of an observatory's parts, by the name of their command. */
export type Extra = Readonly<Partial<Record<'facts' | 'account' | 'weather' | 'labels', readonly string[]>>> & {
  /** The observatory's page links to the account part of this machine, where that came to listen. */
  readonly linksAccounts?: boolean;
};

/** A start that reads hundreds of labelers at once leaves garbage, and the runtime would keep 100 MB of room for the next. */
const smallNursery = ['--max-semi-space-size=4'] as const;

/**
 * The processes of an observatory. All that it decides is given as flags, which win over what its parts would read
 * from variables or a config file themselves; these come last in `args` so that they win over each other in order.
 */
export function observatoryParts(
  values: ObservatoryValues,
  args: readonly string[],
  extra: Extra = {},
): SupervisedPart[] {
  const { data, host, port, accountPort } = values;
  const artifacts = join(data, 'artifacts');
  const config = configOf(args);
  const common = (place: number): string[] => [
    '--log-level',
    values.logLevel,
    ...(values.contact === null ? [] : ['--contact', values.contact]),
    ...(values.metricsPort === null ? [] : ['--metrics-port', String(values.metricsPort + place)]),
    ...config,
  ];
  return [
    {
      name: 'facts',
      kind: 'server',
      args: ['--artifacts', artifacts, '--host', host, '--port', String(port), ...(extra.facts ?? []), ...common(0)],
      ...(extra.linksAccounts ? { after: { part: 'account', args: accountUrlArgs } } : {}),
    },
    {
      name: 'account',
      kind: 'server',
      args: [
        ...['--store', storeOf(data), '--data', data, '--host', host, '--port', String(accountPort)],
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
      args: ['--store', storeOf(data), '--artifacts', artifacts, ...(extra.labels ?? []), ...common(2)],
    },
  ];
}

function accountUrlArgs(line: string): string[] {
  const url = listeningAt(line);
  return url === null ? [] : ['--account-url', url];
}

/** The address in the line that a server says once it listens; null where it is no such line. */
export function listeningAt(line: string): string | null {
  return /listening on (\S+)$/.exec(line)?.[1] ?? null;
}

/** The label store in a folder. */
export function storeOf(data: string): string {
  return `sqlite:${join(data, 'labels')}`;
}

/** The config file that was named as a flag: the parts read their own settings from it. */
function configOf(args: readonly string[]): string[] {
  const at = args.findLastIndex((word) => word === '--config' || word.startsWith('--config='));
  if (at < 0) return [];
  return args[at] === '--config' ? ['--config', args[at + 1] ?? ''] : [args[at] ?? ''];
}

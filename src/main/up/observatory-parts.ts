import { join } from 'node:path';
import { integer, optionalInteger, text, type Values } from '../../ops/setting.ts';
import { defaultData, factsSettings, serverSettings } from '../facts/facts-settings.ts';
import { addressOf } from '../serve.ts';
import { contactSetting } from '../shared-settings.ts';
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

/** Number of consecutive metrics ports of an observatory: facts, weather, labels, account and archive. */
export const metricsPorts = 5;

/** Setting for the data directory, for commands that always use a data directory. */
export const dataSetting = text('data', 'DIR', defaultData, 'data directory');

/** Resolved settings of an observatory. */
type ObservatoryValues = Values<typeof observatorySettings> & { readonly data: string };

/** Additional arguments of the parts, keyed by the name of their command. */
export type Extra = Readonly<Partial<Record<'facts' | 'account' | 'weather' | 'labels', readonly string[]>>> & {
  /** True if the observatory page links to this machine's account part once that part listens. */
  readonly linksAccounts?: boolean;
  /** Directory of the archive. Null or absent if nothing is archived. */
  readonly archive?: string | null;
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
export function observatoryParts(
  values: ObservatoryValues,
  args: readonly string[],
  extra: Extra = {},
): SupervisedPart[] {
  const { data, host, port, accountPort } = values;
  const artifacts = join(data, 'artifacts');
  const config = configOf(args);
  const archive = extra.archive ?? null;
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
      args: [
        ...['--artifacts', artifacts, '--host', host, '--port', String(port)],
        ...(archive === null ? [] : ['--archive', archive]),
        ...[...(extra.facts ?? []), ...common(0)],
      ],
      ...(extra.linksAccounts ? { after: { part: 'account', args: accountUrlArgs } } : {}),
    },
    {
      name: 'account',
      kind: 'server',
      nodeFlags: boundedNursery,
      args: [
        ...['--store', storeOf(data), '--data', data, '--host', host, '--port', String(accountPort)],
        // The account part starts before the facts part, so a port that the facts part selects itself is not known yet.
        ...(extra.linksAccounts && port !== 0 ? ['--facts-url', addressOf({ host, basePath: '' }, port)] : []),
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
    ...archivePart(values, args, { ...extra, archive }),
  ];
}

/**
 * Returns the archive process, which starts once the facts API listens and stops before it. Returns nothing if no
 * archive is configured.
 */
function archivePart(
  values: ObservatoryValues,
  args: readonly string[],
  { archive, archiveFollows: follows }: Extra & { readonly archive: string | null },
): SupervisedPart[] {
  if (archive === null) return [];
  const contact = values.contact === null ? [] : ['--contact', values.contact];
  return [
    {
      name: 'archive',
      kind: 'instrument',
      after: { part: 'facts', args: factsUrlArgs },
      ...(follows === undefined ? {} : { follows }),
      args: [
        ...['--archive', archive, '--artifacts', join(values.data, 'artifacts')],
        ...['--log-level', values.logLevel, ...contact],
        ...(values.metricsPort === null ? [] : ['--metrics-port', String(values.metricsPort + 4)]),
        ...configOf(args),
      ],
    },
  ];
}

function factsUrlArgs(line: string): string[] {
  const url = listeningAt(line);
  return url === null ? [] : ['--facts', url];
}

function accountUrlArgs(line: string): string[] {
  const url = listeningAt(line);
  return url === null ? [] : ['--account-url', url];
}

/** Returns the address in a server's first line of output, or null for any other line. */
export function listeningAt(line: string): string | null {
  return /listening on (\S+)$/.exec(line)?.[1] ?? null;
}

/** Returns the URL of the label store in a directory. */
export function storeOf(data: string): string {
  return `sqlite:${join(data, 'labels')}`;
}

/**
 * Returns the `--config` flag in `args` for the parts, which read their other settings from that file. Returns an empty
 * list if the flag is missing.
 */
export function configOf(args: readonly string[]): string[] {
  const at = args.findLastIndex((word) => word === '--config' || word.startsWith('--config='));
  if (at < 0) return [];
  return args[at] === '--config' ? ['--config', args[at + 1] ?? ''] : [args[at] ?? ''];
}

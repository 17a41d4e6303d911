import { integer, optionalText, text, toggle } from '../../ops/setting.ts';
import { defaultData, factsSettings, serverSettings } from '../facts/facts-settings.ts';
import { labelsSettings } from '../labels/labels-settings.ts';
import { contactSetting, plcSetting, sampleAccountSetting } from '../shared-settings.ts';

/** Settings of `almanac account`. */
export const accountSettings = {
  host: factsSettings.host,
  port: integer('port', 'PORT', 8401, { min: 0, max: 65_535 }, 'port to listen on; 0 selects a free port'),
  basePath: factsSettings.basePath,
  store: labelsSettings.store,
  data: text('data', 'DIR', defaultData, 'data directory'),
  secretFile: optionalText(
    'secret-file',
    'FILE',
    'file of the cursor secrets, 64 hex digits per line, the current one first; default: account-secret in --data',
  ),
  maxExportRows: integer(
    'max-export-rows',
    'N',
    50_000,
    { min: 1, max: 1_000_000 },
    'maximum number of rows in one export',
  ),
  pageRows: integer('page-rows', 'N', 500, { min: 1, max: 500 }, 'maximum number of rows on one page of an export'),
  exportTtlSeconds: integer('export-ttl-seconds', 'S', 900, { min: 1, max: 43_200 }, 'lifetime of an export'),
  factsUrl: {
    ...optionalText('facts-url', 'URL', 'URL of the facts API, for links to the pages of labelers; empty: no links'),
    parse: (texts: readonly string[]): string | null => {
      const url = texts.at(-1) ?? '';
      return url === '' ? null : url;
    },
  },
  sampleAccounts: sampleAccountSetting,
  plc: plcSetting,
  contact: contactSetting,
  noHandles: toggle('no-handles', 'accept only DIDs: do not resolve handles'),
  clientAccounts: integer(
    'client-accounts',
    'N',
    500,
    { min: 0, max: 1_000_000 },
    'number of distinct accounts that one client may look up per day; 0: unlimited',
  ),
  clientCost: integer(
    'client-cost',
    'MS',
    6_000,
    { min: 0, max: 60_000 },
    'maximum store read time per client and minute, in milliseconds; unused time accumulates for up to five minutes; 50 kB sent count as one millisecond, and the resolution of a handle counts as a read; 0: unlimited',
  ),
  maxConnections: integer('max-connections', 'N', 4_096, { min: 1, max: 1_000_000 }, 'maximum number of connections'),
  clientConnections: integer(
    'client-connections',
    'N',
    64,
    { min: 0, max: 1_000_000 },
    'maximum number of connections per client, without --trust-proxy; 0: unlimited',
  ),
  unsentMegabytes: integer(
    'unsent-megabytes',
    'MB',
    64,
    { min: 32, max: 1_024 },
    'maximum memory for responses that clients have not read yet; one client may use an eighth of it',
  ),
  readers: integer('readers', 'N', 2, { min: 1, max: 16 }, 'number of processes that read the store'),
  queue: integer(
    'queue',
    'N',
    64,
    { min: 0, max: 10_000 },
    'maximum number of requests waiting for the store; further requests get store_busy',
  ),
  queueMs: integer('queue-ms', 'MS', 400, { min: 1, max: 60_000 }, 'maximum time a request waits for the store'),
  readMs: integer(
    'read-ms',
    'MS',
    5_000,
    { min: 10, max: 60_000 },
    'maximum duration of one turn at the store; a process that exceeds it is killed',
  ),
  trustProxy: factsSettings.trustProxy,
  accessLog: toggle('access-log', 'log the route and status of every request, never a client or an account'),
  ...serverSettings,
};

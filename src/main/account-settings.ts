import { integer, optionalText, text, toggle } from '../ops/setting.ts';
import { contactSetting } from './contact-setting.ts';
import { defaultData, factsSettings, serverSettings } from './facts-settings.ts';

/** Settings of `almanac account`. */
export const accountSettings = {
  host: factsSettings.host,
  port: integer('port', 'PORT', 8401, { min: 0, max: 65_535 }, 'port to listen on; 0 takes a free one'),
  basePath: factsSettings.basePath,
  store: text('store', 'URL', `sqlite:${defaultData}/labels`, 'the observation store, sqlite:DIR'),
  data: text('data', 'DIR', defaultData, 'folder of everything that is kept'),
  secretFile: optionalText(
    'secret-file',
    'FILE',
    'secrets of the cursors, 64 hex digits a line, the current one first; account-secret in --data unless given',
  ),
  maxExportRows: integer('max-export-rows', 'N', 50_000, { min: 1, max: 1_000_000 }, 'most rows of one export'),
  pageRows: integer('page-rows', 'N', 500, { min: 1, max: 500 }, 'most rows of one page of an export'),
  exportTtlSeconds: integer(
    'export-ttl-seconds',
    'S',
    900,
    { min: 1, max: 43_200 },
    'how long an export can be followed after it was created',
  ),
  plc: text('plc', 'URL', 'https://plc.directory', 'directory of did:plc'),
  contact: contactSetting,
  noHandles: toggle('no-handles', 'take DIDs alone: handles are not resolved'),
  clientAccounts: integer(
    'client-accounts',
    'N',
    500,
    { min: 0, max: 1_000_000 },
    'distinct accounts that one client may ask for in a day; 0 for any number',
  ),
  clientCost: integer(
    'client-cost',
    'MS',
    6_000,
    { min: 0, max: 60_000 },
    'milliseconds of reading that one client may use in a minute, five minutes of it at once; 50 kB sent count as one; 0 for any number',
  ),
  maxConnections: integer('max-connections', 'N', 4_096, { min: 1, max: 1_000_000 }, 'connections at once'),
  clientConnections: integer(
    'client-connections',
    'N',
    64,
    { min: 0, max: 1_000_000 },
    'connections of one client at once, without --trust-proxy; 0 for any number',
  ),
  unsentMegabytes: integer(
    'unsent-megabytes',
    'MB',
    64,
    { min: 32, max: 1_024 },
    'responses held in memory that clients have not taken yet; an eighth of it for one client',
  ),
  readers: integer('readers', 'N', 2, { min: 1, max: 16 }, 'processes that read the store'),
  queue: integer(
    'queue',
    'N',
    64,
    { min: 0, max: 10_000 },
    'requests that wait for the store; more are told it is busy',
  ),
  queueMs: integer('queue-ms', 'MS', 400, { min: 1, max: 60_000 }, 'how long a request waits for the store at most'),
  readMs: integer(
    'read-ms',
    'MS',
    5_000,
    { min: 10, max: 60_000 },
    'how long one turn of reading may last; then its process is killed',
  ),
  trustProxy: factsSettings.trustProxy,
  accessLog: toggle('access-log', 'log every request: its route and status, never a client or an account'),
  ...serverSettings,
};

import { integer, optionalText, text, toggle } from '../ops/setting.ts';
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
  noHandles: toggle('no-handles', 'take DIDs alone: handles are not resolved'),
  clientAccounts: integer(
    'client-accounts',
    'N',
    500,
    { min: 0, max: 1_000_000 },
    'distinct accounts that one client may ask for in a day; 0 for any number',
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

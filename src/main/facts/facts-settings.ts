import { defaultMaxAgeSeconds, defaultMaxArtifactBytes } from '../../contract/limits.ts';
import { logLevels } from '../../ops/log.ts';
import { choice, integer, optionalInteger, optionalText, text, toggle, type Values } from '../../ops/setting.ts';
import { contactSetting, sampleAccountSetting } from '../shared-settings.ts';

/** Default data directory, relative to the working directory. */
export const defaultData = 'almanac-data';

const days = 366 * 86_400;
const ports = { min: 0, max: 65_535 };

/** Settings of all server commands. */
export const serverSettings = {
  logLevel: choice('log-level', logLevels, 'info', 'minimum level of the log on stderr'),
  metricsPort: optionalInteger(
    'metrics-port',
    'PORT',
    ports,
    'serve Prometheus metrics on this loopback port; default: off',
  ),
};

/** Settings for the freshness of a label artifact. */
export const freshnessSettings = {
  maxAgeSeconds: integer(
    'max-age-seconds',
    'S',
    defaultMaxAgeSeconds,
    { min: 0, max: days },
    'label artifacts older than this are refused as stale',
  ),
  collectionMaxAgeSeconds: optionalInteger(
    'collection-max-age-seconds',
    'S',
    { min: 0, max: days },
    'label collections older than this are refused as stale; default: --max-age-seconds',
  ),
  maxArtifactBytes: integer(
    'max-artifact-bytes',
    'BYTES',
    defaultMaxArtifactBytes,
    { min: 1, max: 1024 * 1024 * 1024 },
    'larger artifacts count as unreadable',
  ),
};

/** Settings of `almanac facts`. */
export const factsSettings = {
  host: text('host', 'HOST', '127.0.0.1', 'address to listen on'),
  port: integer('port', 'PORT', 8400, ports, 'port to listen on; 0 selects a free port'),
  basePath: text('base-path', 'PATH', '', 'prefix of every path, such as /atproto'),
  artifacts: optionalText(
    'artifacts',
    'DIR',
    'directory of labels-overview.json and weather-summary.json; default: almanac-data/artifacts',
  ),
  labelsArtifact: optionalText('labels-artifact', 'FILE|URL', 'the label artifact, instead of the one in --artifacts'),
  labelersArtifact: optionalText(
    'labelers-artifact',
    'FILE|URL',
    'the labelers artifact, with labeler-definitions.ndjson in the same place, instead of the one in --artifacts',
  ),
  weatherArtifact: optionalText(
    'weather-artifact',
    'FILE|URL',
    'the weather artifact, instead of the one in --artifacts',
  ),
  ...freshnessSettings,
  pollSeconds: integer('poll-seconds', 'S', 10, { min: 1, max: 3600 }, 'interval between fetches of an artifact URL'),
  unreachableSeconds: integer(
    'unreachable-seconds',
    'S',
    60,
    { min: 0, max: 86_400 },
    'an artifact URL that has not responded for this long counts as unreadable',
  ),
  sampleAccounts: sampleAccountSetting,
  accountUrl: optionalText('account-url', 'URL', 'URL of the account-view surface, for links on the observatory page'),
  archive: optionalText('archive', 'DIR', 'directory of an archive to serve below /archive/; default: none'),
  workers: integer('workers', 'N', 1, { min: 1, max: 64 }, 'number of processes that share the port'),
  contact: contactSetting,
  publicUrl: optionalText(
    'public-url',
    'URL',
    'public URL of this service, for links in /llms.txt, /embeds and previews',
  ),
  trustProxy: integer(
    'trust-proxy',
    'N',
    0,
    { min: 0, max: 16 },
    'number of trusted proxies: the client is the Nth address from the right in X-Forwarded-For; 0 trusts none',
  ),
  maxConnections: integer(
    'max-connections',
    'N',
    16_384,
    { min: 1, max: 1_000_000 },
    'maximum number of connections per process; above it, the connection with the longest idle time is closed',
  ),
  clientConnections: integer(
    'client-connections',
    'N',
    0,
    { min: 0, max: 1_000_000 },
    'maximum number of connections per client, without --trust-proxy; 0: unlimited',
  ),
  accessLog: toggle('access-log', 'log every request, without client addresses'),
  accessLogClients: toggle('access-log-clients', "log every request with its client's address"),
  ...serverSettings,
};

/** Resolved settings of `almanac facts`. */
export type FactsValues = Values<typeof factsSettings>;

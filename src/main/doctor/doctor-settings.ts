import { integer, optionalInteger, optionalText, text, toggle, type Values } from '../../ops/setting.ts';
import { archiveSettings } from '../archive/archive-settings.ts';
import { defaultData, factsSettings, freshnessSettings } from '../facts/facts-settings.ts';
import { labelsSettings } from '../labels/labels-settings.ts';
import { weatherSettings } from '../weather/weather-settings.ts';

/** Settings of `almanac doctor`, which include the settings of the commands that it checks. */
export const doctorSettings = {
  json: toggle('json', 'print the findings as one JSON object'),
  data: text('data', 'DIR', defaultData, 'data directory'),
  store: optionalText('store', 'URL', 'the observation store; default: "labels" in --data'),
  state: optionalText(
    'state',
    'DIR',
    'directory of the list of denied labelers, if the store is in PostgreSQL; default: "labels" in --data',
  ),
  artifacts: optionalText('artifacts', 'DIR', 'directory of the artifacts; default: "artifacts" in --data'),
  archive: optionalText('archive', 'DIR', 'directory of the archive; default: not checked'),
  archiveKey: archiveSettings.archiveKey,
  host: factsSettings.host,
  port: integer('port', 'PORT', 8400, { min: 1, max: 65_535 }, 'port of the facts API'),
  basePath: factsSettings.basePath,
  publicUrl: optionalText(
    'public-url',
    'URL',
    'public URL of the facts API, whose proxies and caches are checked; default: not checked',
  ),
  accountPort: integer('account-port', 'PORT', 8401, { min: 1, max: 65_535 }, 'port of the account-view surface'),
  metricsPort: optionalInteger(
    'metrics-port',
    'PORT',
    { min: 1, max: 65_000 },
    'first of the consecutive metrics ports (facts, weather, labels, account, and archive with --archive); default: not checked',
  ),
  jetstream: weatherSettings.jetstream,
  relay: labelsSettings.relay,
  plc: labelsSettings.plc,
  seeds: labelsSettings.seeds,
  contact: labelsSettings.contact,
  minFreeMegabytes: labelsSettings.minFreeMegabytes,
  ...freshnessSettings,
  allowLoopback: labelsSettings.allowLoopback,
};

/** The set-up that the doctor checks: its settings, with the default places of the store, its state and the artifacts. */
export interface SetUp extends Values<typeof doctorSettings> {
  readonly store: string;
  readonly state: string;
  readonly artifacts: string;
}

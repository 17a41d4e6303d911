import { optionalText, text, toggle, type Values } from '../../ops/setting.ts';
import { serverSettings } from '../facts/facts-settings.ts';
import { contactSetting } from '../shared-settings.ts';

/** Settings of `almanac archive`. */
export const archiveSettings = {
  facts: text('facts', 'URL', 'http://127.0.0.1:8400', 'URL of the facts API whose responses are archived'),
  archive: text('archive', 'DIR', 'almanac-data/archive', 'directory of the archive, which any web server can serve'),
  artifacts: optionalText(
    'artifacts',
    'DIR',
    'directory in which the instruments write weather-hours.json and labels-hours.json; default: hourly counts are not archived',
  ),
  archiveKey: optionalText(
    'archive-key',
    'FILE',
    'file of the key that signs the log, created at the first start; default: the directory with .key appended',
  ),
  logName: optionalText(
    'log-name',
    'NAME',
    'name of the log in its signatures, such as example.com/archive, for a new key; default: a random name',
  ),
  key: optionalText('key', 'KEY', 'verify: public key that must have signed the log'),
  checkpoint: optionalText(
    'checkpoint',
    'FILE',
    'verify: file in which to keep the checkpoint of an intact archive for the next verification',
  ),
  reason: optionalText('reason', 'TEXT', 'withdraw: the reason to state in the tombstone of the file'),
  json: toggle('json', 'verify: print the report as one JSON object'),
  metricsPort: serverSettings.metricsPort,
  contact: contactSetting,
  logLevel: serverSettings.logLevel,
};

/** Resolved settings of `almanac archive`. */
export type ArchiveValues = Values<typeof archiveSettings>;

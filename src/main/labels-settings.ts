import { integer, list, optionalText, text, toggle } from '../ops/setting.ts';
import { contactSetting } from './contact-setting.ts';
import { defaultData, serverSettings } from './facts-settings.ts';

/** Settings of `almanac labels`. */
export const labelsSettings = {
  store: text('store', 'URL', `sqlite:${defaultData}/labels`, 'the observation store, sqlite:DIR'),
  artifacts: text('artifacts', 'DIR', `${defaultData}/artifacts`, 'folder of the artifacts'),
  seeds: optionalText(
    'seeds',
    'FILE',
    'JSON array of {"did"} objects to begin with; the list that comes along unless given',
  ),
  relay: list(
    'relay',
    'URL',
    ['https://relay1.us-west.bsky.network', 'https://relay1.us-east.bsky.network'],
    'relay that lists labelers; may be given several times',
  ),
  plc: text('plc', 'URL', 'https://plc.directory', 'directory of did:plc'),
  jetstream: text(
    'jetstream',
    'URL',
    'wss://jetstream.us-east.bsky.network/subscribe',
    'Jetstream that names new labelers; empty for none',
  ),
  contact: contactSetting,
  publishSeconds: integer('publish-seconds', 'S', 60, { min: 1, max: 3600 }, 'how often an artifact is written'),
  discoverySeconds: integer(
    'discovery-seconds',
    'S',
    3600,
    { min: 1, max: 86_400 },
    'how often the relays are asked for labelers',
  ),
  minFreeMegabytes: integer(
    'min-free-megabytes',
    'N',
    2048,
    { min: 0, max: 100_000_000 },
    'with less free space on the disk of the store, acceptance pauses',
  ),
  dayMegabytes: integer(
    'disk-budget-megabytes-per-day',
    'N',
    0,
    { min: 0, max: 100_000_000 },
    'most that all labelers together may add to the store in a UTC day; 0: an equal part of the disk for each day that is kept',
  ),
  allowLoopback: toggle('allow-loopback', 'let connections reach this machine: for the simulated network and tests'),
  json: toggle('json', 'print JSON: for almanac labels sources'),
  reason: optionalText('reason', 'TEXT', 'why: for almanac labels hold and almanac labels deny'),
  repair: toggle('repair', 'derive again what follows from the rows; for almanac labels verify'),
  ...serverSettings,
};

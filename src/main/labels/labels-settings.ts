import { labelerLimits } from '../../labels/state/reading-state.ts';
import { integer, list, optionalText, type Setting, text, toggle } from '../../ops/setting.ts';
import { defaultData, serverSettings } from '../facts/facts-settings.ts';
import { contactSetting, plcSetting } from '../shared-settings.ts';

/** Settings of `almanac labels`. */
export const labelsSettings = {
  store: text(
    'store',
    'URL',
    `sqlite:${defaultData}/labels`,
    'the observation store, sqlite:DIR or postgres://USER@HOST/DATABASE',
  ),
  state: text(
    'state',
    'DIR',
    `${defaultData}/labels`,
    'directory of the list of denied labelers, the reports and the known labels, if the store is in PostgreSQL',
  ),
  artifacts: text('artifacts', 'DIR', `${defaultData}/artifacts`, 'directory of the artifacts'),
  seeds: optionalText('seeds', 'FILE', 'JSON array of {"did"} objects; default: the list in the package'),
  relay: list(
    'relay',
    'URL',
    ['https://relay1.us-west.bsky.network', 'https://relay1.us-east.bsky.network'],
    'relay that lists labelers; repeatable',
  ),
  plc: plcSetting,
  jetstream: {
    ...text(
      'jetstream',
      'URL',
      'wss://jetstream.us-east.bsky.network',
      'Jetstream host that announces new labelers, the first if two are given; the path selects the protocol: no path for the current method, /subscribe for the legacy one; an empty value disables it',
    ),
    // Only the first host is used. Two hosts are accepted, because the weather instrument reads the same variable.
    repeatable: true,
    parse: ([first = '']) => first,
  } satisfies Setting<string>,
  contact: contactSetting,
  publishSeconds: integer(
    'publish-seconds',
    'S',
    60,
    { min: 1, max: 3600 },
    'interval between writes of the artifact, which is also written when the first page is accepted',
  ),
  discoverySeconds: integer(
    'discovery-seconds',
    'S',
    3600,
    { min: 1, max: 86_400 },
    "interval between fetches of the relays' labeler lists",
  ),
  maxLabelers: integer(
    'max-labelers',
    'N',
    labelerLimits.default,
    { min: 1, max: labelerLimits.highest },
    'maximum number of labelers that are read at once; the others wait for a reading slot',
  ),
  minFreeMegabytes: integer(
    'min-free-megabytes',
    'N',
    2048,
    { min: 0, max: 100_000_000 },
    "acceptance pauses while the store's disk has less free space than this",
  ),
  dayMegabytes: integer(
    'disk-budget-megabytes-per-day',
    'N',
    0,
    { min: 0, max: 100_000_000 },
    'maximum amount that all labelers together may add to the store per UTC day; 0: an equal part of the disk per retained day',
  ),
  allowLoopback: toggle('allow-loopback', 'allow connections to this machine, for the simulated network and tests'),
  standby: toggle(
    'standby',
    'stand by while another instrument writes to the store, and replace that instrument without a gap',
  ),
  json: toggle('json', 'print JSON (almanac labels sources)'),
  reason: optionalText('reason', 'TEXT', 'reason for a hold or a denial (almanac labels hold and almanac labels deny)'),
  repair: toggle('repair', 'recompute everything that is derived from the rows (almanac labels verify)'),
  ...serverSettings,
};

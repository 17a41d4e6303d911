import { integer, optionalText, text, toggle } from '../ops/setting.ts';
import { contactSetting } from './contact-setting.ts';
import { defaultData, serverSettings } from './facts-settings.ts';

/** The host that is observed unless another is named. */
const defaultJetstream = 'wss://jetstream.us-east.bsky.network/subscribe';

/** Settings of `almanac weather`. */
export const weatherSettings = {
  jetstream: text(
    'jetstream',
    'URL',
    defaultJetstream,
    'the one Jetstream host to observe; the path decides how: none for the present method, /subscribe for the legacy one',
  ),
  jetstreamDictionary: optionalText(
    'jetstream-dictionary',
    'FILE',
    "the host's zstd dictionary: live reading then asks for compression, which more than halves its traffic",
  ),
  jetstreamCompress: toggle(
    'jetstream-compress',
    'ask a host of the present method for compressed frames, with the dictionary that it gives',
  ),
  data: text('data', 'DIR', defaultData, 'folder of what the instrument keeps'),
  artifacts: optionalText('artifacts', 'DIR', 'folder of the artifacts; "artifacts" in --data unless given'),
  contact: contactSetting,
  publishSeconds: integer(
    'publish-seconds',
    'S',
    60,
    { min: 1, max: 3600 },
    'how often an artifact is written; also when a window closes',
  ),
  backfillHours: integer(
    'backfill-hours',
    'N',
    1,
    { min: 0, max: 168 },
    'how far back a first start, or one after a longer stop, fills in; 0 for not at all',
  ),
  backfillMegabytes: integer(
    'backfill-megabytes',
    'N',
    4096,
    { min: 1, max: 1_000_000 },
    'most that one such filling in may read; what is left stays a gap',
  ),
  allowLoopback: toggle('allow-loopback', 'let connections reach this machine: for the simulated network and tests'),
  ...serverSettings,
};

import { integer, list, optionalText, text, toggle } from '../../ops/setting.ts';
import { contactSetting } from '../contact-setting.ts';
import { defaultData, serverSettings } from '../facts/facts-settings.ts';

/** Default Jetstream host. */
const defaultJetstream = 'wss://jetstream.us-east.bsky.network/subscribe';

/** Settings of `almanac weather`. */
export const weatherSettings = {
  jetstream: list(
    'jetstream',
    'URL',
    [defaultJetstream],
    'the Jetstream host to observe, or two, the preferred one first; the path decides how: none for the present method, /subscribe for the legacy one',
  ),
  jetstreamDictionary: optionalText(
    'jetstream-dictionary',
    'FILE',
    "the host's zstd dictionary: enables compression for live reading, which more than halves its traffic",
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
    'how often the artifact is written; also written when a window closes',
  ),
  backfillHours: integer(
    'backfill-hours',
    'N',
    1,
    { min: 0, max: 168 },
    'how far back to fill in after a first start or a longer stop; 0: not at all',
  ),
  backfillMegabytes: integer(
    'backfill-megabytes',
    'N',
    4096,
    { min: 1, max: 1_000_000 },
    'maximum that one backfill may read; the rest stays a gap',
  ),
  allowLoopback: toggle('allow-loopback', 'allow connections to this machine, for the simulated network and tests'),
  ...serverSettings,
};

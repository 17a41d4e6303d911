import { integer, list, optionalText, text, toggle } from '../../ops/setting.ts';
import { defaultData, serverSettings } from '../facts/facts-settings.ts';
import { contactSetting } from '../shared-settings.ts';

/** Default Jetstream host. */
const defaultJetstream = 'wss://jetstream.us-east.bsky.network';

/** Settings of `almanac weather`. */
export const weatherSettings = {
  jetstream: list(
    'jetstream',
    'URL',
    [defaultJetstream],
    'the Jetstream host to observe, or two, the preferred one first; the path selects the protocol: no path for the current method, /subscribe for the legacy one',
  ),
  jetstreamDictionary: optionalText(
    'jetstream-dictionary',
    'FILE',
    "the host's zstd dictionary: enables compression for live reading, which more than halves its traffic",
  ),
  jetstreamCompress: toggle(
    'jetstream-compress',
    'request compressed frames from a host that uses the current method, with the dictionary that the host serves',
  ),
  data: text('data', 'DIR', defaultData, 'data directory of the instrument'),
  artifacts: optionalText('artifacts', 'DIR', 'directory of the artifacts; default: "artifacts" in --data'),
  contact: contactSetting,
  publishSeconds: integer(
    'publish-seconds',
    'S',
    60,
    { min: 1, max: 3600 },
    'interval between writes of the artifact, which is also written when a window closes',
  ),
  backfillHours: integer(
    'backfill-hours',
    'N',
    1,
    { min: 0, max: 168 },
    'maximum age of missed time that is backfilled at startup; 0 disables backfills',
  ),
  backfillMegabytes: integer(
    'backfill-megabytes',
    'N',
    4096,
    { min: 1, max: 1_000_000 },
    'maximum amount that one backfill may read; the rest remains a gap',
  ),
  allowLoopback: toggle('allow-loopback', 'allow connections to this machine, for the simulated network and tests'),
  ...serverSettings,
};

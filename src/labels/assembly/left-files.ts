import { artifactNames } from '../../artifact/write.ts';
import type { Log } from '../../ops/log.ts';
import { sweepTemporaries } from '../../ops/temporaries.ts';
import { recordName } from './heartbeat.ts';

/**
 * Files of the instrument. `almanac labels hold` and `release` replace two of them, and try again if their temporary
 * file was removed. The temporary files of `labels-hold.json` stay.
 */
const names = [
  ...[artifactNames.labels, artifactNames.labelers, artifactNames.labelerDefinitions, artifactNames.labelsHours],
  recordName,
];

/**
 * Removes the temporary files that a killed instrument left in the directory of the artifacts. The caller must be the
 * writer of the store. Never rejects.
 */
export function sweepArtifactTemporaries(artifacts: string, log: Log): Promise<void> {
  return sweepTemporaries(artifacts, names, log);
}

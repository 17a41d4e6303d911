import { artifactNames } from '../../artifact/write.ts';
import type { Log } from '../../ops/log.ts';
import { sweepTemporaries } from '../../ops/temporaries.ts';
import { recordName } from './heartbeat.ts';

/**
 * Files that only the writer of the store replaces. The operator may be writing `labels-hold.json`, so its temporary
 * files stay.
 */
const names = [
  ...[artifactNames.labels, artifactNames.labelers, artifactNames.labelerDefinitions, artifactNames.labelsHours],
  recordName,
];

/**
 * Removes the temporary files that a killed instrument left in the directory of the artifacts. The caller must be the
 * writer of the store. Never rejects.
 */
export function sweepArtifacts(artifacts: string, log: Log): Promise<void> {
  return sweepTemporaries(artifacts, names, log);
}

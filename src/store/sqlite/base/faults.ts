/**
 * Points at which a test may interrupt the store: a hook throws an error or ends the process. Production code passes no
 * hook.
 */
export const faultPoints = [
  'migrate.changed',
  'migrate.recorded',
  'migrate.committed',
  'append.rows',
  'append.counters',
  'append.positions',
  'append.committed',
  'rollover.made',
  'rollover.created',
  'seal.written',
  'seal.renamed',
  'seal.recorded',
  'expire.floor',
  'purge.begun',
  'purge.removed',
  'purge.emptied',
  'purge.written',
  'purge.renamed',
  'purge.recorded',
  'checksums.written',
  'checksums.renamed',
] as const;

/** Fault points of the commands that move a whole store: `restore` and `new-epoch`. */
export const moveFaultPoints = [
  'new-epoch.begun',
  'new-epoch.days',
  'new-epoch.state',
  'restore.copied',
  'restore.verified',
  'restore.days',
  'restore.state',
] as const;

export type FaultPoint = (typeof faultPoints)[number] | (typeof moveFaultPoints)[number];

/** Hook that is called whenever a fault point is reached. */
export type Faults = (point: FaultPoint) => void;

import { addDays, closesAt } from '../days/calendar.ts';
import { type DayLeaf, parseLeaf } from '../days/leaf.ts';
import { type Checkpoint, openCheckpoint } from '../log/checkpoint.ts';
import { parseVerifierKey, type VerifierKey } from '../log/keys.ts';
import { consistencyProof, leafHash, treeHash } from '../log/merkle.ts';
import { verifyConsistency } from '../log/proofs.ts';
import { bundlePath, parseBundle, tileBytes, tilePath, tilesOf } from '../log/tiles.ts';
import { checkpointPath, logFolder } from '../signing/log-files.ts';
import type { ArchiveReader } from './archive-reader.ts';
import { type Finding, orReport } from './finding.ts';

/** Maximum number of days of a log that is verified. */
const maxDays = 100_000;

/** A log whose signature is valid, with its closed days. */
export interface VerifiedLog {
  readonly checkpoint: Checkpoint;
  /** Signed note with the checkpoint. */
  readonly note: Buffer;
  /** Null for an entry that is not a day. */
  readonly days: readonly (DayLeaf | null)[];
}

/** Dependencies of the verification of a log. */
export interface LogVerification {
  readonly reader: ArchiveReader;
  readonly key: VerifierKey;
  /** Text form of the key that the archive itself names. */
  readonly ownKey: string;
  /** Checkpoint of an earlier verification, which was verified with `key`. */
  readonly kept: Checkpoint | null;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly report: (finding: Finding) => void;
}

/** Verifies the checkpoint, the tiles and the entries of a log. Resolves with null if no day can be trusted. */
export async function verifyLog(options: LogVerification): Promise<VerifiedLog | null> {
  const { reader, report } = options;
  const note = await reader.read(checkpointPath);
  if (!note) {
    if (options.kept) {
      report({ kind: 'rollback', path: checkpointPath, message: `the kept checkpoint has ${options.kept.size} days` });
    }
    report({ kind: 'missing', path: checkpointPath, message: 'the log has no checkpoint' });
    return null;
  }
  const checkpoint = openHead(note, options);
  if (!checkpoint) return null;
  const entries = await readEntries(checkpoint, options);
  if (!entries) return null;
  const leaves = entries.map(leafHash);
  if (!treeHash(leaves).equals(checkpoint.root)) {
    report({ kind: 'log', path: checkpointPath, message: 'the entries do not have the root hash of the checkpoint' });
    return null;
  }
  verifyKept(leaves, checkpoint, options);
  const days = entries.map(parseLeaf);
  verifyOrder(days, options);
  await orReport('log/tile', report, () => verifyTiles(leaves, options));
  return { checkpoint, note, days };
}

function openHead(note: Buffer, { key, ownKey, report }: LogVerification): Checkpoint | null {
  const opened = openCheckpoint(note, key);
  if (opened.kind === 'verified') return opened.checkpoint;
  const own = parseVerifierKey(ownKey);
  if (opened.kind === 'unknown_key' && own && openCheckpoint(note, own).kind === 'verified') {
    report({ kind: 'key', path: checkpointPath, message: `the key is ${own.text}, not ${key.text}` });
    return null;
  }
  const why = opened.kind === 'unknown_key' ? `the key ${key.text} has not signed it` : opened.kind.replace('_', ' ');
  report({ kind: 'signature', path: checkpointPath, message: why });
  return null;
}

async function readEntries({ size }: Checkpoint, { reader, report }: LogVerification): Promise<Buffer[] | null> {
  if (size > maxDays) {
    report({ kind: 'malformed', path: checkpointPath, message: `the log has more than ${maxDays} entries` });
    return null;
  }
  const entries: Buffer[] = [];
  for (const shape of tilesOf(size).filter(({ level }) => level === 0)) {
    const path = logFolder + bundlePath(shape);
    const bytes = await reader.read(path);
    const bundle = bytes && parseBundle(bytes, shape.width);
    if (!bytes) report({ kind: 'missing', path, message: 'the entries do not exist' });
    else if (!bundle) report({ kind: 'log', path, message: `it does not contain ${shape.width} entries` });
    if (!bundle) return null;
    entries.push(...bundle);
  }
  return entries;
}

async function verifyTiles(leaves: readonly Buffer[], { reader, report }: LogVerification): Promise<void> {
  for (const shape of tilesOf(leaves.length)) {
    const path = logFolder + tilePath(shape);
    const bytes = await reader.read(path);
    if (!bytes) report({ kind: 'missing', path, message: 'the tile does not exist' });
    else if (!tileBytes(leaves, shape).equals(bytes)) {
      report({ kind: 'log', path, message: 'the tile does not match the entries' });
    }
  }
}

function verifyKept(leaves: readonly Buffer[], checkpoint: Checkpoint, { kept, report }: LogVerification): void {
  if (!kept) return;
  const { size, root } = checkpoint;
  if (kept.size > size) {
    report({
      kind: 'rollback',
      path: checkpointPath,
      message: `${size} days, but the kept checkpoint has ${kept.size}`,
    });
    return;
  }
  const proof = consistencyProof(leaves, kept.size);
  if (verifyConsistency({ oldSize: kept.size, oldRoot: kept.root, size, root, proof })) return;
  report({
    kind: 'fork',
    path: checkpointPath,
    message: `the first ${kept.size} days are not those of the kept checkpoint`,
  });
}

function verifyOrder(days: readonly (DayLeaf | null)[], { now, report }: LogVerification): void {
  for (const [index, leaf] of days.entries()) {
    const previous = days[index - 1];
    const path = logFolder;
    if (!leaf) {
      report({ kind: 'malformed', path, message: `entry ${index} is not a day` });
    } else if (previous && leaf.day !== addDays(previous.day, 1)) {
      report({ kind: 'order', path, message: `${leaf.day} follows ${previous.day}` });
    } else if (now < closesAt(leaf.day)) {
      report({ kind: 'order', path, message: `${leaf.day} was closed before its time` });
    }
  }
}

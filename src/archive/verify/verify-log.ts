import { addDays, closesAt } from '../days/calendar.ts';
import { type DayLeaf, parseLeaf } from '../days/records.ts';
import { checkpointPath, logFolder } from '../log/day-log.ts';
import { consistencyProof, leafHash, treeHash, verifyConsistency } from '../log/merkle.ts';
import { type Checkpoint, openCheckpoint, parseVerifierKey, type VerifierKey } from '../log/note.ts';
import { bundlePath, parseBundle, parseTile, tileBytes, tilePath, tilesOf } from '../log/tiles.ts';
import { type ArchiveReader, orReport } from './archive-reader.ts';
import type { Finding } from './finding.ts';

/** Maximum number of entries of a log that is verified. */
const maxDays = 100_000;

/** A log whose signature is valid, with its closed days. */
export interface VerifiedLog {
  readonly checkpoint: Checkpoint;
  /** Signed note with the checkpoint. */
  readonly note: Buffer;
  /** Closed days; null for an entry that is not a day. */
  readonly days: readonly (DayLeaf | null)[];
}

/** Dependencies of `verifyLog`. */
interface LogVerification {
  readonly reader: ArchiveReader;
  readonly key: VerifierKey;
  /** Text form of the key that the archive itself names; null if the archive has no index. */
  readonly ownKey: string | null;
  /** Checkpoint that an earlier verification kept. Its signature by `key` has been verified. Null at first contact. */
  readonly kept: Checkpoint | null;
  /** Current time in milliseconds since 1970. */
  readonly now: number;
  readonly report: (finding: Finding) => void;
}

/**
 * Verifies the checkpoint, the tiles and the entries of a log. Resolves with null if no day can be trusted. Rejects
 * with OperatorError only if the checkpoint itself cannot be read, and with ReadingLimitError if a limit is reached.
 */
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
  if (!checkpoint || checkpoint.size > maxDays) {
    const message = `the log has more than ${maxDays} entries`;
    if (checkpoint) report({ kind: 'malformed', path: checkpointPath, message });
    return null;
  }
  const isContinued = comparedHeads(checkpoint, options);
  const entries = await orReport(logFolder, report, () => readEntries(checkpoint, options));
  if (entries === null || !treeHash(entries.leaves).equals(checkpoint.root)) {
    const message = 'the entries do not match the root hash in the checkpoint';
    if (entries) report({ kind: 'log', path: checkpointPath, message });
    if (isContinued === null) await orReport(logFolder, report, () => compareByTiles(checkpoint, options));
    return null;
  }
  const { leaves, days } = entries;
  if (isContinued === null) compareTrees(leaves, checkpoint, options);
  verifyOrder(days, options);
  await orReport(logFolder, report, () => verifyTiles(leaves, options));
  return { checkpoint, note, days };
}

function openHead(note: Buffer, { key, ownKey, report }: LogVerification): Checkpoint | null {
  const opened = openCheckpoint(note, key);
  if (opened.kind === 'verified') return opened.checkpoint;
  const own = parseVerifierKey(ownKey ?? '');
  if (opened.kind === 'unknown_key' && own && openCheckpoint(note, own).kind === 'verified') {
    report({ kind: 'key', path: checkpointPath, message: `the key is ${own.text}; expected ${key.text}` });
    return null;
  }
  const why =
    opened.kind === 'unknown_key' ? `the key ${key.text} has not signed the checkpoint` : opened.kind.replace('_', ' ');
  report({ kind: 'signature', path: checkpointPath, message: why });
  return null;
}

/**
 * Entries of a log: their leaf hashes, and their days. The bytes are not kept, because a bundle of 256 entries may be
 * 16 MiB long.
 */
interface LogEntries {
  readonly leaves: Buffer[];
  readonly days: (DayLeaf | null)[];
}

async function readEntries({ size }: Checkpoint, { reader, report }: LogVerification): Promise<LogEntries | null> {
  const entries: LogEntries = { leaves: [], days: [] };
  for (const shape of tilesOf(size).filter(({ level }) => level === 0)) {
    const path = logFolder + bundlePath(shape);
    const bytes = await reader.read(path);
    const bundle = bytes && parseBundle(bytes, shape.width);
    if (!bytes) report({ kind: 'missing', path, message: 'the entries do not exist' });
    else if (!bundle) report({ kind: 'log', path, message: `the bundle does not contain ${shape.width} entries` });
    if (!bundle) return null;
    entries.leaves.push(...bundle.map(leafHash));
    entries.days.push(...bundle.map(parseLeaf));
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

/**
 * Compares the checkpoint with the kept one. Reports a log that has fewer entries than the kept checkpoint, or the
 * same number of entries but a different root. Returns true if the log continues the kept checkpoint or no checkpoint
 * is kept, false after a report, and null if a consistency proof is required.
 */
function comparedHeads({ size, root }: Checkpoint, { kept, report }: LogVerification): boolean | null {
  if (!kept) return true;
  if (kept.size > size) {
    const message = `the log has ${size} days, but the kept checkpoint has ${kept.size}`;
    report({ kind: 'rollback', path: checkpointPath, message });
    return false;
  }
  if (kept.size < size) return null;
  if (kept.root.equals(root)) return true;
  reportFork(kept, report);
  return false;
}

function compareTrees(leaves: readonly Buffer[], { size, root }: Checkpoint, { kept, report }: LogVerification): void {
  if (!kept) return;
  const proof = consistencyProof(leaves, kept.size);
  if (verifyConsistency({ oldSize: kept.size, oldRoot: kept.root, size, root, proof })) return;
  reportFork(kept, report);
}

function reportFork({ size }: Checkpoint, report: LogVerification['report']): void {
  const message = `the first ${size} days differ from those of the kept checkpoint`;
  report({ kind: 'fork', path: checkpointPath, message });
}

/**
 * Compares the log with the kept checkpoint using the hashes in the tiles, so that a fork is found even if the entries
 * cannot be read.
 */
async function compareByTiles(checkpoint: Checkpoint, options: LogVerification): Promise<void> {
  const leaves: Buffer[] = [];
  for (const shape of tilesOf(checkpoint.size).filter(({ level }) => level === 0)) {
    const bytes = await options.reader.read(logFolder + tilePath(shape));
    leaves.push(...((bytes && parseTile(bytes, shape.width)) ?? []));
  }
  if (leaves.length === checkpoint.size && treeHash(leaves).equals(checkpoint.root)) {
    return compareTrees(leaves, checkpoint, options);
  }
  const message = 'neither the entries nor the tiles show that the log continues the kept checkpoint';
  options.report({ kind: 'log', path: checkpointPath, message });
}

function verifyOrder(days: readonly (DayLeaf | null)[], { now, report }: LogVerification): void {
  for (const [index, leaf] of days.entries()) {
    const previous = days[index - 1];
    const path = logFolder;
    if (!leaf) {
      report({ kind: 'malformed', path, message: `entry ${index} of the log is not a day` });
    } else if (previous && leaf.day !== addDays(previous.day, 1)) {
      report({ kind: 'order', path, message: `the log lists ${leaf.day} directly after ${previous.day}` });
    } else if (now < closesAt(leaf.day)) {
      report({ kind: 'order', path, message: `${leaf.day} was closed too early` });
    }
  }
}

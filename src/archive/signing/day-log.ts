import { readFileSync } from 'node:fs';
import { OperatorError, systemCode, systemWords } from '../../ops/errors.ts';
import { addDays } from '../days/calendar.ts';
import { type DayLeaf, formatLeaf, parseLeaf } from '../days/records.ts';
import { type ArchiveFiles, replaceFile } from '../files/archive-files.ts';
import { leafHash, treeHash } from '../log/merkle.ts';
import { type Checkpoint, openCheckpoint, type SignerKey, signCheckpoint } from '../log/note.ts';
import { checkpointPath, filesAfter, hasRoot, readEntries } from './log-files.ts';

/** The log of closed days of one archive. */
export interface DayLog {
  /** Returns the closed days in ascending order. */
  leaves(): readonly DayLeaf[];
  /**
   * Appends a day durably. Throws the system's error if a file cannot be written; another call with the same day
   * completes the append. Throws an error for a day that does not directly follow the last one.
   */
  append(leaf: DayLeaf): void;
  /** Publishes a checkpoint that an earlier process signed but did not publish. Throws the same errors as `append`. */
  complete(): void;
}

/** Options for opening a log. */
interface DayLogOptions {
  readonly files: ArchiveFiles;
  readonly key: SignerKey;
  readonly kept: KeptHead;
}

/**
 * The last checkpoint that the key signed. It is stored outside the archive, because a restored archive may be older.
 */
export interface KeptHead {
  /** Name of the storage location, for messages. */
  readonly name: string;
  /** Returns the stored checkpoint; null if nothing was signed yet. */
  read(): Buffer | null;
  /** Replaces the checkpoint atomically and durably; throws the system's error on failure. */
  write(note: Buffer): void;
}

/** Stores the last signed checkpoint in a file. */
export function keptInFile(path: string): KeptHead {
  return { name: path, read: () => readKept(path), write: (note) => replaceFile(path, note, 0o600) };
}

/**
 * Opens the log. Throws OperatorError if the log is damaged, if another key signed it, or if it lacks days that the key
 * has signed: continuing it would contradict the published log.
 */
export function openDayLog(options: DayLogOptions): DayLog {
  const { files, key } = options;
  const published = opened('its checkpoint', files.read(checkpointPath), key);
  const kept = opened(options.kept.name, options.kept.read(), key);
  const head = (kept?.size ?? 0) > (published?.size ?? 0) ? kept : published;
  const entries = head ? readEntries(head.size, files.read) : [];
  const leaves = (entries ?? []).map(leafHash);
  if (entries === null || [head, published, kept].some((one) => one && !hasRoot(leaves, one))) {
    throw new OperatorError(
      `the log of the archive lacks days that its key has signed (${head?.size ?? 0} in total); restore a newer copy of the archive, or start a new one with a new key`,
    );
  }
  return new SignedLog(options, entries, published?.size ?? 0);
}

function opened(source: string, note: Buffer | null, key: SignerKey): Checkpoint | null {
  if (note === null) return null;
  const result = openCheckpoint(note, key.verifier);
  if (result.kind === 'verified') return result.checkpoint;
  const why = result.kind === 'unknown_key' ? 'was signed by another key' : 'is damaged';
  throw new OperatorError(`the log of the archive cannot be continued: ${source} ${why}`);
}

function readKept(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw new OperatorError(`cannot read ${path}: ${systemWords(error)}`);
  }
}

class SignedLog implements DayLog {
  readonly #options: DayLogOptions;
  readonly #entries: Buffer[];
  readonly #hashes: Buffer[];
  readonly #leaves: DayLeaf[];
  /** Number of entries in the published tree, whose tiles are all written. */
  #published: number;

  constructor(options: DayLogOptions, entries: readonly Buffer[], published: number) {
    this.#options = options;
    this.#entries = [...entries];
    this.#hashes = entries.map(leafHash);
    this.#published = published;
    this.#leaves = entries.map((entry) => {
      const leaf = parseLeaf(entry);
      if (!leaf) throw new OperatorError('the log of the archive has an entry that is not a day');
      return leaf;
    });
  }

  leaves(): readonly DayLeaf[] {
    return this.#leaves.slice(0, this.#published);
  }

  complete(): void {
    if (this.#entries.length > this.#published) this.#publish();
  }

  append(leaf: DayLeaf): void {
    const last = this.#leaves[this.#published - 1];
    if (last && leaf.day !== addDays(last.day, 1))
      throw new Error('a day must be appended to the log directly after its predecessor');
    // Discard the entries of a failed append.
    for (const list of [this.#entries, this.#hashes, this.#leaves]) list.length = this.#published;
    const entry = formatLeaf(leaf);
    this.#entries.push(entry);
    this.#hashes.push(leafHash(entry));
    this.#leaves.push(leaf);
    this.#publish();
  }

  /**
   * Writes the files of the tree. Then signs its checkpoint, and stores it first next to the key and then in the
   * archive.
   */
  #publish(): void {
    const { files, key, kept } = this.#options;
    for (const { path, bytes } of filesAfter(this.#published, this.#entries, this.#hashes)) files.replace(path, bytes);
    const size = this.#entries.length;
    const note = Buffer.from(signCheckpoint({ size, root: treeHash(this.#hashes) }, key));
    kept.write(note);
    files.replace(checkpointPath, note);
    this.#published = size;
  }
}

import { readFileSync, statSync } from 'node:fs';
import { OperatorError, systemCode, systemWords } from '../../ops/errors.ts';
import { addDays } from '../days/calendar.ts';
import { type DayLeaf, formatLeaf, parseLeaf } from '../days/records.ts';
import { type ArchiveFiles, replaceFile } from '../files/archive-files.ts';
import { leafHash, treeHash } from './merkle.ts';
import {
  type Checkpoint,
  isKeyName,
  openCheckpoint,
  parseSignerKey,
  type SignerKey,
  signCheckpoint,
  signerKey,
} from './note.ts';
import { bundlePath, formatBundle, newTiles, parseBundle, tileBytes, tilePath, tilesOf, tileWidth } from './tiles.ts';

/** Directory of the log, relative to the archive. */
export const logFolder = 'log/';
/** Path of the log's signed checkpoint, relative to the archive. */
export const checkpointPath = `${logFolder}checkpoint`;

/**
 * Path of the log's public key as a line of text (C2SP signed-note), relative to the archive. Its name is the origin of
 * the log, so a reader of the C2SP formats needs only the directory of the log.
 */
export const publicKeyPath = `${logFolder}vkey`;

/** Returns the bytes of the file of the public key. */
export function formatPublicKey(key: string): Buffer {
  return Buffer.from(`${key}\n`);
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

/** Options for opening a log with a key file. */
interface KeyFileOptions {
  readonly files: ArchiveFiles;
  /** Path of the key file. The file of the last signed checkpoint, `PATH.checkpoint`, is next to it. */
  readonly path: string;
  /** Name of a new key, which is also the origin of its log. */
  readonly name: string;
  /** Returns `count` random bytes. */
  readonly random: (count: number) => Buffer;
}

/**
 * Opens the log that the key in a file signs. Creates a key with mode 600 if there is no key file, no log and no
 * stored checkpoint. Throws OperatorError if the name is invalid, if the key file cannot be used, if other users can read
 * it, if it is missing although its key has signed days, or if the log cannot be continued.
 */
export function openLogWithKeyFile(options: KeyFileOptions): DayLog {
  const { files, path, name } = options;
  if (!isKeyName(name)) throw new OperatorError('--log-name requires a name without spaces or plus signs');
  const kept = keptInFile(`${path}.checkpoint`);
  return new DayLog({ files, key: readOrCreateKey(options, kept), kept });
}

/** Stores the last signed checkpoint in a file. */
export function keptInFile(path: string): KeptHead {
  return { name: path, read: () => readKept(path), write: (note) => replaceFile(path, note, 0o600) };
}

/** The log of closed days of one archive. */
export class DayLog {
  /** The public key of the log in text form. */
  readonly key: string;
  readonly #options: DayLogOptions;
  readonly #entries: Buffer[];
  readonly #hashes: Buffer[];
  readonly #leaves: DayLeaf[];
  /** Number of entries in the published tree, whose tiles are all written. */
  #published: number;

  /**
   * Opens the log. Throws OperatorError if the log is damaged, if another key signed it, or if it lacks days that the key
   * has signed: continuing it would contradict the published log.
   */
  constructor(options: DayLogOptions) {
    const { files, key } = options;
    const published = opened('its checkpoint', files.read(checkpointPath), key);
    const kept = opened(options.kept.name, options.kept.read(), key);
    const head = (kept?.size ?? 0) > (published?.size ?? 0) ? kept : published;
    const entries = head ? readEntries(head.size, files.read) : [];
    const hashes = (entries ?? []).map(leafHash);
    if (entries === null || [head, published, kept].some((one) => one && !hasRoot(hashes, one))) {
      throw new OperatorError(
        `the log of the archive lacks days that its key has signed (${head?.size ?? 0} in total); restore a newer copy of the archive, or start a new one with a new key: move the directory of the archive, the key file and ${options.kept.name} aside together`,
      );
    }
    this.key = key.verifier.text;
    this.#options = options;
    this.#entries = entries;
    this.#hashes = hashes;
    this.#leaves = entries.map(leafOf);
    this.#published = published?.size ?? 0;
  }

  /** Returns the closed days in ascending order. */
  leaves(): readonly DayLeaf[] {
    return this.#leaves.slice(0, this.#published);
  }

  /** Publishes a checkpoint that an earlier process signed but did not publish. Throws the same errors as `append`. */
  complete(): void {
    if (this.#entries.length > this.#published) this.#publish();
  }

  /**
   * Appends a day durably. Throws the system's error if a file cannot be written; another call with the same day
   * completes the append. Throws an error for a day that does not directly follow the last one.
   */
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

function leafOf(entry: Buffer): DayLeaf {
  const leaf = parseLeaf(entry);
  if (!leaf) throw new OperatorError('the log of the archive has an entry that is not a day');
  return leaf;
}

/** A tile or entry bundle of the log, with its path relative to the archive. */
interface LogFile {
  readonly path: string;
  readonly bytes: Buffer;
}

/** Returns the tiles and bundles that a log of these entries has but a log of the first `oldSize` entries lacks. */
export function filesAfter(oldSize: number, entries: readonly Buffer[], leaves: readonly Buffer[]): LogFile[] {
  return newTiles(oldSize, entries.length).flatMap((shape) => {
    const start = shape.index * tileWidth;
    const tile = { path: logFolder + tilePath(shape), bytes: tileBytes(leaves, shape) };
    if (shape.level > 0) return [tile];
    const bundle = formatBundle(entries.slice(start, start + shape.width));
    return [{ path: logFolder + bundlePath(shape), bytes: bundle }, tile];
  });
}

/** Reads the entries of a log with `size` entries from its bundles; null if a bundle is missing or damaged. */
function readEntries(size: number, read: (path: string) => Buffer | null): Buffer[] | null {
  const entries: Buffer[] = [];
  for (const shape of tilesOf(size).filter(({ level }) => level === 0)) {
    const bytes = read(logFolder + bundlePath(shape));
    const bundle = bytes && parseBundle(bytes, shape.width);
    if (!bundle) return null;
    entries.push(...bundle);
  }
  return entries;
}

/** Returns true if the tree of the first `size` leaves has this root. */
function hasRoot(leaves: readonly Buffer[], { size, root }: { size: number; root: Buffer }): boolean {
  return size <= leaves.length && treeHash(leaves, 0, size).equals(root);
}

function readOrCreateKey({ files, path, name, random }: KeyFileOptions, kept: KeptHead): SignerKey {
  const hasSigned = files.read(checkpointPath) !== null || kept.read() !== null;
  try {
    const text = readKeyText(path);
    if (text !== null) return parsed(path, text);
    // A new key could not continue the log, and the checkpoint of the lost one would prevent each later start.
    if (hasSigned) {
      throw new OperatorError(
        `the key file ${path} is missing, but its key has signed closed days; restore the file, or start a new archive: move the directory of the archive and ${kept.name} aside together`,
      );
    }
    const key = signerKey(name, random(32));
    replaceFile(path, Buffer.from(`${key.text}\n`), 0o600);
    return key;
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`cannot read or create the key file ${path}: ${systemWords(error)}`);
  }
}

function readKeyText(path: string): string | null {
  try {
    const { mode } = statSync(path);
    if ((mode & 0o077) !== 0)
      throw new OperatorError(`the key file ${path} is accessible to other users: run chmod 600 on it`);
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    throw error;
  }
}

function parsed(path: string, text: string): SignerKey {
  const key = parseSignerKey(text.trim());
  if (!key) throw new OperatorError(`the key file ${path} does not contain a signing key`);
  return key;
}

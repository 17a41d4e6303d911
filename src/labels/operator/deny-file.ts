import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { canonicalDid } from '../../contract/identifiers.ts';
import { parseTimestamp } from '../../contract/timestamp.ts';
import { isObject } from '../../input/json-budget.ts';
import { makeFolder, OperatorError, permissionAdvice, systemCode, systemWords } from '../../ops/errors.ts';
import { type DenyTarget, domainsOfLabeler, parseDenyTarget, targetText } from './deny-target.ts';

/**
 * The list of denied labelers as a file next to the store: `{"denied": [{"did" or "domain", "reason", "since",
 * "purge"}]}`. Only the operator's commands write it; the instrument only reads it. Each change replaces the whole
 * file, so a reader sees either the old list or the new one.
 */

/** Maximum size of the file, in bytes. */
const maxFileBytes = 16 * 1024 * 1024;
/** Maximum time for which a command waits for another command that is changing the list, in milliseconds. */
const lockWaitMs = 2_000;

/** Interval between attempts to get the lock, in milliseconds. */
const lockLookMs = 50;

/** Returns the path of the file that lists the denied labelers of a store. */
export function denyPath(storeFolder: string): string {
  return join(storeFolder, 'labels-denied.json');
}

/**
 * Result of reading the file: the list, no file, or the reason why the list cannot be used. `isReadable` is false if
 * the file itself could not be read.
 */
type DenyReading =
  | { readonly kind: 'list'; readonly list: DenyList }
  | { readonly kind: 'absent' }
  | { readonly kind: 'damaged'; readonly why: string; readonly isReadable: boolean };

/** Reads the list from the file. Never rejects; the result for an unreadable file is `damaged`. */
export async function readDenyFile(storeFolder: string): Promise<DenyReading> {
  let text: string;
  try {
    text = await readBounded(denyPath(storeFolder));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return { kind: 'absent' };
    if (systemCode(error) === null) return { kind: 'damaged', why: messageOf(error), isReadable: true };
    const why = [systemWords(error), permissionAdvice(error)].filter((part) => part !== null).join(': ');
    return { kind: 'damaged', why, isReadable: false };
  }
  try {
    return { kind: 'list', list: parseDenyList(text) };
  } catch (error) {
    return { kind: 'damaged', why: messageOf(error), isReadable: true };
  }
}

/**
 * Returns the list, which is empty if there is no file. Throws an OperatorError with a remedy if the file is damaged.
 */
export async function requireDenyList(storeFolder: string): Promise<DenyList> {
  const reading = await readDenyFile(storeFolder);
  if (reading.kind === 'list') return reading.list;
  if (reading.kind === 'absent') return emptyDenyList;
  if (!reading.isReadable)
    throw new OperatorError(`the list of denied labelers ${denyPath(storeFolder)} cannot be read: ${reading.why}`);
  throw new OperatorError(
    `the list of denied labelers ${denyPath(storeFolder)} is invalid: ${reading.why}; correct it or restore a ` +
      'copy, or move it aside to deny no labeler',
  );
}

/**
 * Changes the list: reads it, applies `change`, and replaces the file durably. The new file also serves as the lock, so
 * that concurrent commands lose no entry. Returns the list before and after. Throws an OperatorError, and leaves the
 * file unchanged, if another command holds the lock for too long, the current list is damaged, or the new list exceeds
 * its limits.
 */
export async function changeDenyFile(
  storeFolder: string,
  change: (list: DenyList) => DenyList | Promise<DenyList>,
): Promise<{ readonly before: DenyList; readonly after: DenyList }> {
  makeFolder(storeFolder);
  const path = denyPath(storeFolder);
  const temporary = `${path}.new`;
  const file = await openExclusively(temporary);
  try {
    const before = await requireDenyList(storeFolder);
    const after = await change(before);
    if (after.entries.length > maxDenyEntries) {
      throw new OperatorError(
        `the list can have at most ${maxDenyEntries} entries; deny a domain instead of each of its labelers`,
      );
    }
    const text = formatDenyList(after);
    if (Buffer.byteLength(text) > maxFileBytes)
      throw new OperatorError('the list exceeds its maximum size; use shorter reasons');
    await file.writeFile(text);
    await file.sync();
    await file.close();
    await rename(temporary, path);
    await syncFolder(storeFolder);
    return { before, after };
  } catch (error) {
    await file.close().catch(() => undefined);
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}

/** Formats a list as JSON. */
export function formatDenyList({ entries }: DenyList): string {
  const denied = entries.map(({ target, reason, since, purge }) => ({
    ...(target.kind === 'did' ? { did: target.did } : { domain: target.domain }),
    ...(reason === null ? {} : { reason }),
    since,
    ...(purge === null ? {} : { purge }),
  }));
  return `${JSON.stringify({ denied }, null, 1)}\n`;
}

/** Parses a list. Throws an Error that describes the first defect. */
export function parseDenyList(text: string): DenyList {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error('the file is not JSON');
  }
  if (!isObject(value) || !Array.isArray(value.denied)) throw new Error('the file has no "denied" array');
  if (value.denied.length > maxDenyEntries) throw new Error(`the file has more than ${maxDenyEntries} entries`);
  const entries = value.denied.map((entry: unknown, at) => parseEntry(entry, at + 1));
  const listed = new Set<string>();
  for (const [at, { target }] of entries.entries()) {
    const name = targetText(target);
    if (listed.has(name)) throw new Error(`entry ${at + 1}: an earlier entry also denies ${name}`);
    listed.add(name);
  }
  return new DenyList(entries);
}

function parseEntry(value: unknown, number: number): DenyEntry {
  const invalid = (why: string): Error => new Error(`entry ${number}: ${why}`);
  if (!isObject(value)) throw invalid('the entry is not an object');
  const { did, domain, reason = null, since, purge = null } = value;
  const named = typeof did === 'string' ? did : domain;
  if (typeof named !== 'string' || (did !== undefined && domain !== undefined))
    throw invalid('exactly one of "did" and "domain" is required');
  const target = targetOf(named, invalid);
  if (target.kind !== (did === undefined ? 'domain' : 'did') || targetText(target) !== named) {
    throw invalid(`${JSON.stringify(named.slice(0, 100))} must be spelled ${targetText(target)}`);
  }
  if (reason !== null && (typeof reason !== 'string' || reason.length > maxDenyReasonLength)) {
    throw invalid(`"reason" is not a string of at most ${maxDenyReasonLength} characters`);
  }
  if (!isInstant(since)) throw invalid('"since" is not an RFC 3339 time in UTC');
  if (purge !== null && (!isInstant(purge) || target.kind === 'domain'))
    throw invalid('"purge" is not an RFC 3339 time, or the entry has no DID');
  return { target, reason, since, purge };
}

function targetOf(text: string, invalid: (why: string) => Error): DenyTarget {
  try {
    return parseDenyTarget(text.includes(':') && !text.startsWith('did:') ? `[${text}]` : text);
  } catch (error) {
    throw invalid(messageOf(error));
  }
}

function isInstant(value: unknown): value is string {
  return typeof value === 'string' && parseTimestamp(value) !== null;
}

async function readBounded(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    if (size > maxFileBytes) throw new Error(`the file is larger than ${maxFileBytes} bytes`);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

async function openExclusively(path: string): Promise<FileHandle> {
  for (let waited = 0; ; waited += lockLookMs) {
    try {
      return await open(path, 'wx', 0o644);
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw new OperatorError(`cannot write ${path}: ${systemWords(error)}`);
    }
    if (waited >= lockWaitMs) {
      throw new OperatorError(`another command is changing the list; if none is running, remove ${path} and try again`);
    }
    await new Promise((resolve) => setTimeout(resolve, lockLookMs));
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Maximum number of entries of the list, which is read and matched as a whole. */
export const maxDenyEntries = 10_000;
/** Maximum length of a reason, in characters. */
export const maxDenyReasonLength = 500;

/** One decision of the operator. */
export interface DenyEntry {
  readonly target: DenyTarget;
  readonly reason: string | null;
  /** Time of the decision, RFC 3339. */
  readonly since: string;
  /**
   * Time at which a purge of the labeler's rows was requested, RFC 3339, or null if no purge was requested. Only an
   * entry with a DID can have this time.
   */
  readonly purge: string | null;
}

/** The labelers that the operator denies. */
export class DenyList {
  readonly entries: readonly DenyEntry[];
  readonly #byTarget: ReadonlyMap<string, DenyEntry>;

  constructor(entries: readonly DenyEntry[]) {
    this.entries = entries;
    this.#byTarget = new Map(entries.map((entry) => [targetText(entry.target), entry]));
  }

  /** Returns the entry that denies a labeler by its DID or a domain, or null if the labeler is not denied. */
  entryFor(labeler: { readonly did: string; readonly endpoint: string | null }): DenyEntry | null {
    if (this.entries.length === 0) return null;
    const own = this.#byTarget.get(canonicalDid(labeler.did));
    if (own) return own;
    for (const domain of domainsOfLabeler(labeler)) {
      const entry = this.#byTarget.get(domain);
      if (entry) return entry;
    }
    return null;
  }

  /** Returns the entry with exactly this target, or null. */
  entryOf(target: DenyTarget): DenyEntry | null {
    return this.#byTarget.get(targetText(target)) ?? null;
  }

  /** Returns the list with this entry, which replaces an older entry with the same target. */
  with(entry: DenyEntry): DenyList {
    return new DenyList([...this.without(entry.target).entries, entry]);
  }

  /** Returns the list without the entry of this target. */
  without(target: DenyTarget): DenyList {
    const text = targetText(target);
    return new DenyList(this.entries.filter((entry) => targetText(entry.target) !== text));
  }
}

/** A list without entries. */
export const emptyDenyList = new DenyList([]);

import { type FileHandle, open, rename, unlink } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { domainToASCII } from 'node:url';
import { canonicalDid, didInWords, isDid } from '../../contract/identifiers.ts';
import { parseTimestamp } from '../../contract/timestamp.ts';
import { isObject } from '../../input/json-budget.ts';
import { hostDomains } from '../../network/guard/host-rates.ts';
import { makeFolder, OperatorError, permissionAdvice, systemCode, systemWords } from '../../ops/errors.ts';

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
function denyPath(storeFolder: string): string {
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
  if (reading.kind === 'absent') return new DenyList([]);
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
    if (after.entries.length > denyLimits.entries) {
      throw new OperatorError(
        `the list can have at most ${denyLimits.entries} entries; deny a domain instead of each of its labelers`,
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
  if (value.denied.length > denyLimits.entries) throw new Error(`the file has more than ${denyLimits.entries} entries`);
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
  if (reason !== null && (typeof reason !== 'string' || reason.length > denyLimits.reasonLength)) {
    throw invalid(`"reason" is not a string of at most ${denyLimits.reasonLength} characters`);
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

/** Limits of the deny file. */
export const denyLimits = {
  /** Maximum number of entries of the list, which is read and matched as a whole. */
  entries: 10_000,
  /** Maximum length of a reason, in characters. */
  reasonLength: 500,
};

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

/** Target of a denial: one labeler, or every labeler of a registrable domain. */
type DenyTarget = { readonly kind: 'did'; readonly did: string } | { readonly kind: 'domain'; readonly domain: string };

/** Maximum length of a host name, in characters (RFC 1035). */
const maxHostLength = 253;
/** Maximum length of an operand, in characters. */
const maxOperandLength = 2_048;

/**
 * Parses the target of a denial: a DID, a host name or an address. A host name denotes its registrable domain. An IP
 * address or a name with a single label is used unchanged. Throws an OperatorError that states the expected form.
 */
export function parseDenyTarget(operand: string): DenyTarget {
  const text = operand.trim();
  if (text === '' || text.length > maxOperandLength) throw refused(text, `give a DID (${didInWords}) or a domain`);
  if (/^did:/i.test(text)) return didTarget(text);
  if (text.startsWith('@')) throw refused(text, "a handle can change; give the labeler's DID or its domain");
  const host = hostOf(text);
  if (host === null) throw refused(text, `the operand is neither a DID (${didInWords}) nor a host name`);
  const [domain] = hostDomains(host);
  if (domain === undefined) throw refused(text, 'the operand is a public suffix; give a domain below it, or a DID');
  return { kind: 'domain', domain };
}

/**
 * Parses an operand of a command that changes the list. Throws an OperatorError for a host name below a registrable
 * domain, such as the handle of one labeler, because the denial would cover every labeler of that domain.
 */
export function parseDenyOperand(operand: string): DenyTarget {
  const target = parseDenyTarget(operand);
  if (target.kind === 'did') return target;
  const host = hostOf(operand.trim());
  if (host === target.domain) return target;
  throw new OperatorError(
    `${host} is part of ${target.domain}: give ${target.domain} for every labeler of that domain, or the DID of one labeler`,
  );
}

/** Formats a target as the deny file and `almanac labels deny` write it. */
export function targetText(target: DenyTarget): string {
  return target.kind === 'did' ? target.did : target.domain;
}

/**
 * Returns the registrable domains of a labeler: the domain of its endpoint and, for a did:web, the domain in the DID.
 */
export function domainsOfLabeler({
  did,
  endpoint,
}: {
  readonly did: string;
  readonly endpoint: string | null;
}): string[] {
  const endpointHost = endpoint === null ? null : (URL.parse(endpoint)?.hostname ?? null);
  const hosts = [endpointHost, hostOfDid(did)].filter((host) => host !== null);
  return [...new Set(hosts.flatMap(hostDomains))];
}

function didTarget(text: string): DenyTarget {
  // Convert every DID except a did:plc to lower case, because the host of a did:web is not case-sensitive.
  const did = canonicalDid(text.startsWith('did:plc:') ? text : text.toLowerCase());
  if (!isDid(did)) throw refused(text, `a DID is ${didInWords}`);
  return { kind: 'did', did };
}

/**
 * Returns the host of an operand, which is a bare name, a name with a path or port, or a URL. Returns null if the
 * operand has no host.
 */
function hostOf(text: string): string | null {
  if (isIP(text) === 6) return hostOf(`[${text}]`);
  const url = URL.parse(text.includes('://') ? text : `https://${text}`);
  if (!url || url.hostname === '' || url.username !== '' || url.password !== '') return null;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  if (isIP(host) !== 0) return host;
  const ascii = domainToASCII(host);
  if (ascii === '' || ascii.length > maxHostLength) return null;
  return ascii.split('.').every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label)) ? ascii : null;
}

function hostOfDid(did: string): string | null {
  if (!did.startsWith('did:web:')) return null;
  const [host = ''] = did.slice('did:web:'.length).split(/:|%3A/i);
  return host;
}

function refused(text: string, why: string): OperatorError {
  return new OperatorError(`${JSON.stringify(text.slice(0, 100))} does not name a labeler: ${why}`);
}

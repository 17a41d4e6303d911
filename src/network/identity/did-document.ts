import { ECDH } from 'node:crypto';
import { getPublicKeyFromDidController } from '@atcute/crypto';
import { canonicalDid, isDid } from '../../contract/identifiers.ts';
import { type Micros, parseTimestamp } from '../../contract/timestamp.ts';
import { isObject, type JsonObject, scanJson } from '../../input/json-budget.ts';
import { inputLimits } from '../../input/limits.ts';
import { httpSchemes, parseUrl } from '../../input/url.ts';

/** The parts of a DID document that the service uses. */
export interface DidDocument {
  readonly did: string;
  /**
   * Handle in the first `at://` name of the document, in lower case, or null if there is no such handle. The handle
   * is only a claim until it resolves to this DID.
   */
  readonly handle: string | null;
  /** True if the document declares a labeler service, even if its endpoint is unusable. */
  readonly labelerDeclared: boolean;
  /** Origin of the labeler service. Null if the document declares no labeler service with an https origin. */
  readonly labelerEndpoint: string | null;
  /**
   * Origin of the account's host, which stores the records of the account. Null if the document declares no host with
   * an https origin.
   */
  readonly pds: string | null;
  /**
   * First valid key with the id `#atproto_label`, since the protocol allows one label key; empty if there is no such
   * key.
   */
  readonly labelKeys: readonly LabelKey[];
}

/** Reason why a document is unusable. */
export type InvalidDocument = 'not_an_object' | 'other_id' | 'malformed_list';

/** Maximum number of entries that are read from each list of a document; further entries are ignored. */
const maxEntries = 64;

/**
 * Parses a document served for `did`. All content of the document is untrusted. `allowHttp` accepts plain http endpoints,
 * for loopback.
 */
export function parseDidDocument(
  value: unknown,
  did: string,
  { allowHttp }: { allowHttp: boolean },
):
  | { readonly kind: 'document'; readonly document: DidDocument }
  | { readonly kind: 'invalid'; readonly reason: InvalidDocument } {
  if (!isObject(value)) return { kind: 'invalid', reason: 'not_an_object' };
  if (!isSameDid(value.id, did)) return { kind: 'invalid', reason: 'other_id' };
  const names = list(value.alsoKnownAs);
  const services = list(value.service);
  const methods = list(value.verificationMethod);
  if (!names || !services || !methods) return { kind: 'invalid', reason: 'malformed_list' };
  const labeler = services.find((service) => hasId(service, did, '#atproto_labeler'));
  const declared = labeler !== undefined && labeler.type === 'AtprotoLabeler';
  const pds = services.find((service) => hasId(service, did, '#atproto_pds'));
  const document = {
    did,
    handle: handleOf(value.alsoKnownAs),
    labelerDeclared: declared,
    labelerEndpoint: declared ? parseOrigin(labeler.serviceEndpoint, allowHttp) : null,
    pds: pds?.type === 'AtprotoPersonalDataServer' ? parseOrigin(pds.serviceEndpoint, allowHttp) : null,
    labelKeys: methods
      .filter((method) => hasId(method, did, '#atproto_label'))
      .flatMap(keyOf)
      .slice(0, 1),
  };
  return { kind: 'document', document };
}

/** Returns the objects in a list, an empty list if the value is absent, or null if the value is not a list. */
function list(value: unknown): JsonObject[] | null {
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value.slice(0, maxEntries).filter(isObject) : null;
}

/** Returns true if an entry has the given id, written in full or relative to the document's DID. */
function hasId(entry: JsonObject, did: string, fragment: string): boolean {
  const { id } = entry;
  if (typeof id !== 'string' || !id.endsWith(fragment)) return false;
  return id === fragment || isSameDid(id.slice(0, -fragment.length), did);
}

/** Returns true if an untrusted value is a spelling of a DID: the host of a did:web is not case-sensitive. */
function isSameDid(value: unknown, did: string): boolean {
  return typeof value === 'string' && canonicalDid(value) === canonicalDid(did);
}

function handleOf(alsoKnownAs: unknown): string | null {
  if (!Array.isArray(alsoKnownAs)) return null;
  const first = alsoKnownAs
    .slice(0, maxEntries)
    .find((name): name is string => typeof name === 'string' && name.startsWith('at://'));
  const handle = first?.slice('at://'.length) ?? '';
  return isHandle(handle) ? handle.toLowerCase() : null;
}

/**
 * Returns the origin that the address of a service in a document or an operation consists of, or null for anything
 * else. The result is text, because a `URL` takes four times as much memory, and thousands of documents are kept.
 */
function parseOrigin(value: unknown, allowHttp: boolean): string | null {
  if (typeof value !== 'string') return null;
  const schemes = allowHttp ? httpSchemes : ['https:'];
  const verdict = parseUrl(value, { schemes, maxLength: 512, isOrigin: true });
  return verdict.kind === 'url' ? verdict.url.origin : null;
}

function keyOf({ type, publicKeyMultibase }: JsonObject): LabelKey[] {
  if (typeof type !== 'string' || typeof publicKeyMultibase !== 'string') return [];
  const key = parseLabelKey(type, publicKeyMultibase);
  return key ? [key] : [];
}

/** A public key of label signatures. Equal keys have equal values, so a key can be stored and compared. */
export interface LabelKey {
  readonly curve: 'k256' | 'p256';
  /** Compressed curve point in hexadecimal: 66 characters. */
  readonly point: string;
}

/**
 * Maximum length of a `publicKeyMultibase` in characters; an uncompressed point has 89. Decoding takes quadratic time.
 */
const maxMultibaseLength = 128;

/**
 * Parses the key of a verification method: `Multikey`, or one of the two types of older documents. Returns null if the
 * key is of another type, is too long, or is not a point of its curve.
 */
export function parseLabelKey(type: string, publicKeyMultibase: string): LabelKey | null {
  if (publicKeyMultibase.length > maxMultibaseLength) return null;
  try {
    const key = getPublicKeyFromDidController({ type, publicKeyMultibase });
    const curve = key.type === 'p256' ? 'p256' : 'k256';
    const name = curve === 'p256' ? 'prime256v1' : 'secp256k1';
    // `convertKey` also verifies that the point is on the curve.
    const point = ECDH.convertKey(key.publicKeyBytes, name, undefined, 'hex', 'compressed');
    return { curve, point: String(point) };
  } catch {
    return null;
  }
}

const maxLength = 253;
const syntax = /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)+[a-zA-Z](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/;

/**
 * Returns true if the text has the syntax of a handle (AT Protocol, Handle), which does not imply that the handle
 * resolves.
 */
export function isHandle(text: string): boolean {
  return text.length <= maxLength && syntax.test(text);
}

/** Top-level domains outside the public network, whose handles are never resolved (AT Protocol, Handle). */
const unresolvable = new Set(['alt', 'arpa', 'example', 'internal', 'invalid', 'local', 'localhost', 'onion', 'test']);

/** Returns true if a handle's top-level domain allows its resolution. */
export function isResolvableHandle(handle: string): boolean {
  return isHandle(handle) && !unresolvable.has(handle.slice(handle.lastIndexOf('.') + 1).toLowerCase());
}

/** An operation of the did:plc directory's export stream, with the fields that the service uses. */
export interface DirectoryOperation {
  /** Position in the stream, which rises with each operation but may skip numbers. */
  readonly seq: number;
  readonly did: string;
  /**
   * True if the operation declares a labeler service with a usable endpoint. The directory may nullify the operation
   * for 72 hours, so the DID document decides.
   */
  readonly isLabeler: boolean;
}

/**
 * Parses a message of the export stream. Returns null if the message is not an operation of a did:plc or exceeds the
 * limits. The content of a message is untrusted: the holder of any DID controls it. `allowHttp` accepts plain http
 * endpoints, for loopback. Source: did:plc v0.3.0, `GET /export/stream`.
 */
export function parseDirectoryOperation(
  data: Buffer,
  { allowHttp }: { readonly allowHttp: boolean },
): DirectoryOperation | null {
  const limits = inputLimits.directoryOperation;
  if (data.length > limits.bytes || scanJson(data, limits).fault !== null) return null;
  let value: unknown;
  try {
    value = JSON.parse(data.toString('utf8'));
  } catch {
    return null;
  }
  if (!isObject(value) || value.type !== 'sequenced_op') return null;
  const { seq, did, operation } = value;
  if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || seq < 0) return null;
  if (typeof did !== 'string' || !did.startsWith('did:plc:') || !isDid(did)) return null;
  return { seq, did, isLabeler: isObject(operation) && declaresLabeler(operation, allowHttp) };
}

/** One page of the paged export: its number of lines, and the operations within the limits, in order. */
interface DirectoryExportPage {
  readonly lines: number;
  readonly operations: readonly DirectoryOperation[];
}

/**
 * Parses a page of the paged export, which consists of one JSON operation per line. Skips empty and invalid lines.
 * Ignores all lines after the first `maxLines`, which is the requested number: each line costs time even if it is empty
 * or invalid, and the directory decides how many lines it sends.
 */
export function parseDirectoryExport(
  text: string,
  { maxLines, allowHttp }: { readonly maxLines: number; readonly allowHttp: boolean },
): DirectoryExportPage {
  const lines = text.split('\n', maxLines).filter((line) => line !== '');
  const operations = lines.flatMap((line) => parseDirectoryOperation(Buffer.from(line), { allowHttp }) ?? []);
  return { lines: lines.length, operations };
}

/**
 * Returns true if an operation declares a labeler service. Only the type `plc_operation` has services, unlike
 * tombstones and the legacy type `create`.
 */
function declaresLabeler({ type, services }: JsonObject, allowHttp: boolean): boolean {
  if (type !== 'plc_operation' || !isObject(services)) return false;
  const service = services.atproto_labeler;
  return isObject(service) && service.type === 'AtprotoLabeler' && parseOrigin(service.endpoint, allowHttp) !== null;
}

/** A previous key of a labeler, and the period for which the directory listed it. */
export interface EarlierLabelKey {
  readonly key: LabelKey;
  /** Time at which the directory accepted the operation that added the key, or null if unknown. */
  readonly from: Micros | null;
  /** Time at which the key was replaced or removed. */
  readonly until: Micros;
}

/**
 * Maximum number of key changes that are read, newest first, because parsing a key requires a curve point computation.
 */
const maxChanges = 16;

const didKeyPrefix = 'did:key:';

/**
 * Returns the label keys (`verificationMethods.atproto_label`) that an audit log of the directory lists before the
 * current one, newest first. Reads the newest 16 changes only, and ignores nullified operations and keys that cannot be
 * parsed. Returns null if the value is not the audit log of this DID. Source: did:plc, `GET /{did}/log/audit`.
 */
export function parseEarlierLabelKeys(value: unknown, did: string): EarlierLabelKey[] | null {
  if (!Array.isArray(value)) return null;
  const changes: { readonly at: Micros; readonly name: string | null }[] = [];
  for (const entry of value) {
    if (!isObject(entry) || entry.did !== did) return null;
    if (entry.nullified === true) continue;
    const at = parseTimestamp(entry.createdAt);
    if (at === null || !isObject(entry.operation)) return null;
    const name = keyName(entry.operation);
    const last = changes.at(-1);
    if (last === undefined || last.name !== name) changes.push({ at, name });
  }
  const current = changes.at(-1)?.name;
  return changes
    .slice(-1 - maxChanges)
    .flatMap(({ at, name }, i, all) => {
      const next = all[i + 1];
      if (name === null || next === undefined || name === current) return [];
      const key = parseLabelKey('Multikey', name.slice(didKeyPrefix.length));
      return key === null ? [] : [{ key, from: at, until: next.at }];
    })
    .reverse();
}

/**
 * Returns the did:key of an operation's label key. Returns null if the operation has no label key, for example because
 * it is a tombstone.
 */
function keyName({ verificationMethods }: JsonObject): string | null {
  const name = isObject(verificationMethods) ? verificationMethods.atproto_label : undefined;
  return typeof name === 'string' && name.startsWith(didKeyPrefix) ? name : null;
}

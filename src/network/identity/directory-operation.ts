import { isDid } from '../../contract/identifiers.ts';
import { type Micros, parseTimestamp } from '../../contract/timestamp.ts';
import { isObject, type JsonObject, scanJson } from '../../input/json-budget.ts';
import { inputLimits } from '../../input/limits.ts';
import { type LabelKey, parseLabelKey, parseOrigin } from './did-document.ts';

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

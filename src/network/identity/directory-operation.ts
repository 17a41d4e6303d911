import { isDid } from '../../contract/identifiers.ts';
import { scanJson } from '../../input/json-budget.ts';
import { isObject, type JsonObject } from '../../input/json-object.ts';
import { inputLimits } from '../../input/limits.ts';
import { parseOrigin } from './did-document.ts';

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
export interface DirectoryExportPage {
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

import { type Micros, parseTimestamp } from '../../contract/timestamp.ts';
import { isObject, type JsonObject } from '../../input/json-object.ts';
import { type LabelKey, parseLabelKey } from './label-key.ts';

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

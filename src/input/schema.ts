import Type from 'typebox';
import { Compile } from 'typebox/compile';
import type { TLocalizedValidationError } from 'typebox/error';
import Format from 'typebox/format';
import { isDid } from '../contract/identifiers.ts';
import { parseTimestamp } from '../contract/timestamp.ts';

/**
 * Building blocks of schemas for untrusted JSON: of artifacts, whose schemas are open because only named fields are
 * read, and of the day files of the archive, whose schemas are closed. An import registers the formats with TypeBox.
 */

const instant = 'almanac-instant';
const did = 'almanac-did';
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

Format.Set(instant, (text) => parseTimestamp(text) !== null);
Format.Set(did, isDid);
Format.Set('almanac-uuid', (text) => uuid.test(text));

/** Schema of a count: an integer from 0 to 2^53-1. */
export const count = () => Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** Schema of a rate, ratio or duration: finite and not negative. */
export const measure = () => Type.Number({ minimum: 0 });
/**
 * Schema of a timestamp that must be valid. Other time fields accept any text, which is checked only when the time is
 * used.
 */
export const usableInstant = () => Type.String({ format: instant });
/** Schema of a labeler's DID. */
export const labelerDid = () => Type.String({ format: did });
/** Schema of a UUID, of any version. */
export const uuidText = () => Type.String({ format: 'almanac-uuid' });
/** Returns a schema that also accepts null. */
export const nullable = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
/** Schema of a closed vocabulary; a value outside it is an error. */
export const oneOf = <const W extends readonly string[]>(words: W) =>
  Type.Unsafe<W[number]>({ type: 'string', enum: [...words] });

/** A function that narrows an untrusted value to the schema's type, or locates the first error. */
export type Check<T> = (value: unknown) => { readonly ok: true; readonly value: T } | FirstFault;

/** First place at which a value does not match its schema; `pointer` (RFC 6901) locates it. */
interface FirstFault {
  readonly ok: false;
  readonly pointer: string;
  readonly why: string;
}

/** Creates a check from a schema. The schema is compiled on the first call rather than on import. */
export function check<S extends Type.TSchema>(schema: S): Check<Type.Static<S>> {
  let compiled: ReturnType<typeof Compile<S>> | undefined;
  return (value) => {
    compiled ??= Compile(schema);
    if (compiled.Check(value)) return { ok: true, value: value as Type.Static<S> };
    return firstFault(compiled.Errors(value)[0]);
  };
}

const formatFaults: Readonly<Record<string, string>> = {
  [instant]: 'is not an RFC 3339 timestamp in UTC',
  [did]: 'is not a did:plc or did:web',
  'almanac-uuid': 'is not a UUID',
};

/**
 * Locates the first error of a validation. A missing property is located by the pointer that it would have if it
 * existed.
 */
function firstFault(error: TLocalizedValidationError | undefined): FirstFault {
  if (error?.keyword === 'required') {
    return { ok: false, pointer: `${error.instancePath}/${error.params.requiredProperties[0]}`, why: 'is missing' };
  }
  const why = error?.keyword === 'format' ? formatFaults[error.params.format] : undefined;
  return { ok: false, pointer: error?.instancePath ?? '', why: why ?? error?.message ?? 'does not match its schema' };
}

/** Returns the value of an object's own property, never an inherited one. */
export function own(object: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/**
 * Schema of an optional time field that accepts any value. An invalid time does not make the artifact unreadable: the
 * time is checked when the fact is requested.
 */
export const anyTime = () => Type.Optional(Type.Unknown());

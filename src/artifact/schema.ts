import Type from 'typebox';
import { Compile } from 'typebox/compile';
import type { TLocalizedValidationError } from 'typebox/error';
import Format from 'typebox/format';
import { isDid } from '../contract/identifiers.ts';
import { parseTimestamp } from '../contract/timestamp.ts';
import type { Malformed } from './reading.ts';

/**
 * Pieces of the artifacts' schemas. Unlike the published shapes these are open: an artifact may have any
 * fields besides the named ones, because only named fields are ever read.
 */

const instant = 'almanac-instant';
const did = 'almanac-did';
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

Format.Set(instant, (text) => parseTimestamp(text) !== null);
Format.Set(did, isDid);
Format.Set('almanac-uuid', (text) => uuid.test(text));

/** A count: an integer from 0 to 2^53-1. */
export const count = () => Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
/** A rate, ratio or duration: finite and not negative. */
export const measure = () => Type.Number({ minimum: 0 });
/** A timestamp that must be usable; elsewhere any text is taken, and judged when it is used. */
export const usableInstant = () => Type.String({ format: instant });
/** A DID of a labeler. */
export const labelerDid = () => Type.String({ format: did });
/** A UUID, of any version. */
export const uuidText = () => Type.String({ format: 'almanac-uuid' });
/** A value or null. */
export const nullable = <S extends Type.TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
/** One word of a closed list; any other word makes the artifact malformed. */
export const oneOf = <const W extends readonly string[]>(words: W) =>
  Type.Unsafe<W[number]>({ type: 'string', enum: [...words] });
/** A word of an open list: an unknown one is dropped or becomes `unknown` when it is published. */
export const anyWord = () => Type.String();

/** A check that narrows a foreign value to the schema's type or names the first fault. */
export type Check<T> = (value: unknown) => { readonly ok: true; readonly value: T } | FirstFault;

/** The first place where a value does not match its schema. */
export type FirstFault = { readonly ok: false } & Pick<Malformed, 'pointer' | 'why'>;

/** Compiles a schema into a check. Compiling happens at the first use, never at import. */
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

/** A missing member is named by the pointer that it would have. */
function firstFault(error: TLocalizedValidationError | undefined): FirstFault {
  if (error?.keyword === 'required') {
    return { ok: false, pointer: `${error.instancePath}/${error.params.requiredProperties[0]}`, why: 'is missing' };
  }
  const why = error?.keyword === 'format' ? formatFaults[error.params.format] : undefined;
  return { ok: false, pointer: error?.instancePath ?? '', why: why ?? error?.message ?? 'does not match its schema' };
}

/** Returns true for a JSON object, not for an array or null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of an object's own key: what the artifact says, never what JavaScript adds. */
export function own(object: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(object, key) ? object[key] : undefined;
}

/**
 * A time as an artifact may carry it: anything or nothing, because an unusable one does not make the artifact
 * unreadable; it is judged when the fact is asked for.
 */
export const anyTime = () => Type.Optional(Type.Unknown());

import Type from 'typebox';
import { didPlcPattern, didWebPattern, maxDidLength } from './identifiers.ts';

/**
 * Building blocks of every published schema. The schemas are closed, so an unknown key fails a test. The OpenAPI
 * documents leave objects open, so that clients accept fields of a later version.
 */

/** Returns the schema of a closed object. */
export function closed<P extends Type.TProperties>(properties: P, options: Type.TObjectOptions = {}) {
  return Type.Object(properties, { additionalProperties: false, ...options });
}

/** Returns a schema that also accepts null, which means that the value is unknown. */
export function orNull<S extends Type.TSchema>(schema: S, description: string) {
  return Type.Union([schema, Type.Null()], { description });
}

/** Returns the schema of one value of a closed vocabulary. */
export function word<const W extends readonly string[]>(words: W, description: string) {
  return Type.Unsafe<W[number]>({ type: 'string', enum: [...words], description });
}

/** Returns the schema of a constant. */
export function constant<const C extends string>(value: C, description: string) {
  return Type.Literal(value, { description });
}

/** Returns the schema of a count: an integer from 0 to 2^53-1. */
export function count(description: string) {
  return Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description });
}

/** Returns the schema of a rate, ratio or duration: finite and not negative. */
export function measure(description: string) {
  return Type.Number({ minimum: 0, description });
}

/** Returns the schema of a timestamp: RFC 3339 in UTC. */
export function timestamp(description: string) {
  return Type.String({ format: 'date-time', description });
}

/** Returns the schema of a labeler's DID. A labeler is a public moderation service. */
export function labelerDid() {
  return Type.String({
    pattern: `${didPlcPattern}|${didWebPattern}`,
    maxLength: maxDidLength,
    description: 'DID of the labeler: a public moderation service, the only identity that an aggregate fact names.',
  });
}

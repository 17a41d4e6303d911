import type Type from 'typebox';
import { Compile } from 'typebox/compile';
import { LabelerEnvelope } from '../../contract/labelers.ts';

/**
 * Returns the first place at which a response deviates from the schema of a labeler's document, or null if the response
 * matches.
 */
export function shapeProblem(value: unknown): string | null {
  const validator = Compile(opened(LabelerEnvelope));
  if (validator.Check(value)) return null;
  const [error] = validator.Errors(value);
  return `${error?.instancePath || '/'} ${error?.message ?? 'does not match'}`;
}

/**
 * Returns a copy of the schema that also accepts unknown fields, because a later version of the service may add
 * fields.
 */
function opened(schema: object): Type.TSchema {
  const text = JSON.stringify(schema, (key, value: unknown) => (key === 'additionalProperties' ? undefined : value));
  return JSON.parse(text) as Type.TSchema;
}

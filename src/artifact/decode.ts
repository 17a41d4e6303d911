import { createHash } from 'node:crypto';
import { type JsonLimits, scanJson } from '../input/json-budget.ts';
import { inputLimits } from '../input/limits.ts';
import type { Malformed, Reading, Recogniser } from './reading.ts';
import { repeatedTopLevelKey } from './repeated-key.ts';

/** Maximum nesting depth of arrays and objects in an artifact; the known schemas need a depth of 5. */
export const maxDepth = inputLimits.artifact.depth;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Decodes bytes into a reading. The bytes must be strict UTF-8 and one JSON value within `limits`, `recognise` must
 * accept the value, and no key of the outermost object may occur twice. If a rule is violated, the reading states the
 * error. The caller must limit the number of bytes.
 */
export function decodeArtifact<A>(
  bytes: Uint8Array,
  modifiedAt: number,
  recognise: Recogniser<A>,
  limits: JsonLimits = inputLimits.artifact,
): Reading<A> {
  const value = parseJson(bytes, limits);
  if (value.kind === 'malformed') return value;
  const recognised = recognise(value.json);
  if (recognised.kind !== 'recognised') return recognised;
  return {
    kind: 'readable',
    artifact: recognised.artifact,
    digest: createHash('sha256').update(bytes).digest('hex'),
    modifiedAt,
  };
}

function parseJson(bytes: Uint8Array, limits: JsonLimits): { kind: 'json'; json: unknown } | Malformed {
  if (bytes.length === 0) return fault('the artifact is empty');
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    return fault('the artifact is not valid UTF-8');
  }
  const shape = scanJson(bytes, limits);
  if (shape.fault === 'too_deep') return fault(`the artifact is nested deeper than ${limits.depth} levels`);
  if (shape.fault !== null) return fault('the artifact has more values, fields or digits than allowed');
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return fault('the artifact is not a single JSON value');
  }
  return repeatedTopLevelKey(text) === null ? { kind: 'json', json } : fault('a top-level key occurs twice');
}

function fault(why: string): Malformed {
  return { kind: 'malformed', pointer: '', schema: null, why };
}

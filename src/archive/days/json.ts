import { type JsonLimits, scanJson } from '../../input/json-budget.ts';
import { inputLimits } from '../../input/limits.ts';

/** Parses bytes as a JSON object; null if they are not a JSON object or exceed the limits. */
export function parsedObject(
  bytes: Uint8Array,
  limits: JsonLimits = inputLimits.archiveFile,
): Readonly<Record<string, unknown>> | null {
  if (scanJson(bytes, limits).fault !== null) return null;
  try {
    const value: unknown = JSON.parse(Buffer.from(bytes).toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch {
    return null;
  }
}

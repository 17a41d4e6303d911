import { legacyReading, recentReading } from './labels-model.ts';
import { type Instrument, type Json, type JsonObject, malformed, type Reading } from './values.ts';
import { summaryReading, weatherwatchReading } from './weather-model.ts';

const known = new WeakMap<Uint8Array, Reading | null>();

/**
 * Returns the publishable values of an instrument's artifact, or null if the artifact is missing, unreadable, malformed
 * or has an unknown schema.
 */
export function readingOf(instrument: Instrument, bytes: Uint8Array | null): Reading | null {
  if (bytes === null) return null;
  const before = known.get(bytes);
  if (before !== undefined) return before;
  const reading = parsed(instrument, bytes);
  known.set(bytes, reading);
  return reading;
}

function parsed(instrument: Instrument, bytes: Uint8Array): Reading | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const artifact = JSON.parse(text) as Json;
    if (typeof artifact !== 'object' || artifact === null || Array.isArray(artifact)) return null;
    if (topLevelKeys(text) !== Object.keys(artifact).length) return null;
    return instrument === 'labels' ? labelsReading(artifact) : weatherReading(artifact);
  } catch (error) {
    if (error === malformed || error instanceof SyntaxError || error instanceof TypeError) return null;
    throw error;
  }
}

function labelsReading(artifact: JsonObject): Reading | null {
  if (artifact.schema === 'labels.recent-overview.v1') return recentReading(artifact);
  return artifact.schema === undefined && artifact.schema_version === 23 ? legacyReading(artifact) : null;
}

function weatherReading(artifact: JsonObject): Reading | null {
  if (artifact.schema === 'weather.summary.v1') return summaryReading(artifact);
  return artifact.schema === 'weatherwatch.summary/v2' ? weatherwatchReading(artifact) : null;
}

/**
 * Returns the number of keys in the outermost object, including duplicates. Counts the colons at depth one outside
 * strings.
 */
function topLevelKeys(text: string): number {
  let depth = 0;
  let keys = 0;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\]:]/g)) {
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    else if (token === ':' && depth === 1) keys++;
  }
  return keys;
}

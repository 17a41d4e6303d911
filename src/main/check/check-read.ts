import { readFileSync, statSync } from 'node:fs';
import { decodeArtifact } from '../../artifact/decode.ts';
import type { Reading, Recognised } from '../../artifact/reading.ts';
import {
  type LabelArtifact,
  recogniseLabels,
  recogniseWeather,
  type WeatherArtifact,
} from '../../artifact/recognise.ts';
import { OperatorError, systemWords } from '../../ops/errors.ts';

/**
 * Reads an artifact file of either instrument exactly as the facts API would. Throws OperatorError if the file cannot
 * be read.
 */
export function readArtifact(file: string, maxBytes: number): Reading<LabelArtifact | WeatherArtifact> {
  try {
    const stats = statSync(file);
    if (!stats.isFile()) throw new OperatorError(`not a file: ${file}`);
    if (stats.size > maxBytes) return { kind: 'unreadable', why: `it is larger than ${maxBytes} bytes` };
    return decodeArtifact(readFileSync(file), stats.mtimeMs, recogniseAny);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`cannot read ${file}: ${systemWords(error)}`);
  }
}

/** Recognizes the artifact of either instrument, because the arguments of `check` do not name the instrument. */
function recogniseAny(value: unknown): Recognised<LabelArtifact | WeatherArtifact> {
  const labels = recogniseLabels(value);
  return labels.kind === 'unknown_schema' ? recogniseWeather(value) : labels;
}

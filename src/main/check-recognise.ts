import type { Recognised } from '../artifact/reading.ts';
import { type LabelArtifact, recogniseLabels, recogniseWeather, type WeatherArtifact } from '../artifact/recognise.ts';

/** Recognises the artifact of either instrument: a file given to `check` does not say whose it is. */
export function recogniseAny(value: unknown): Recognised<LabelArtifact | WeatherArtifact> {
  const labels = recogniseLabels(value);
  return labels.kind === 'unknown_schema' ? recogniseWeather(value) : labels;
}

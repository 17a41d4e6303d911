import type { Json, JsonObject } from './values.ts';

/** The parts of an artifact that the service may publish, according to the contract. */
export interface Reading {
  readonly schema: 'recent' | 'legacy' | 'weather' | 'weatherwatch';
  readonly generatedAt: Json | undefined;
  readonly provenance: JsonObject;
  readonly facts: Readonly<Record<string, JsonObject>>;
  readonly caveats: readonly string[];
  /** Origin of the artifact. The first caveat states every origin except `live`. */
  readonly origin: string;
  readonly label: LabelReading | null;
  readonly freshness: JsonObject | null;
}

interface LabelReading {
  readonly hold: boolean;
  readonly warming: boolean;
  /** Time of the last accepted page, or undefined if the schema has no such field. */
  readonly observedThrough: Json | undefined;
}

export type Instrument = 'labels' | 'weather';

import type { Json, JsonObject } from './values.ts';

/** The parts of an artifact that the service may publish, by the contract and the decisions alone. */
export interface Reading {
  readonly schema: 'recent' | 'legacy' | 'weather' | 'weatherwatch';
  readonly generatedAt: Json | undefined;
  readonly provenance: JsonObject;
  readonly facts: Readonly<Record<string, JsonObject>>;
  readonly caveats: readonly string[];
  /** Any origin except live is the first caveat. */
  readonly origin: string;
  readonly label: LabelReading | null;
  readonly freshness: JsonObject | null;
}

export interface LabelReading {
  readonly hold: boolean;
  readonly warming: boolean;
  /** Undefined if the schema has no collection clock. */
  readonly observedThrough: Json | undefined;
}

export type Instrument = 'labels' | 'weather';

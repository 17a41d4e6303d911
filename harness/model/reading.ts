import type { Json, JsonObject } from './values.ts';

/** Parts of an artifact that the service may publish, according to the contract and the documented decisions. */
export interface Reading {
  readonly schema: 'recent' | 'legacy' | 'weather' | 'weatherwatch';
  readonly generatedAt: Json | undefined;
  readonly provenance: JsonObject;
  readonly facts: Readonly<Record<string, JsonObject>>;
  readonly caveats: readonly string[];
  /** Origin of the data; any origin except live is published as the first caveat. */
  readonly origin: string;
  readonly label: LabelReading | null;
  readonly freshness: JsonObject | null;
}

export interface LabelReading {
  readonly hold: boolean;
  readonly warming: boolean;
  /** Time until which data was observed; undefined if the schema has no collection clock. */
  readonly observedThrough: Json | undefined;
}

export type Instrument = 'labels' | 'weather';

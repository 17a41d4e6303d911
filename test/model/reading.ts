import type { Json, JsonObject } from './values.ts';

/** What the service may publish of one artifact, by the contract and the decisions alone. */
export interface Reading {
  readonly schema: 'recent' | 'legacy' | 'weather' | 'weatherwatch';
  readonly generatedAt: Json | undefined;
  readonly provenance: JsonObject;
  readonly facts: Readonly<Record<string, JsonObject>>;
  readonly caveats: readonly string[];
  /** Anything but live is the first caveat. */
  readonly origin: string;
  readonly label: LabelReading | null;
  readonly freshness: JsonObject | null;
}

export interface LabelReading {
  readonly hold: boolean;
  readonly warming: boolean;
  /** Undefined where the schema has no collection clock. */
  readonly observedThrough: Json | undefined;
}

export type Instrument = 'labels' | 'weather';

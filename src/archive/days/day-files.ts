import { paths } from '../../contract/identifiers.ts';

/** Paths of the archived facts, relative to the address of the facts API, by fact name. */
export const archivedFacts = {
  instruments: paths.instruments,
  'labels-overview': paths.labelsOverview,
  'weather-conditions': paths.weatherConditions,
  'weather-metrics': paths.weatherMetrics,
} as const;

/** Name of an archived fact. */
export type FactName = keyof typeof archivedFacts;

/** Names of all archived facts. */
export const factNames = Object.keys(archivedFacts) as FactName[];

/** Returns the name of a fact's file in the directory of a day. */
export function lineFileOf(name: FactName): string {
  return `${name}.jsonl`;
}

/** Returns the path of a day's file, relative to the directory of the archive. */
export function pathOf(day: string, name: string): string {
  return `days/${day}/${name}`;
}

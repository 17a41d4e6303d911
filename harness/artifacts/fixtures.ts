import { readFileSync } from 'node:fs';

/** File names of the four known artifact fixtures. */
export const artifactFixtures = {
  recent: 'labels-recent-overview.json',
  legacy: 'labels-legacy-overview.json',
  weather: 'weather-summary-v1.json',
  weatherwatch: 'weatherwatch-summary-v2.json',
} as const;

/** Name of one of the four known artifacts. */
export type ArtifactFixture = keyof typeof artifactFixtures;

/** An artifact as a JSON object that may be changed. */
export type JsonObject = { [key: string]: unknown };

/** Returns a new copy of an artifact fixture. */
export function fixture(name: ArtifactFixture): JsonObject {
  return JSON.parse(fixtureText(artifactFixtures[name])) as JsonObject;
}

/** Returns the text of a fixture file. */
export function fixtureText(file: string): string {
  return readFileSync(new URL(`../../test/fixtures/${file}`, import.meta.url), 'utf8');
}

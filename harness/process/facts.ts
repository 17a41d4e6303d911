import { recogniseLabels, recogniseWeather } from '../../src/artifact/recognise.ts';
import { paths } from '../../src/contract/identifiers.ts';
import { createFactsApp } from '../../src/facts/app.ts';
import type { ArchivedDays } from '../../src/facts/archive/model.ts';
import type { FactsDocuments } from '../../src/facts/documents.ts';
import type { HoursSources } from '../../src/facts/hours/shown-hours.ts';
import type { AccountLinks } from '../../src/facts/page/page.tsx';
import type { ReadRequest } from '../../src/http/read-request.ts';
import type { Reply } from '../../src/http/reply.ts';
import type { ArtifactFixture } from '../artifacts/fixtures.ts';
import { memorySource } from './memory-source.ts';

const noDocuments: FactsDocuments = { routes: [], answer: () => null };

/** Creates the facts application over two artifacts in memory, without sockets. */
export function factsInMemory(
  now: number,
  accounts: AccountLinks | null = null,
  archive?: ArchivedDays,
  hours?: HoursSources,
) {
  const labels = memorySource(recogniseLabels, now);
  const weather = memorySource(recogniseWeather, now);
  const alarms: unknown[] = [];
  const answer = createFactsApp({
    labels,
    weather,
    bounds: { maxAgeSeconds: 7200, collectionMaxAgeSeconds: 7200 },
    basePath: '',
    documents: noDocuments,
    accounts,
    ...(archive ? { archive } : {}),
    ...(hours ? { hours } : {}),
    alarm: (_path, error) => alarms.push(error),
  });
  return {
    alarms,
    set(artifact: ArtifactFixture, bytes: Uint8Array | null): void {
      (artifact === 'recent' || artifact === 'legacy' ? labels : weather).set(bytes);
    },
    get(
      target: string,
      at = now,
      headers: Partial<Pick<ReadRequest, 'ifNoneMatch' | 'acceptEncoding' | 'accept'>> = {},
    ): Reply {
      return answer({ method: 'GET', target, ifNoneMatch: undefined, acceptEncoding: undefined, ...headers }, at);
    },
  };
}

/** Paths of the facts that are derived from each artifact. */
export const factsOf: Record<ArtifactFixture, readonly string[]> = {
  recent: [paths.labelsOverview],
  legacy: [paths.labelsOverview],
  weather: [paths.weatherConditions, paths.weatherMetrics],
  weatherwatch: [paths.weatherConditions, paths.weatherMetrics],
};

/** Time of the tests for each fixture in milliseconds since 1970: half a minute after the fixture's generation time. */
export const fixtureNow: Record<ArtifactFixture, number> = {
  recent: Date.parse('2026-11-20T12:00:30Z'),
  legacy: Date.parse('2026-09-11T14:03:52Z'),
  weather: Date.parse('2026-11-20T12:00:30Z'),
  weatherwatch: Date.parse('2026-08-28T14:05:52Z'),
};

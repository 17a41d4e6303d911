import type { ArtifactSource, Readable } from '../artifact/reading.ts';
import type { WeatherArtifact } from '../artifact/recognise.ts';
import type { WeatherConditionsEnvelope, WeatherMetricsEnvelope } from '../contract/envelope.ts';
import { contractIds } from '../contract/identifiers.ts';
import { formatTimestamp, type microsFromMillis, parseTimestamp } from '../contract/timestamp.ts';
import type { HeaderList } from '../http/reply.ts';
import { weatherCaveatsFor } from './caveats.ts';
import { ageBucket, entityTag } from './entity-tag.ts';
import { ageSeconds } from './judge.ts';
import { projectWeather } from './project-weather.ts';
import { represent } from './representation.ts';
import { type FactResource, keepOne, lastOrigin, oncePer } from './resource.ts';

/** `generated_at` of a weather artifact. A fact without a time is served; a fact with an unusable time is refused. */
type WeatherTime =
  | { readonly kind: 'known'; readonly text: string; readonly at: ReturnType<typeof microsFromMillis> }
  | { readonly kind: 'not_said' }
  | { readonly kind: 'unusable' };

/** Parses `generated_at` of either weather artifact. */
export function weatherTime(artifact: WeatherArtifact): WeatherTime {
  const text = artifact.summary.generated_at;
  if (text === null) return { kind: 'not_said' };
  const at = parseTimestamp(text);
  return typeof text !== 'string' || at === null ? { kind: 'unusable' } : { kind: 'known', text, at };
}

type Fact = 'weatherConditions' | 'weatherMetrics';

/**
 * Creates the resource of one of the two weather facts. Weather freshness is copied rather than recomputed, so a fact
 * is refused only if the artifact is not readable or its `generated_at` is unusable.
 */
export function weatherResource(fact: Fact, source: ArtifactSource<WeatherArtifact>, common: HeaderList): FactResource {
  const timeOf = oncePer((reading: Readable<WeatherArtifact>) => weatherTime(reading.artifact));
  const representationOf = keepOne<WeatherArtifact>((reading, bucket, now) =>
    represent({
      envelope: weatherEnvelope(fact, reading.artifact, timeOf(reading), now),
      etag: entityTag(contractIds[fact], reading.digest, bucket),
      modifiedAt: reading.modifiedAt,
      builtAt: now,
      common,
    }),
  );

  const origin = lastOrigin<WeatherArtifact>((artifact) => projectWeather(artifact).provenance.origin ?? 'live');
  return (now) => {
    const reading = source.read();
    const from = origin(reading);
    if (reading.kind !== 'readable') return { kind: 'refused', code: 'source_unavailable', ...from };
    const time = timeOf(reading);
    if (time.kind === 'unusable') return { kind: 'refused', code: 'source_unavailable', ...from };
    // An artifact without a time has no age. Use the minute of the request as its bucket.
    const bucket = ageBucket(time.kind === 'known' ? ageSeconds(time.at, now) : now / 1000);
    return { kind: 'served', representation: representationOf(reading, bucket, now) };
  };
}

/** Returns the envelope of one of the two weather facts. */
export function weatherEnvelope(
  fact: Fact,
  artifact: WeatherArtifact,
  time: WeatherTime,
  now: number,
): WeatherConditionsEnvelope | WeatherMetricsEnvelope {
  const { conditions, window, totalEvents, collections, freshness, provenance, caveats } = projectWeather(artifact);
  const age = time.kind === 'known' ? ageSeconds(time.at, now) : null;
  const head = {
    instrument: 'weather' as const,
    generated_at: time.kind === 'known' ? time.text : null,
    retrieved_at: formatTimestamp(now),
    age_seconds: age,
  };
  const tail = {
    caveats: weatherCaveatsFor(provenance.origin ?? 'live', age !== null && age < 0, caveats),
    provenance,
    freshness,
  };
  return fact === 'weatherConditions'
    ? {
        contract: contractIds.weatherConditions,
        ...head,
        facts: { conditions, window, total_events: totalEvents },
        ...tail,
      }
    : {
        contract: contractIds.weatherMetrics,
        ...head,
        facts: { window, collections, total_events: totalEvents },
        ...tail,
      };
}

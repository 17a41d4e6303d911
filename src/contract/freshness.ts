import Type from 'typebox';
import { defaultMaxAgeSeconds } from './limits.ts';
import { closed, measure, orNull, timestamp, word } from './schema.ts';
import { freshnessBases, freshnessStates, weatherFreshnessStates } from './vocabulary.ts';

const ageSeconds = () =>
  orNull(
    Type.Number(),
    "Retrieval time minus the artifact's generated_at, in seconds. Null when generated_at is unusable.",
  );

const maxAgeSeconds = () =>
  Type.Integer({
    minimum: 0,
    default: defaultMaxAgeSeconds,
    description: 'Age beyond which the reading is stale, in seconds. Configurable: use the value returned.',
  });

/**
 * Freshness of the label artifact at the time of the request, by the service's clock (contract, "Freshness object").
 */
export const LabelFreshness = closed(
  {
    state: word(freshnessStates, 'The first that applies of unavailable, held, stale, warming_up, fresh.'),
    age_seconds: ageSeconds(),
    basis: word(
      freshnessBases,
      'The rule that decided: the age of the artifact, or the age of the latest accepted collector page.',
    ),
    max_age_seconds: maxAgeSeconds(),
    collection_age_seconds: Type.Optional(
      orNull(
        Type.Number(),
        'Rolling epoch only: retrieval time minus coverage.observed_through, in seconds. Null when no page has been accepted.',
      ),
    ),
    collection_max_age_seconds: Type.Optional(
      Type.Integer({
        minimum: 0,
        default: defaultMaxAgeSeconds,
        description: 'Rolling epoch only: collection age beyond which the reading is stale, in seconds.',
      }),
    ),
  },
  { title: 'LabelFreshness', description: 'Freshness of the label artifact, judged when the request was answered.' },
);
export type LabelFreshness = Type.Static<typeof LabelFreshness>;

/** Freshness of the weather artifact, copied from the artifact without recomputing it. */
export const WeatherFreshness = closed(
  {
    state: word(weatherFreshnessStates, 'Freshness at generated_at, as the instrument computed it.'),
    newest_observation_end: orNull(timestamp('Instant.'), 'End of the newest observed window.'),
    newest_complete_observation_end: orNull(timestamp('Instant.'), 'End of the newest window observed in full.'),
    age_seconds: orNull(Type.Number(), 'Age of the newest observation at generated_at, in seconds.'),
    max_age_seconds: orNull(
      measure('Seconds.'),
      'Age beyond which the instrument reports its reading as stale, in seconds.',
    ),
    basis: orNull(Type.String(), 'The rule that the instrument applied, in its words.'),
  },
  {
    title: 'WeatherFreshness',
    description: "Computed by the instrument at generated_at: add the envelope's age_seconds to get the age now.",
  },
);
export type WeatherFreshness = Type.Static<typeof WeatherFreshness>;

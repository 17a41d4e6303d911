import Type from 'typebox';
import { contractIds, type FactContractId } from './identifiers.ts';
import { LegacyLabelFacts, RecentLabelFacts } from './labels.ts';
import { defaultMaxAgeSeconds } from './limits.ts';
import { closed, constant, measure, orNull, timestamp, word } from './schema.ts';
import {
  freshnessBases,
  freshnessStates,
  instrumentStates,
  methods,
  origins,
  weatherFreshnessStates,
  wires,
} from './vocabulary.ts';
import { WeatherConditionsFacts, WeatherMetricsFacts } from './weather.ts';

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

const doesNotMeasure = Type.Array(Type.String(), { description: 'What the instrument does not measure.' });

const provenanceCore = {
  instrument: word(['labels', 'weather'], 'Instrument identifier.'),
  method: word(methods, 'How the observations were obtained.'),
  artifact_schema_version: Type.String({ description: 'Schema of the artifact that the facts were read from.' }),
  origin: Type.Optional(
    word(origins, "Where the observations come from; anything but 'live' is not an observation of the network."),
  ),
  does_not_measure: Type.Optional(doesNotMeasure),
};

/** Provenance of label facts. */
export const LabelProvenance = closed(provenanceCore, {
  title: 'LabelProvenance',
  description: 'How the facts were obtained.',
});
/** Provenance of weather facts. */
export const WeatherProvenance = closed(
  {
    ...provenanceCore,
    source_endpoint: Type.Optional(
      Type.String({
        description:
          'The one host whose stream was observed, without credentials and query. Absent if the artifact names no stream or page address.',
      }),
    ),
    wire: Type.Optional(
      word(
        wires,
        "The protocol over which the host was read: 'jetstream.legacy' (legacy) or 'jetstream.subscribeEvents' (network.bsky.jetstream.subscribeEvents). A series belongs to one host and one protocol. Absent if the artifact does not name the protocol.",
      ),
    ),
    measures: Type.String({ description: 'What is counted, in one sentence.' }),
  },
  { title: 'WeatherProvenance', description: 'How the facts were obtained.' },
);
export type LabelProvenance = Type.Static<typeof LabelProvenance>;
export type WeatherProvenance = Type.Static<typeof WeatherProvenance>;

function envelope<F extends Type.TSchema, P extends Type.TSchema, S extends Type.TSchema>(
  contract: FactContractId,
  instrument: 'labels' | 'weather',
  parts: { facts: F; provenance: P; freshness: S },
  title: string,
) {
  return closed(
    {
      contract: constant(contract, 'Identifier of this fact contract, with its major version: check it.'),
      instrument: constant(instrument, 'Instrument that produced the facts.'),
      generated_at: orNull(
        timestamp('Instant.'),
        'When the instrument produced the artifact, verbatim; not the time of the request. Null when the instrument does not say.',
      ),
      retrieved_at: timestamp('When the service built this representation; up to 60 s before the response.'),
      age_seconds: orNull(
        Type.Number(),
        'retrieved_at minus generated_at, in seconds; negative when generated_at lies ahead, null when it is null.',
      ),
      facts: parts.facts,
      caveats: Type.Array(Type.String(), {
        description: 'Limitations of the facts; always show them together with the facts.',
      }),
      provenance: parts.provenance,
      freshness: parts.freshness,
    },
    { title, description: 'A fact in its envelope: the observations with their age, limits and origin.' },
  );
}

/** Envelope of `GET /v1/labels/overview`. The facts are those of the rolling epoch or of the legacy producer. */
export const LabelsOverview = envelope(
  contractIds.labelsOverview,
  'labels',
  {
    facts: Type.Union([RecentLabelFacts, LegacyLabelFacts], {
      description: 'Rolling epoch (it has acquisition), or the legacy producer (it has census).',
    }),
    provenance: LabelProvenance,
    freshness: LabelFreshness,
  },
  'LabelsOverview',
);
export type LabelsOverview = Type.Static<typeof LabelsOverview>;

/** Envelope of `GET /v1/weather/conditions`. */
export const WeatherConditionsEnvelope = envelope(
  contractIds.weatherConditions,
  'weather',
  { facts: WeatherConditionsFacts, provenance: WeatherProvenance, freshness: WeatherFreshness },
  'WeatherConditionsEnvelope',
);
export type WeatherConditionsEnvelope = Type.Static<typeof WeatherConditionsEnvelope>;

/** Envelope of `GET /v1/weather/metrics`. */
export const WeatherMetricsEnvelope = envelope(
  contractIds.weatherMetrics,
  'weather',
  { facts: WeatherMetricsFacts, provenance: WeatherProvenance, freshness: WeatherFreshness },
  'WeatherMetricsEnvelope',
);
export type WeatherMetricsEnvelope = Type.Static<typeof WeatherMetricsEnvelope>;

/** The envelope of any fact endpoint. */
export type FactEnvelope = LabelsOverview | WeatherConditionsEnvelope | WeatherMetricsEnvelope;

/** An entry of the instrument index: one instrument and its state. */
export const InstrumentEntry = closed(
  {
    instrument: word(['weather', 'labels', 'drift'], 'Instrument identifier.'),
    state: word(
      instrumentStates,
      'PRESENT: the artifact is readable, though the fact may still be refused. UNAVAILABLE: it cannot be read. NOT_PUBLISHED: deliberately private.',
    ),
    generated_at: orNull(
      timestamp('Instant.'),
      'When the instrument produced its artifact; null when unknown or unusable.',
    ),
    endpoints: Type.Array(Type.String(), {
      description:
        "Paths of the instrument's facts. Append each to the base address, which may have a path of its own.",
    }),
    note: Type.String({ description: 'What the instrument observes, or why none of its facts are published.' }),
    freshness_state: Type.Optional(
      word(freshnessStates, 'Only for the label instrument, and only when its artifact is readable.'),
    ),
  },
  { title: 'InstrumentEntry', description: 'One instrument and its state.' },
);
export type InstrumentEntry = Type.Static<typeof InstrumentEntry>;

/** The instrument index: all instruments with their states (contract, `GET /v1/instruments`). */
export const InstrumentIndex = closed(
  {
    contract: constant(contractIds.instruments, 'Identifier of this contract.'),
    retrieved_at: timestamp('When the service read the artifacts.'),
    instruments: Type.Array(InstrumentEntry, {
      minItems: 3,
      maxItems: 3,
      description: 'All instruments, in a fixed order.',
    }),
  },
  { title: 'InstrumentIndex', description: 'Every instrument is listed, whatever its state: none is ever omitted.' },
);
export type InstrumentIndex = Type.Static<typeof InstrumentIndex>;

/** Liveness of the publication service, independent of the instruments. */
export const Health = closed(
  {
    status: Type.Literal('ok', { description: 'Always ok.' }),
    service: Type.String({ description: 'Name of the answering service.' }),
  },
  { title: 'Health', description: 'Liveness of the publication service, independent of the instruments.' },
);
export type Health = Type.Static<typeof Health>;

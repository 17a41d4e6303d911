import Type from 'typebox';
import { LabelFreshness, WeatherFreshness } from './freshness.ts';
import { contractIds, type FactContractId } from './identifiers.ts';
import { LegacyLabelFacts, RecentLabelFacts } from './labels.ts';
import { closed, constant, orNull, timestamp, word } from './schema.ts';
import { methods, origins, wires } from './vocabulary.ts';
import { WeatherConditionsFacts, WeatherMetricsFacts } from './weather.ts';

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

import Type from 'typebox';
import { LabelFreshness, LabelProvenance } from './envelope.ts';
import { Acquisition, Gap } from './labels.ts';
import { closed, constant, count, labelerDid, measure, orNull, timestamp, word } from './schema.ts';
import {
  discoveryWays,
  fewerThanFive,
  labelerProblems,
  labelerStates,
  readingTransports,
  signatureVerdicts,
} from './vocabulary.ts';

/**
 * Documents about labelers, which name each labeler. Their paths are outside `/v1/`; the `contract` field states their
 * version.
 */

/** Contract ids of the documents about labelers. */
export const labelerContractIds = { list: 'almanac.labelers/v1', one: 'almanac.labeler/v1' } as const;

/** Paths of the documents and pages about labelers, relative to `{base_url}`. */
export const labelerPaths = {
  list: '/labelers.json',
  page: '/labelers',
  /** Prefix of the paths of one labeler. Its DID follows, and then `.json` for the document. */
  one: '/labelers/',
  openapi: '/labelers/openapi.json',
} as const;

/** Maximum number of gaps in a labeler's document. */
export const maxDocumentGaps = 16;

const day = (description: string) => Type.String({ pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}$', description });

/** Handle of a labeler, as stated in its DID document. */
export const LabelerHandle = closed(
  {
    name: Type.String({ maxLength: 253, description: "The handle that the labeler's document claims." }),
    confirmed: Type.Boolean({ description: 'True if the handle resolved to this DID.' }),
  },
  { title: 'LabelerHandle', description: 'Handle of a labeler, as its DID document claims it.' },
);
/** Handle of a labeler, as stated in its DID document. */
export type LabelerHandle = Type.Static<typeof LabelerHandle>;

/** Observed events of one labeler in three periods that end at `window.end`. */
export const LabelerEvents = closed(
  {
    window: orNull(
      count('Observed application and removal events of the window, without excluded repeats.'),
      'Null if nothing was read in the window.',
    ),
    week: orNull(
      count('Observed application and removal events of the last 7 days, without excluded repeats.'),
      'Null if nothing was read in the last 7 days.',
    ),
    day: orNull(
      count('Observed application and removal events of the last 24 hours, without excluded repeats.'),
      'Null if nothing was read in the last 24 hours.',
    ),
  },
  { title: 'LabelerEvents', description: 'Observed events of one labeler in three spans that end at `window.end`.' },
);

const withheld = () =>
  Type.Literal('privacy', { description: 'Not published, because the privacy scan found an identity.' });

/** Fields that a labeler has both in the list and in its own document. */
const identity = {
  did: labelerDid(),
  handle: orNull(LabelerHandle, 'Null if the labeler has no handle, or if the handle is withheld.'),
  handle_withheld: Type.Optional(withheld()),
  enrolled: Type.Boolean({ description: 'False if Almanac no longer follows the labeler.' }),
  state: word(labelerStates, 'State of the labeler as a source. Only established labelers are read.'),
  state_since: timestamp('Time at which the labeler entered this state.'),
  problem: orNull(
    word(labelerProblems, 'Problem.'),
    'The problem that explains the state. For an established labeler: `labels_refused` if labels were refused in the last 24 hours; `unknown` if it is paused by a limit that it did not reach itself. Null if the labeler is read completely.',
  ),
  found_by: Type.Array(word(discoveryWays, 'A way of finding labelers.'), {
    description:
      'How the labeler was found. Empty if this is unknown, or if the labeler was added only because the operator allowed its DID.',
  }),
  read_by: orNull(
    word(readingTransports, 'Transport.'),
    'subscribeLabels or queryLabels; null if the labeler is not being read.',
  ),
  last_answered: orNull(timestamp('Instant.'), 'When the labeler last responded.'),
  last_row: orNull(
    timestamp('Instant.'),
    'When the last row of the labeler in the window was accepted; excluded repeats do not count. Null if there is no such row or the search is not complete.',
  ),
};

/** One labeler in the list. */
export const LabelerSummary = closed(
  {
    ...identity,
    events: LabelerEvents,
    unread_days_7d: Type.Integer({
      minimum: 0,
      maximum: 7,
      description: 'Number of days that were not completely read, among the last 7 UTC days.',
    }),
  },
  { title: 'LabelerSummary', description: 'One labeler in the list.' },
);
/** One labeler in the list. */
export type LabelerSummary = Type.Static<typeof LabelerSummary>;

/** Window of a document. Every count and gap refers to the window or to a part of it. */
export const LabelerWindow = closed(
  { start: timestamp('Start, inclusive.'), end: timestamp('End, exclusive: generated_at.') },
  { title: 'LabelerWindow', description: 'The window of every count and gap.' },
);

const frame = {
  window: LabelerWindow,
  acquisition: Acquisition,
  counted_since: orNull(
    timestamp('Instant.'),
    'Time from which signatures, values and delays are counted; null if they are not counted yet.',
  ),
  conclusion: Type.String({ description: 'The coverage in one or two English sentences. Do not parse it.' }),
};

/** Number of listed labelers by state. */
export const LabelerStateCounts = Type.Unsafe<Record<(typeof labelerStates)[number], number>>(
  closed(Object.fromEntries(labelerStates.map((state) => [state, count(`Labelers in the state ${state}.`)])), {
    title: 'LabelerStateCounts',
    description: 'Numbers of listed labelers by state.',
  }),
);

/** Facts of `/labelers.json`. */
export const LabelersFacts = closed(
  {
    ...frame,
    states: LabelerStateCounts,
    omitted: count('Labelers beyond the maximum of 5,000, which are not listed.'),
    labelers: Type.Array(LabelerSummary, { maxItems: 5_000, description: 'Sorted by DID.' }),
  },
  { title: 'LabelersFacts', description: 'The listed labelers and their coverage.' },
);
/** Facts of `/labelers.json`. */
export type LabelersFacts = Type.Static<typeof LabelersFacts>;

/** Observed events of one UTC day. */
export const LabelerDay = closed(
  {
    day: day('UTC day. The first and the last day of the window are partial.'),
    applied: orNull(count('Events.'), 'Applications; null if no part of the day was read.'),
    removed: orNull(count('Events.'), 'Removals; null if no part of the day was read.'),
    read_share: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Fraction (0 to 1) of the day, or of its part within the window, that was read.',
    }),
    read_late: Type.Optional(
      Type.Boolean({
        description:
          'True if the labeler was read late during more than 15 minutes of the day: labels of that time were accepted together at its end, which may be on a later day, so the counts of the two days cannot be compared. Absent if the instrument did not state it.',
      }),
    ),
  },
  { title: 'LabelerDay', description: 'Observed events of one UTC day.' },
);
/** Observed events of one UTC day. */
export type LabelerDay = Type.Static<typeof LabelerDay>;

/**
 * A count whose small values are not published: counts from 0 to 4 become `fewer_than_5`. The word is an enumeration,
 * because openapi-python-client (0.29) generates clients that refuse every number in a union with a constant. The schema
 * has a name, because oapi-codegen (2.8) gives no access to the value of a union without one.
 */
export const LabelerCount = Type.Union(
  [
    Type.Integer({ minimum: 5, maximum: Number.MAX_SAFE_INTEGER }),
    word([fewerThanFive], 'A count from 0 to 4, which is not published exactly.'),
  ],
  { title: 'LabelerCount', description: 'A count, or fewer_than_5 for a count from 0 to 4.' },
);

/** A value that the labeler declares, with its observed events. */
export const LabelerValue = closed(
  {
    value: Type.String({ maxLength: 128, description: 'A value that the definitions of the labeler declare.' }),
    events: orNull(
      LabelerCount,
      'Applications and removals since counted_since; null if they are not counted yet, or if the number would reveal a count below five.',
    ),
    first_defined: day('UTC day on which the value was first seen in the definitions.'),
    last_defined: orNull(
      day('UTC day.'),
      'UTC day on which the value was last seen in the definitions; null if it is still defined.',
    ),
  },
  { title: 'LabelerValue', description: 'A value that the labeler declares, with its observed events.' },
);
/** A value that the labeler declares, with its observed events. */
export type LabelerValue = Type.Static<typeof LabelerValue>;

/** A labeler's own definition of one of its values. All texts are untrusted and verbatim. */
export const LabelerDefinition = closed(
  {
    value: Type.String({ maxLength: 128, description: 'The value that is defined.' }),
    severity: orNull(Type.String({ maxLength: 32 }), 'As the labeler wrote it.'),
    blurs: orNull(Type.String({ maxLength: 32 }), 'As the labeler wrote it.'),
    default_setting: orNull(Type.String({ maxLength: 32 }), 'As the labeler wrote it.'),
    adult_only: Type.Boolean({ description: 'True if the labeler restricts the value to adults.' }),
    locales: Type.Array(
      closed({
        lang: Type.String({ maxLength: 64, description: 'Language tag, as the labeler wrote it.' }),
        name: Type.String({ description: 'Name of the value in this language.' }),
        description: Type.String({ description: 'Explanation of the value in this language.' }),
      }),
      { description: 'Texts of the definition by language.' },
    ),
    withheld: Type.Optional(withheld()),
  },
  {
    title: 'LabelerDefinition',
    description: "The labeler's own definition of a value. All texts are untrusted and verbatim.",
  },
);
/** A labeler's own definition of one of its values. */
export type LabelerDefinition = Type.Static<typeof LabelerDefinition>;

/** A labeler's definitions of its values, with the time at which they were observed. */
export const LabelerDefinitions = closed(
  {
    seen_at: timestamp('When the newest definitions were observed.'),
    values: Type.Array(LabelerDefinition, { description: 'Definitions in the order in which the labeler lists them.' }),
    values_omitted: count('Number of values that did not fit or are withheld entirely.'),
  },
  { title: 'LabelerDefinitions', description: "The labeler's own definitions of its values." },
);
/** A labeler's definitions of its values, with the time at which they were observed. */
export type LabelerDefinitions = Type.Static<typeof LabelerDefinitions>;

const Signatures = Type.Unsafe<Record<(typeof signatureVerdicts)[number], number>>(
  closed(
    Object.fromEntries(signatureVerdicts.map((verdict) => [verdict, count(`Events with the verdict ${verdict}.`)])),
  ),
);

/** Facts of `/labelers/DID.json`. */
export const LabelerFacts = closed(
  {
    ...frame,
    ...identity,
    first_answered: orNull(timestamp('Instant.'), 'When the labeler first responded.'),
    remedy: orNull(
      Type.String(),
      "How the labeler's operator can end the problem, in English; null if there is no problem. Do not parse it.",
    ),
    events: LabelerEvents,
    repeats: count(
      'Rows that repeat known labels after a change of key. Events and days exclude them; signatures, values, undeclared and delay_ms include them.',
    ),
    days: Type.Array(LabelerDay, { maxItems: 400, description: 'UTC days of the window, oldest first.' }),
    gaps: Type.Array(Gap, { maxItems: maxDocumentGaps, description: 'Parts of the window that were not read.' }),
    gap_overflow: Type.Boolean({
      description: 'True if the closest gaps were merged because their number exceeded the maximum.',
    }),
    signatures: orNull(Signatures, 'Events by verdict on the signature; null if they are not counted yet.'),
    values: Type.Array(LabelerValue, { description: 'Most frequent first, then by name.' }),
    values_omitted: count('Number of declared values, as far as they are known, that did not fit or are withheld.'),
    undeclared: orNull(
      LabelerCount,
      'Events of all values that are not listed; null if they are not counted yet, if it is not known which values the labeler declares, or if the number would reveal a count below five.',
    ),
    replaces_rows: orNull(Type.Boolean(), 'True if the labeler keeps only the newest row of a label; null if unknown.'),
    delay_ms: orNull(
      closed({
        p50: measure('Median, in milliseconds.'),
        p90: measure('90th percentile, in milliseconds.'),
        labels: count('Labels that arrived live since counted_since.'),
      }),
      'Time from `cts` to acceptance of labels that arrived live; null if no label arrived live.',
    ),
    definitions: orNull(LabelerDefinitions, 'Null if the definitions are not known.'),
  },
  { title: 'LabelerFacts', description: 'One labeler: state, events by day, gaps, signatures, values and delay.' },
);
/** Facts of `/labelers/DID.json`. */
export type LabelerFacts = Type.Static<typeof LabelerFacts>;

function envelope<C extends string, F extends Type.TSchema>(contract: C, facts: F, title: string) {
  return closed(
    {
      contract: constant(contract, 'Identifier of this contract, with its major version: check it.'),
      instrument: constant('labels', 'Instrument that produced the facts.'),
      generated_at: timestamp('When the instrument produced the artifact; equal to that of the label overview.'),
      retrieved_at: timestamp('When the service built this representation.'),
      age_seconds: Type.Number({ description: 'retrieved_at minus generated_at, in seconds.' }),
      facts,
      caveats: Type.Array(Type.String(), {
        description: 'Limitations of the facts; always show them together with the facts.',
      }),
      provenance: LabelProvenance,
      freshness: LabelFreshness,
    },
    { title, description: 'A document about labelers in the envelope of the facts.' },
  );
}

/** Envelope of `GET /labelers.json`. */
export const LabelersEnvelope = envelope(labelerContractIds.list, LabelersFacts, 'LabelersEnvelope');
/** Envelope of `GET /labelers.json`. */
export type LabelersEnvelope = Type.Static<typeof LabelersEnvelope>;

/** Envelope of `GET /labelers/DID.json`. */
export const LabelerEnvelope = envelope(labelerContractIds.one, LabelerFacts, 'LabelerEnvelope');
/** Envelope of `GET /labelers/DID.json`. */
export type LabelerEnvelope = Type.Static<typeof LabelerEnvelope>;

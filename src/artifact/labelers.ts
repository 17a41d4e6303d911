import Type from 'typebox';
import {
  discoveryWays,
  fewerThanFive,
  labelerProblems,
  labelerStates,
  readingTransports,
} from '../contract/labeler-vocabulary.ts';
import { gapReasons, origins, signatureVerdicts } from '../contract/vocabulary.ts';
import { check, count, labelerDid, measure, nullable, oneOf, usableInstant, uuidText } from './schema.ts';

/**
 * Schemas of the labelers artifact: two files of JSON lines that the label instrument writes before each overview, from
 * the same reading of its store and with the same `generated_at`.
 *
 * - `labelers.ndjson`: a header, then one line per labeler that is enrolled, or was enrolled in the window;
 * - `labeler-definitions.ndjson`: a header, then one line per labeler with the texts of its declared values.
 *
 * Lines are sorted by DID. Unlike published schemas, these schemas are open: only named fields are read.
 */

/** Maximum number of labelers in the artifact. */
export const maxListedLabelers = 5_000;
/** Maximum bytes of a labeler's line in `labelers.ndjson`, without the line feed. */
export const maxLabelerLineBytes = 3_000;
/** Maximum bytes of a labeler's line in `labeler-definitions.ndjson`, without the line feed. */
export const maxDefinitionsLineBytes = 64 * 1024;
/** Maximum bytes of `labelers.ndjson`. */
export const maxLabelersBytes = 16 * 1024 * 1024;
/** Maximum bytes of `labeler-definitions.ndjson`. */
export const maxDefinitionsBytes = 32 * 1024 * 1024;
/** Maximum number of gaps of a labeler. */
export const maxLabelerGaps = 16;

const header = {
  /** Equal to the overview's `generated_at`. */
  generated_at: usableInstant(),
  /** Equal to the overview's `acquisition.generation_id`. */
  generation_id: uuidText(),
  /** Number of lines that follow. */
  labelers: count(),
};

const LabelersHeaderSchema = Type.Object({
  schema: Type.Literal('labels.labelers.v1'),
  ...header,
  origin: Type.Optional(oneOf(origins)),
  /** Start of the epoch; equal to the overview's `acquisition.started_at`. */
  started_at: usableInstant(),
  /** The window of every count and gap. */
  window: Type.Object({ start: usableInstant(), end: usableInstant() }),
  /** UTC days of the window, oldest first, `YYYY-MM-DD`; the first and the last are partial. */
  days: Type.Array(Type.String(), { maxItems: 400 }),
  /** Instant from which signatures, values and delays are counted, or null if nothing is counted yet. */
  counted_since: nullable(usableInstant()),
  /** Number of labelers beyond the maximum, which have no line. */
  omitted: count(),
});

const SmallCount = Type.Union([count(), Type.Literal(fewerThanFive)]);

const LabelerSchema = Type.Object({
  did: labelerDid(),
  /** Handle that the labeler's document claims. Null if the document claims no handle, or if the handle is withheld. */
  handle: nullable(Type.Object({ name: Type.String({ maxLength: 253 }), confirmed: Type.Boolean() })),
  /** True if the handle is not published because the privacy scan found something else than a handle in it. */
  handle_withheld: Type.Optional(Type.Literal('privacy')),
  enrolled: Type.Boolean(),
  state: oneOf(labelerStates),
  state_since: usableInstant(),
  /** The problem that explains the state, or null if the labeler is read. */
  problem: nullable(oneOf(labelerProblems)),
  found_by: Type.Array(oneOf(discoveryWays)),
  /** Null if the labeler is not being read. */
  read_by: nullable(oneOf(readingTransports)),
  first_answered: nullable(usableInstant()),
  last_answered: nullable(usableInstant()),
  /**
   * Acceptance time of the labeler's last row in the window, without excluded repeats, truncated to the minute. Null if
   * there is no such row, or if the search through many hours of repeats is not complete yet.
   */
  last_row: nullable(usableInstant()),
  /** Applications and removals of the window, of 7 days and of 24 hours, without excluded repeats. */
  events: Type.Object({ window: count(), week: count(), day: count() }),
  /**
   * Rows of the window that repeat known labels after a change of key. `events` and `days` exclude these rows;
   * `signatures`, `values`, `undeclared` and `delay_ms` include them.
   */
  repeats: count(),
  /**
   * One entry per day of the header, with the applications, the removals, and the share of the day that was read (or of
   * the part of the day in the window). The counts are null for a day that was not read at all.
   */
  days: Type.Array(Type.Tuple([nullable(count()), nullable(count()), measure()]), { maxItems: 400 }),
  /** Unobserved time in the window, sorted, disjoint per reason, and merged if there are too many gaps. */
  gaps: Type.Array(Type.Object({ start: usableInstant(), end: usableInstant(), reason: oneOf(gapReasons) }), {
    maxItems: maxLabelerGaps,
  }),
  /** True if there were more gaps than the maximum, so that the closest ones were merged. */
  gap_overflow: Type.Boolean(),
  /** Observed events by verdict on the signature, since `counted_since`, or null if nothing is counted yet. */
  signatures: nullable(
    Type.Object(Object.fromEntries(signatureVerdicts.map((verdict) => [verdict, count()])) as Verdicts),
  ),
  /** Declared values, most frequent first, then by name; counts since `counted_since`. */
  values: Type.Array(
    Type.Object({
      value: Type.String({ maxLength: 128 }),
      /**
       * Applications and removals, or null if nothing is counted yet, or if the count would reveal the only other count
       * below five.
       */
      events: nullable(SmallCount),
      /** UTC day on which the value was first in the labeler's definitions, as far as stored revisions show. */
      first_defined: Type.String(),
      /** UTC day on which the value was last in the labeler's definitions, or null if the value is still in them. */
      last_defined: nullable(Type.String()),
    }),
  ),
  /** Number of declared values that do not fit into the line or are withheld. */
  values_omitted: count(),
  /** Events of all values that are not listed in `values`. Null for the same reasons as the counts of a value. */
  undeclared: nullable(SmallCount),
  /** True if the labeler keeps only the newest row of a label, or null if unknown. */
  replaces_rows: nullable(Type.Boolean()),
  /** Time from `cts` to acceptance of labels that arrived live, in milliseconds. Null if there are no such labels. */
  delay_ms: nullable(Type.Object({ p50: count(), p90: count(), labels: count() })),
});

type Verdicts = Record<(typeof signatureVerdicts)[number], ReturnType<typeof count>>;

const DefinitionsHeaderSchema = Type.Object({ schema: Type.Literal('labels.labeler-definitions.v1'), ...header });

const LabelerDefinitionsSchema = Type.Object({
  did: labelerDid(),
  /** Instant at which the newest definitions were observed. */
  seen_at: usableInstant(),
  values: Type.Array(
    Type.Object({
      value: Type.String({ maxLength: 128 }),
      severity: nullable(Type.String({ maxLength: 32 })),
      blurs: nullable(Type.String({ maxLength: 32 })),
      default_setting: nullable(Type.String({ maxLength: 32 })),
      adult_only: Type.Boolean(),
      /** Texts by language. Untrusted text, verbatim, that the privacy scan accepted. */
      locales: Type.Array(
        Type.Object({ lang: Type.String({ maxLength: 64 }), name: Type.String(), description: Type.String() }),
      ),
      /** `privacy` if a text of this value is not published because it contains an identity. */
      withheld: Type.Optional(Type.Literal('privacy')),
    }),
  ),
  /** Number of values that do not fit into the line or are withheld as a whole. */
  values_omitted: count(),
});

/** Header of `labelers.ndjson`. */
export type LabelersHeader = Type.Static<typeof LabelersHeaderSchema>;
/** One labeler's line of `labelers.ndjson`. */
export type LabelerLine = Type.Static<typeof LabelerSchema>;
/** Header of `labeler-definitions.ndjson`. */
export type DefinitionsHeader = Type.Static<typeof DefinitionsHeaderSchema>;
/** One labeler's line of `labeler-definitions.ndjson`. */
export type LabelerDefinitionsLine = Type.Static<typeof LabelerDefinitionsSchema>;

/** Checks the header of `labelers.ndjson`. */
export const checkLabelersHeader = check(LabelersHeaderSchema);
/** Checks one labeler's line of `labelers.ndjson`. */
export const checkLabeler = check(LabelerSchema);
/** Checks the header of `labeler-definitions.ndjson`. */
export const checkDefinitionsHeader = check(DefinitionsHeaderSchema);
/** Checks one labeler's line of `labeler-definitions.ndjson`. */
export const checkLabelerDefinitions = check(LabelerDefinitionsSchema);

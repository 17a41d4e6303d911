import Type from 'typebox';
import {
  discoveryWays,
  fewerThanFive,
  gapReasons,
  labelerProblems,
  labelerStates,
  origins,
  readingTransports,
  signatureVerdicts,
} from '../contract/vocabulary.ts';
import { check, count, labelerDid, measure, nullable, oneOf, usableInstant, uuidText } from '../input/schema.ts';

/**
 * Schemas of the labelers artifact: two JSON Lines files that the label instrument writes before each overview, from
 * the same state of its store and with the same `generated_at`. `labelers.ndjson` has a header and one line for each
 * labeler that is enrolled or was enrolled in the window. `labeler-definitions.ndjson` has a header and one line for
 * each labeler with the texts of its declared values. Lines are sorted by DID. Unlike published schemas, these schemas
 * are open: only named fields are read.
 */

/** Limits of the labelers artifact. Lengths are in bytes, those of a line without its line feed. */
export const labelersLimits = {
  /** Maximum number of labelers. */
  labelers: 5_000,
  /** Maximum length of a labeler's line in `labelers.ndjson`. */
  lineBytes: 3_000,
  /** Maximum length of a labeler's line in `labeler-definitions.ndjson`. */
  definitionsLineBytes: 64 * 1024,
  /** Maximum size of `labelers.ndjson`. */
  fileBytes: 16 * 1024 * 1024,
  /** Maximum size of `labeler-definitions.ndjson`. */
  definitionsFileBytes: 32 * 1024 * 1024,
  /** Maximum number of gaps of one labeler. */
  gaps: 16,
} as const;

const header = {
  /** Same value as the overview's `generated_at`. */
  generated_at: usableInstant(),
  /** Same value as the overview's `acquisition.generation_id`. */
  generation_id: uuidText(),
  /** Number of lines that follow. */
  labelers: count(),
};

const LabelersHeaderSchema = Type.Object({
  schema: Type.Literal('labels.labelers.v1'),
  ...header,
  origin: Type.Optional(oneOf(origins)),
  /** Start of the epoch; same value as the overview's `acquisition.started_at`. */
  started_at: usableInstant(),
  /** Window to which every count and gap refers. */
  window: Type.Object({ start: usableInstant(), end: usableInstant() }),
  /** UTC days of the window, oldest first, `YYYY-MM-DD`; the first and the last are partial. */
  days: Type.Array(Type.String(), { maxItems: 400 }),
  /** Time since which signatures, values and delays have been counted; null if nothing is counted yet. */
  counted_since: nullable(usableInstant()),
  /** Number of labelers that exceed the maximum and therefore have no line. */
  omitted: count(),
});

const SmallCount = Type.Union([count(), Type.Literal(fewerThanFive)]);

const LabelerSchema = Type.Object({
  did: labelerDid(),
  /** Handle in the labeler's DID document. Null if the document has no handle, or if the handle is withheld. */
  handle: nullable(Type.Object({ name: Type.String({ maxLength: 253 }), confirmed: Type.Boolean() })),
  /** Present if the handle is withheld because the privacy scan found something other than a handle in it. */
  handle_withheld: Type.Optional(Type.Literal('privacy')),
  enrolled: Type.Boolean(),
  state: oneOf(labelerStates),
  state_since: usableInstant(),
  /** Problem that explains the state, a pause or missing labels; null if the labeler is read completely. */
  problem: nullable(oneOf(labelerProblems)),
  found_by: Type.Array(oneOf(discoveryWays)),
  /** Method by which the labeler is read; null if it is not being read. */
  read_by: nullable(oneOf(readingTransports)),
  first_answered: nullable(usableInstant()),
  last_answered: nullable(usableInstant()),
  /**
   * Acceptance time of the labeler's last row in the window, truncated to the minute; excluded repeats do not count.
   * Null if there is no such row, or if the search through many hours of repeats has not found it yet.
   */
  last_row: nullable(usableInstant()),
  /** Applications and removals in the window, in 7 days and in 24 hours, without excluded repeats. */
  events: Type.Object({ window: count(), week: count(), day: count() }),
  /**
   * Rows of the window that repeat known labels after a change of key. `events` and `days` exclude these rows;
   * `signatures`, `values`, `undeclared` and `delay_ms` include them.
   */
  repeats: count(),
  /**
   * One entry for each day of the header: the applications, the removals, and the observed share of the day (or of the
   * part of the day that is in the window). Both counts are null for a day that was not observed at all.
   */
  days: Type.Array(Type.Tuple([nullable(count()), nullable(count()), measure()]), { maxItems: 400 }),
  /**
   * Indexes of the days on which the labeler was read late: labels of that time were accepted together at its end, which
   * may be on a later day. Absent in an artifact of an earlier version, which did not state this.
   */
  late_days: Type.Optional(Type.Array(count(), { maxItems: 400 })),
  /**
   * Periods during which the labeler was not observed. Sorted, disjoint per reason, and merged if there are too many.
   */
  gaps: Type.Array(Type.Object({ start: usableInstant(), end: usableInstant(), reason: oneOf(gapReasons) }), {
    maxItems: labelersLimits.gaps,
  }),
  /** True if gaps were merged with their nearest neighbours because their number exceeded the maximum. */
  gap_overflow: Type.Boolean(),
  /**
   * Observed events by result of the signature check, since `counted_since`; null if nothing is counted yet. Like `values`
   * and `delay_ms`, these counts are read after the others and may include events of that moment.
   */
  signatures: nullable(
    Type.Object(Object.fromEntries(signatureVerdicts.map((verdict) => [verdict, count()])) as Verdicts),
  ),
  /** Declared values, the most frequent first, then by name. Their counts begin at `counted_since`. */
  values: Type.Array(
    Type.Object({
      value: Type.String({ maxLength: 128 }),
      /**
       * Applications and removals. Null if nothing is counted yet, or if the number would reveal another value's
       * count, which is withheld because it is below five.
       */
      events: nullable(SmallCount),
      /**
       * UTC day on which the value first appeared in the labeler's definitions, as far as the stored revisions show.
       */
      first_defined: Type.String(),
      /** UTC day on which the value last appeared in the labeler's definitions; null if it is still defined. */
      last_defined: nullable(Type.String()),
    }),
  ),
  /** Number of declared values, as far as they are known, that did not fit into the line or are withheld. */
  values_omitted: count(),
  /**
   * Events of all values that are not listed in `values`. Null for the same reasons as the counts of a value, or if the
   * definitions could not be read yet.
   */
  undeclared: nullable(SmallCount),
  /** True if the labeler keeps only the newest row of each label; null if unknown. */
  replaces_rows: nullable(Type.Boolean()),
  /** Delay between `cts` and acceptance of labels that arrived live, in milliseconds. Null if no label arrived live. */
  delay_ms: nullable(Type.Object({ p50: count(), p90: count(), labels: count() })),
});

type Verdicts = Record<(typeof signatureVerdicts)[number], ReturnType<typeof count>>;

const DefinitionsHeaderSchema = Type.Object({ schema: Type.Literal('labels.labeler-definitions.v1'), ...header });

const LabelerDefinitionsSchema = Type.Object({
  did: labelerDid(),
  /** Time at which the newest definitions were observed. */
  seen_at: usableInstant(),
  values: Type.Array(
    Type.Object({
      value: Type.String({ maxLength: 128 }),
      severity: nullable(Type.String({ maxLength: 32 })),
      blurs: nullable(Type.String({ maxLength: 32 })),
      default_setting: nullable(Type.String({ maxLength: 32 })),
      adult_only: Type.Boolean(),
      /** Texts by language. They are untrusted and verbatim, and the privacy scan has accepted them. */
      locales: Type.Array(
        Type.Object({ lang: Type.String({ maxLength: 64 }), name: Type.String(), description: Type.String() }),
      ),
      /** Present if a text of this value is withheld because it contains an identity (DID, AT-URI or handle). */
      withheld: Type.Optional(Type.Literal('privacy')),
    }),
  ),
  /** Number of values that did not fit into the line or are withheld entirely. */
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

import Type from 'typebox';
import { didPlcPattern, didWebPattern, maxDidLength } from './identifiers.ts';
import { Acquisition, Gap } from './labels.ts';
import { closed, constant, count, orNull, timestamp, word } from './schema.ts';
import { coverageStatuses, labelActions, signatureVerdicts, targetKinds } from './vocabulary.ts';

/**
 * Schemas of account exports: the data that the account-view API returns for one account. An export names the account,
 * so no part of it may be used in an aggregate fact.
 */

/** Id of the manifest and row format of an export, with its major version. */
export const accountExportSchema = 'atproto.account.export/v1';

/** Maximum number of gaps listed for each labeler. If there are more, the closest ones are merged. */
export const maxGapsPerLabeler = 16;

/** Maximum length of a `value` filter in bytes; the label lexicon has the same limit. */
export const maxValueBytes = 128;

function did(description: string) {
  return Type.String({ pattern: `${didPlcPattern}|${didWebPattern}`, maxLength: maxDidLength, description });
}

/** One observation: a label that a labeler put on the account or one of its records, as Almanac accepted it. */
export const AccountRow = closed(
  {
    labeler_did: Type.String({ description: 'DID of the labeler.' }),
    uri: Type.String({ description: "The label's subject: the account, or an AT-URI of one of its records." }),
    cid: Type.Optional(Type.String({ description: 'Version of the record, if the label names one.' })),
    value: Type.String({ description: 'Value of the label: arbitrary text chosen by the labeler.' }),
    action: word(labelActions, 'Whether the label was applied or removed.'),
    source_timestamp: Type.String({ description: 'Creation time that the labeler claims, verbatim.' }),
    observed_at: timestamp('Acceptance time, with microseconds: unique, increasing in the order of acceptance.'),
    expires_at: Type.Optional(Type.String({ description: "The label's expiry, verbatim." })),
    signature: word(signatureVerdicts, 'Result of the signature check.'),
  },
  {
    title: 'AccountRow',
    description: "One observation: a labeler's label on the account or on one of its records, as accepted.",
  },
);
/** One observation: a label that a labeler put on the account or one of its records, as Almanac accepted it. */
export type AccountRow = Type.Static<typeof AccountRow>;

/** The requested interval, clipped to the window. */
export const ExportInterval = closed(
  {
    start: timestamp('Start, inclusive.'),
    end: timestamp('End, exclusive.'),
    end_exclusive: Type.Literal(true, { description: 'Always true.' }),
  },
  { title: 'ExportInterval', description: 'The requested interval, clipped to the window.' },
);

/** Filters of an export. A filter that is absent matches everything. */
export const ExportFilters = closed(
  {
    labeler: Type.Optional(did('Labels of this labeler.')),
    value: Type.Optional(Type.String({ description: 'Labels with exactly this value, at most 128 bytes.' })),
    action: Type.Optional(word(labelActions, 'Applications or removals.')),
    target_kind: Type.Optional(word(targetKinds, 'Labels on the account itself, on posts, or on other records.')),
  },
  { title: 'ExportFilters', description: 'Filters as requested; an absent one matches everything.' },
);

/** Unobserved time of one labeler. */
export const LabelerCoverage = closed(
  {
    labeler_did: Type.String({ description: 'DID of the labeler.' }),
    state: Type.String({
      description:
        'How Almanac reads this labeler: `established` if the labeler is read in full from its read position onwards.',
    }),
    gaps: Type.Array(Gap, {
      maxItems: maxGapsPerLabeler,
      description:
        'Gaps of this labeler only. If there are more than 16, the closest gaps are merged, which overstates gaps and never hides one.',
    }),
  },
  { title: 'LabelerCoverage', description: 'Unobserved time of one labeler.' },
);
/** Unobserved time of one labeler. */
export type LabelerCoverage = Type.Static<typeof LabelerCoverage>;

/** Coverage of the interval. The absence of recorded gaps does not prove complete coverage. */
export const AccountCoverage = closed(
  {
    status: word(
      coverageStatuses,
      'The first that applies: unknown (a labeler is not read in full; the last page was accepted before the end of the interval and more than 10 minutes before `created_at`; or no page was accepted since the start of the interval), warming_up, gapped, no_recorded_gaps.',
    ),
    observed_through: orNull(
      timestamp('Latest accepted page of any labeler.'),
      'Latest accepted page of any labeler; null before the first.',
    ),
    covered_through: orNull(
      timestamp(
        'End of the coverage: the end of the interval, or `observed_through` if that is earlier. The part of the interval after it was not observed. It is listed as a gap (`source_unavailable`) if `observed_through` is more than 10 minutes before `created_at`, or not after the start of the interval.',
      ),
      'Null before the first accepted page.',
    ),
    warmup: orNull(Gap, 'The part of the requested interval before acquisition began; null if there is no such part.'),
    gaps: Type.Array(Gap, {
      maxItems: 128,
      description: 'Gaps that apply to every labeler: times at which no labeler was observed.',
    }),
    labelers: Type.Array(LabelerCoverage, {
      description:
        'Every labeler that is read (or the one in the filter), and every labeler that was not observed for part of the interval, with its own gaps. A labeler that is no longer enrolled has a gap from that time onwards. A labeler that was never read has one gap, the whole interval; without a filter, it is listed only while it is enrolled.',
    }),
  },
  {
    title: 'AccountCoverage',
    description: 'Coverage of the interval. The absence of recorded gaps does not prove complete coverage.',
  },
);
/** Coverage of the interval. The absence of recorded gaps does not prove complete coverage. */
export type AccountCoverage = Type.Static<typeof AccountCoverage>;

/** Manifest of an export: its query and its coverage. Clients must keep it together with the rows. */
export const ExportManifest = closed(
  {
    schema: constant(accountExportSchema, 'Id of the format of the manifest and rows.'),
    origin: Type.Optional(
      word(
        ['simulated', 'sample'],
        'Present if these are not observations of the live network: they say nothing about it.',
      ),
    ),
    account: did('The account.'),
    interval: ExportInterval,
    clipped: Type.Boolean({ description: 'Whether the interval is shorter than requested.' }),
    filters: ExportFilters,
    coverage: AccountCoverage,
    acquisition: Acquisition,
    frontier: timestamp(
      'Rows accepted at or after this time are not in the export. To continue, start the next export here, not at the end of the interval.',
    ),
    count_bound: count("The account's rows in the interval: exact without filters, else an upper bound."),
    current_label_state: constant('unknown', 'Observations do not establish which labels are active now.'),
    page_rows: Type.Integer({ minimum: 1, maximum: 500, description: 'Maximum number of rows on a page.' }),
    created_at: timestamp('Time at which the export was created.'),
    expires_at: timestamp('Time from which requests with a cursor of this export return 410.'),
    caveats: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 8,
        description: 'Further limits, for people; present if there are any, for example after rows were removed.',
      }),
    ),
  },
  { title: 'ExportManifest', description: 'The query of an export and its coverage. Keep it together with the rows.' },
);
/** Manifest of an export: its query and its coverage. Clients must keep it together with the rows. */
export type ExportManifest = Type.Static<typeof ExportManifest>;

function cursor(description: string) {
  return Type.String({ maxLength: 1024, pattern: '^[A-Za-z0-9_-]+$', description });
}

/** Response to a request that creates an export. `cursor` opens the first page. */
export const ExportCreated = closed(
  { manifest: ExportManifest, cursor: cursor('Opens the first page, even of an empty export.') },
  { title: 'ExportCreated', description: 'A created export; `cursor` opens its first page.' },
);
/** Response to a request that creates an export. `cursor` opens the first page. */
export type ExportCreated = Type.Static<typeof ExportCreated>;

const sha256 = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description:
    'The last digest of a chain: d0 is the SHA-256 of the canonical manifest of the created export, dn is the SHA-256 of the 32 bytes of dn-1 followed by the canonical row n. The canonical form is JSON as in RFC 8785 (JCS), in UTF-8.',
});
const total = count('Number of rows in the whole export.');

/** A page of an export that is not the last one. It may be short or even empty. */
export const ExportNextPage = closed(
  {
    manifest: ExportManifest,
    rows: Type.Array(AccountRow, { maxItems: 500, description: 'Observations in the order of acceptance.' }),
    next_cursor: cursor('Opens the next page.'),
    terminal: Type.Literal(false, { description: 'False: more pages follow.' }),
  },
  { title: 'ExportNextPage', description: 'A page that is not the last one. It may be short or empty.' },
);

/** A page of an export that is not the last one. It may be short or even empty. */
export type ExportNextPage = Type.Static<typeof ExportNextPage>;

/** The last page of an export. */
export const ExportLastPage = closed(
  {
    manifest: ExportManifest,
    rows: Type.Array(AccountRow, { maxItems: 500, description: 'Observations in the order of acceptance.' }),
    next_cursor: Type.Null({ description: 'Null: no page follows.' }),
    terminal: Type.Literal(true, { description: 'True: this is the last page.' }),
    count: total,
    content_sha256: sha256,
  },
  { title: 'ExportLastPage', description: 'The last page; without it an export is incomplete.' },
);

/** The last page of an export. */
export type ExportLastPage = Type.Static<typeof ExportLastPage>;

/** A page of an export. An export is complete only when its last page has been read. */
export const ExportPage = Type.Union([ExportNextPage, ExportLastPage], { title: 'ExportPage' });
/** A page of an export. An export is complete only when its last page has been read. */
export type ExportPage = Type.Static<typeof ExportPage>;

/** A whole export as one document. */
export const AccountDownload = closed(
  {
    manifest: ExportManifest,
    rows: Type.Array(AccountRow, { description: 'Observations in the order of acceptance.' }),
    count: total,
    content_sha256: sha256,
  },
  { title: 'AccountDownload', description: 'A whole export as one document.' },
);
/** A whole export as one document. */
export type AccountDownload = Type.Static<typeof AccountDownload>;

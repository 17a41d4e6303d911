import Type from 'typebox';
import { didPlcPattern, didWebPattern, maxDidLength } from './identifiers.ts';
import { Acquisition, Gap } from './labels.ts';
import { closed, constant, count, orNull, timestamp, word } from './schema.ts';
import { coverageStatuses, labelActions, signatureVerdicts, targetKinds } from './vocabulary.ts';

/**
 * What the account-view surface hands out of one account. Its subject is in it, so nothing of it ever becomes part
 * of an aggregate fact.
 */

/** Names the shape of an export's manifest and rows, with its major version. */
export const accountExportSchema = 'atproto.account.export/v1';

/** Paths of the account-view surface, relative to `{account_url}`, matched exactly. */
export const accountPaths = {
  account: '/account',
  exports: '/exports',
  download: '/download',
  health: '/health',
  openapi: '/openapi.json',
} as const;

/** Most gaps that are listed of one labeler; the nearest ones are joined beyond it. */
export const maxGapsPerLabeler = 16;

/** Most bytes of a `value` filter: what the label lexicon allows a value. */
export const maxValueBytes = 128;

function did(description: string) {
  return Type.String({ pattern: `${didPlcPattern}|${didWebPattern}`, maxLength: maxDidLength, description });
}

/** One observation: a labeler's label on the account or one of its records, as it was accepted. */
export const AccountRow = closed(
  {
    labeler_did: Type.String({ description: 'DID of the labeler.' }),
    uri: Type.String({ description: 'What the label is about: the account, or an AT-URI of one of its records.' }),
    cid: Type.Optional(Type.String({ description: 'The version of the record, where the label names one.' })),
    value: Type.String({ description: "The label's value: text of the labeler, whatever it holds." }),
    action: word(labelActions, 'Whether a label was applied or taken back.'),
    source_timestamp: Type.String({ description: 'When the labeler says that it made the label, verbatim.' }),
    observed_at: timestamp(
      'When it was accepted here, in microseconds: unique, increasing in the order of acceptance.',
    ),
    expires_at: Type.Optional(Type.String({ description: "The label's own expiry, verbatim." })),
    signature: word(signatureVerdicts, 'What was found when the signature was checked.'),
  },
  { title: 'AccountRow' },
);
/** One observation as it is handed out. */
export type AccountRow = Type.Static<typeof AccountRow>;

/** The asked interval, clipped to the window. */
export const ExportInterval = closed(
  {
    start: timestamp('Start, inclusive.'),
    end: timestamp('End, exclusive.'),
    end_exclusive: Type.Literal(true, { description: 'Always true.' }),
  },
  { title: 'ExportInterval' },
);

/** Filters as they were asked for; an absent one lets everything through. */
export const ExportFilters = closed(
  {
    labeler: Type.Optional(did('Labels of this labeler.')),
    value: Type.Optional(Type.String({ description: 'Labels with exactly this value, at most 128 bytes.' })),
    action: Type.Optional(word(labelActions, 'Applications or removals.')),
    target_kind: Type.Optional(word(targetKinds, 'Labels on the account itself, on posts, or on other records.')),
  },
  { title: 'ExportFilters' },
);

/** What could not be seen of one labeler. */
export const LabelerCoverage = closed(
  {
    labeler_did: Type.String({ description: 'DID of the labeler.' }),
    state: Type.String({ description: 'How it is read: `established` when it is read in full from its position on.' }),
    gaps: Type.Array(Gap, {
      maxItems: maxGapsPerLabeler,
      description:
        'What was missed of this labeler alone. Beyond 16 the nearest gaps are listed as one, which overstates and never hides.',
    }),
  },
  { title: 'LabelerCoverage' },
);
/** What could not be seen of one labeler. */
export type LabelerCoverage = Type.Static<typeof LabelerCoverage>;

/** What could not be seen in the interval. No recorded gaps does not prove complete coverage. */
export const AccountCoverage = closed(
  {
    status: word(
      coverageStatuses,
      'The first that applies: unknown (a labeler is not read in full, or no page was accepted for more than 10 minutes before the end of the interval), warming_up, gapped, no_recorded_gaps.',
    ),
    observed_through: orNull(timestamp('Latest accepted page of any labeler.'), 'Null before the first.'),
    covered_through: orNull(
      timestamp(
        'Coverage ends here: at the end of the interval, or at `observed_through` where that is earlier. Time between it and the end of the interval was not observed; beyond 10 minutes it is listed as a gap (`source_unavailable`).',
      ),
      'Null before the first accepted page.',
    ),
    warmup: orNull(Gap, 'The part of the asked interval before acquisition began; null when there is none.'),
    gaps: Type.Array(Gap, {
      maxItems: 128,
      description: 'Our own interruptions: what was missed of every labeler.',
    }),
    labelers: Type.Array(LabelerCoverage, {
      description:
        'Every labeler that is read (or the one of the filter), and every labeler that was missed for a part of the interval, with its own gaps. A labeler that left the enrolment has a gap from then on.',
    }),
  },
  { title: 'AccountCoverage' },
);
/** What could not be seen in the interval. */
export type AccountCoverage = Type.Static<typeof AccountCoverage>;

/** What an export is of and what it lacks. It belongs to the rows: keep both together. */
export const ExportManifest = closed(
  {
    schema: constant(accountExportSchema, 'Shape of manifest and rows.'),
    origin: Type.Optional(
      word(
        ['simulated', 'sample'],
        'Present when these are no observations of the live network: they say nothing about it.',
      ),
    ),
    account: did('The account.'),
    interval: ExportInterval,
    clipped: Type.Boolean({ description: 'Whether the interval is less than was asked for.' }),
    filters: ExportFilters,
    coverage: AccountCoverage,
    acquisition: Acquisition,
    frontier: timestamp(
      'Rows accepted at or after this instant are not in the export. To continue, start the next export here, not at the end of the interval.',
    ),
    count_bound: count("The account's rows in the interval: exact without filters, else an upper bound."),
    current_label_state: constant('unknown', 'Observations do not establish which labels are active now.'),
    page_rows: Type.Integer({ minimum: 1, maximum: 500, description: 'Most rows of a page.' }),
    created_at: timestamp('When the export was created.'),
    expires_at: timestamp('From then on its cursors answer 410.'),
    caveats: Type.Optional(
      Type.Array(Type.String(), {
        maxItems: 8,
        description: 'Further limits, for people; present where there are any, as when rows were removed.',
      }),
    ),
  },
  { title: 'ExportManifest' },
);
/** What an export is of and what it lacks. */
export type ExportManifest = Type.Static<typeof ExportManifest>;

function cursor(description: string) {
  return Type.String({ maxLength: 1024, pattern: '^[A-Za-z0-9_-]+$', description });
}

/** A created export: follow `cursor`. */
export const ExportCreated = closed(
  { manifest: ExportManifest, cursor: cursor('Opens the first page, even of an empty export.') },
  { title: 'ExportCreated' },
);
/** A created export. */
export type ExportCreated = Type.Static<typeof ExportCreated>;

const sha256 = Type.String({
  pattern: '^[0-9a-f]{64}$',
  description:
    'The last of a chain: d0 is the SHA-256 of the canonical manifest of the created export, dn that of the 32 bytes of dn-1 followed by the canonical row n. Canonical: JSON by RFC 8785 (JCS), UTF-8.',
});
const total = count('Rows of the whole export.');

/** A page that others follow. It may be short, even empty. */
export const ExportNextPage = closed(
  {
    manifest: ExportManifest,
    rows: Type.Array(AccountRow, { maxItems: 500 }),
    next_cursor: cursor('Opens the next page.'),
    terminal: Type.Literal(false),
  },
  { title: 'ExportNextPage' },
);

/** A page that others follow. */
export type ExportNextPage = Type.Static<typeof ExportNextPage>;

/** The last page. */
export const ExportLastPage = closed(
  {
    manifest: ExportManifest,
    rows: Type.Array(AccountRow, { maxItems: 500 }),
    next_cursor: Type.Null(),
    terminal: Type.Literal(true),
    count: total,
    content_sha256: sha256,
  },
  { title: 'ExportLastPage' },
);

/** The last page. */
export type ExportLastPage = Type.Static<typeof ExportLastPage>;

/** A page of an export. An export is whole only with its terminal page. */
export const ExportPage = Type.Union([ExportNextPage, ExportLastPage], { title: 'ExportPage' });
/** A page of an export. */
export type ExportPage = Type.Static<typeof ExportPage>;

/** A whole export as one document. */
export const AccountDownload = closed(
  { manifest: ExportManifest, rows: Type.Array(AccountRow), count: total, content_sha256: sha256 },
  { title: 'AccountDownload' },
);
/** A whole export as one document. */
export type AccountDownload = Type.Static<typeof AccountDownload>;

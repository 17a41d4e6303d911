import { labelerErrorBody } from '../labeler-errors.ts';
import { type LabelerEnvelope, type LabelersEnvelope, labelerContractIds } from '../labelers.ts';
import { examples } from '../openapi/examples.ts';

/** Examples of responses about labelers. Tests validate them against the schemas. */

const head = {
  instrument: 'labels',
  generated_at: '2026-11-20T12:00:00.000Z',
  retrieved_at: '2026-11-20T12:00:31.250Z',
  age_seconds: 31.25,
} as const;

const frame = {
  window: { start: '2026-10-21T12:00:00.000Z', end: '2026-11-20T12:00:00.000Z' },
  acquisition: {
    generation_id: '0f5c1c1e-7a43-4a3e-9a34-2f9a9a6d1b11',
    started_at: '2026-10-06T09:30:00.000Z',
    basis: 'local_acceptance_clock',
  },
  counted_since: '2026-11-12T08:00:00.000Z',
} as const;

const tail: Pick<LabelerEnvelope, 'caveats' | 'provenance' | 'freshness'> = {
  caveats: ['Having no observations does not mean that no labels exist.'],
  provenance: {
    instrument: 'labels',
    method: 'label_stream_and_poll',
    artifact_schema_version: 'labels.labelers.v1',
    origin: 'live',
  },
  freshness: {
    state: 'fresh',
    age_seconds: 31.25,
    basis: 'artifact_generated_at',
    max_age_seconds: 7200,
    collection_age_seconds: 43.13,
    collection_max_age_seconds: 7200,
  },
};

const failing: Omit<LabelersEnvelope['facts']['labelers'][number], 'events' | 'unread_days_7d'> = {
  did: 'did:plc:ar7c4by46qjdydhdevvrndac',
  handle: { name: 'labels.example.com', confirmed: true },
  enrolled: true,
  state: 'refused',
  state_since: '2026-11-18T04:10:00.000Z',
  problem: 'authentication_required',
  found_by: ['relay'],
  read_by: null,
  last_answered: '2026-11-18T04:05:12.000Z',
  last_row: '2026-11-18T04:01:00.000Z',
};

const list: LabelersEnvelope = {
  contract: labelerContractIds.list,
  ...head,
  facts: {
    ...frame,
    conclusion:
      '0 of the 1 labelers that Almanac follows were read without a gap in the last 7 days. The activity of the other one is known only in part.',
    states: {
      established: 0,
      probing: 0,
      unstarted: 0,
      refused: 1,
      cursor_order_unverified: 0,
      undated_only: 0,
      provider_rejects: 0,
      unavailable: 0,
      departed: 0,
      denied: 0,
    },
    omitted: 0,
    labelers: [{ ...failing, events: { window: 4192, week: 1204, day: null }, unread_days_7d: 3 }],
  },
  ...tail,
};

const one: LabelerEnvelope = {
  contract: labelerContractIds.one,
  ...head,
  facts: {
    ...frame,
    conclusion: 'Not read since 18 November; what it has done since then is not known.',
    ...failing,
    first_answered: '2026-10-06T09:31:02.000Z',
    remedy:
      'The endpoint responds to anonymous requests with 401 or 403. Allow subscribeLabels and queryLabels without authentication. If the refusal is intended, no action is necessary.',
    events: { window: 4192, week: 1204, day: null },
    repeats: 0,
    days: [
      { day: '2026-11-18', applied: 31, removed: 2, read_share: 0.1736 },
      { day: '2026-11-19', applied: null, removed: null, read_share: 0 },
    ],
    gaps: [{ start: '2026-11-18T04:10:00.000Z', end: '2026-11-20T12:00:00.000Z', reason: 'source_unavailable' }],
    gap_overflow: false,
    signatures: { verified: 1204, verified_earlier_key: 0, invalid: 0, unsigned: 0, unverified: 0 },
    values: [{ value: 'spam', events: 1200, first_defined: '2026-10-06', last_defined: null }],
    values_omitted: 0,
    undeclared: 'fewer_than_5',
    replaces_rows: false,
    delay_ms: { p50: 940, p90: 2410, labels: 1190 },
    definitions: {
      seen_at: '2026-11-17T10:00:00.000Z',
      values: [
        {
          value: 'spam',
          severity: 'inform',
          blurs: 'none',
          default_setting: 'warn',
          adult_only: false,
          locales: [{ lang: 'en', name: 'Spam', description: 'Unwanted advertisement.' }],
        },
      ],
      values_omitted: 0,
    },
  },
  ...tail,
};

/** Examples for the OpenAPI document, grouped by the response in which they appear. */
export const labelerExamples = {
  list: { list },
  one: { failing: one },
  refused: examples.labelsRefused,
  notFound: { unknown: labelerErrorBody('unknown_labeler'), no_such_path: labelerErrorBody('not_found') },
} as const;

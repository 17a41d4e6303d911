import type { LabelerEnvelope } from '../../src/contract/labelers.ts';

/** Returns a labeler document that contains every kind of content. */
export function labelerDocument(did = `did:plc:${'labeler'.repeat(4).slice(0, 24)}`): LabelerEnvelope {
  return {
    contract: 'almanac.labeler/v1',
    instrument: 'labels',
    generated_at: '2026-07-04T12:00:00.000Z',
    retrieved_at: '2026-07-04T12:00:05.000Z',
    age_seconds: 5,
    facts: {
      window: { start: '2026-06-04T12:00:00.000Z', end: '2026-07-04T12:00:00.000Z' },
      acquisition: {
        generation_id: '6f1b2a7e-3c55-4d0e-9f43-0d8f5d6f1c2b',
        started_at: '2026-06-20T00:00:00.000Z',
        basis: 'local_acceptance_clock',
      },
      counted_since: '2026-06-20T00:00:00.000Z',
      conclusion: 'Not read on 2 of the last 7 days; what it did then is not known.',
      remedy: 'The endpoint answers 403: allow anonymous reading.',
      did,
      handle: { name: 'mod.example.com', confirmed: true },
      enrolled: true,
      state: 'refused',
      state_since: '2026-07-04T11:00:00.000Z',
      problem: 'authentication_required',
      found_by: ['seeds', 'relay'],
      read_by: null,
      first_answered: '2026-06-20T00:00:10.000Z',
      last_answered: '2026-07-04T10:59:00.000Z',
      last_row: '2026-07-01T08:00:00.000Z',
      events: { window: 1_212, week: 12, day: 0 },
      repeats: 120,
      days: [
        { day: '2026-07-01', applied: 10, removed: 2, read_share: 1 },
        { day: '2026-07-02', applied: null, removed: null, read_share: 0 },
        { day: '2026-07-03', applied: null, removed: null, read_share: 0 },
        { day: '2026-07-04', applied: 0, removed: 0, read_share: 0.5 },
      ],
      gaps: [
        { start: '2026-07-02T00:00:00.000Z', end: '2026-07-04T00:00:00.000Z', reason: 'source_unavailable' },
        { start: '2026-07-04T11:00:00.000Z', end: '2026-07-04T12:00:00.000Z', reason: 'ingest_paused' },
      ],
      gap_overflow: false,
      signatures: { verified: 1_200, verified_earlier_key: 10, invalid: 1, unsigned: 1, unverified: 0 },
      values: [
        { value: 'spam', events: 1_200, first_defined: '2026-06-20', last_defined: null },
        { value: 'bot', events: null, first_defined: '2026-06-20', last_defined: '2026-07-01' },
        { value: 'rude', events: 'fewer_than_5', first_defined: '2026-06-20', last_defined: null },
      ],
      values_omitted: 1,
      undeclared: 'fewer_than_5',
      replaces_rows: true,
      delay_ms: { p50: 120, p90: 900, labels: 1_000 },
      definitions: {
        seen_at: '2026-06-20T00:01:00.000Z',
        values: [
          {
            ...{ value: 'spam', severity: 'alert', blurs: 'none', default_setting: 'warn', adult_only: false },
            locales: [{ lang: 'en', name: 'Spam', description: 'Unwanted advertising.' }],
          },
          {
            ...{ value: 'rude', severity: 'inform', blurs: 'none', default_setting: 'warn', adult_only: false },
            locales: [],
            withheld: 'privacy',
          },
        ],
        values_omitted: 0,
      },
    },
    caveats: ['Observed application and removal events do not establish which labels are active now.'],
    provenance: {
      ...{
        instrument: 'labels',
        artifact_schema_version: 'labels.labelers.v1',
        method: 'label_stream_and_poll',
      },
    },
    freshness: {
      ...{ state: 'fresh', basis: 'artifact_generated_at', age_seconds: 5, max_age_seconds: 900 },
    },
  };
}

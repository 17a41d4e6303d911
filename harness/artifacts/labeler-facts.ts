import type { LabelerFacts } from '../../src/contract/labelers.ts';

/** Returns the facts of a labeler that is read without gaps, with the given changes. */
export function aLabeler(changes: Partial<LabelerFacts> = {}): LabelerFacts {
  return {
    window: { start: '2026-10-21T12:00:00.000Z', end: '2026-11-20T12:00:00.000Z' },
    acquisition: {
      basis: 'local_acceptance_clock',
      started_at: '2026-10-01T00:00:00.000Z',
      generation_id: '5f4b8f04-6a0f-4d7e-9d5c-0d5a4c1f9b11',
    },
    counted_since: '2026-11-01T00:00:00.000Z',
    conclusion: 'Read without a gap.',
    did: 'did:plc:ewvi7nxzyoun6zhxrhs64oiz',
    handle: { name: 'mod.example', confirmed: true },
    enrolled: true,
    state: 'established',
    state_since: '2026-10-02T00:00:00.000Z',
    problem: null,
    found_by: ['seeds'],
    read_by: 'stream',
    first_answered: '2026-10-01T00:00:05.000Z',
    last_answered: '2026-11-20T11:59:00.000Z',
    last_row: '2026-11-20T11:58:00.000Z',
    remedy: null,
    events: { window: 120, week: 60, day: 8 },
    repeats: 0,
    days: [{ day: '2026-11-19', applied: 7, removed: 1, read_share: 1 }],
    gaps: [],
    gap_overflow: false,
    signatures: { verified: 118, verified_earlier_key: 2, invalid: 0, unsigned: 0, unverified: 0 },
    values: [{ value: 'spam', events: 120, first_defined: '2026-10-01', last_defined: null }],
    values_omitted: 0,
    undeclared: 'fewer_than_5',
    replaces_rows: false,
    delay_ms: { p50: 400, p90: 900, labels: 100 },
    definitions: {
      seen_at: '2026-11-20T00:00:00.000Z',
      values: [aDefinition('spam')],
      values_omitted: 0,
    },
    ...changes,
  };
}

type Definition = NonNullable<LabelerFacts['definitions']>['values'][number];

/** Returns an English definition of a label value, with the given changes. */
export function aDefinition(value: string, changes: Partial<Definition> = {}): Definition {
  return {
    value,
    severity: 'alert',
    blurs: 'content',
    default_setting: 'warn',
    adult_only: false,
    locales: [{ lang: 'en', name: `Name of ${value}`, description: `Description of ${value}` }],
    ...changes,
  };
}

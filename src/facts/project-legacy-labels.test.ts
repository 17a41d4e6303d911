import { describe, expect, it } from 'vitest';
import { fixture, type JsonObject } from '../../harness/artifacts/fixtures.ts';
import { aLegacyOverview } from '../../harness/artifacts/overviews.ts';
import type { LegacyOverview } from '../artifact/recognise.ts';
import type { LegacyLabelFacts } from '../contract/labels.ts';
import { calmRemoved, projectLabels } from './project-labels.ts';

const projectLegacyLabels = (overview: LegacyOverview) =>
  projectLabels({ schema: '23', overview }).facts as LegacyLabelFacts;

it('the legacy projection publishes only the fields that the contract names', () => {
  const legacy = fixture('legacy');
  const heartbeats = legacy.heartbeats as JsonObject;
  expect(projectLegacyLabels(aLegacyOverview())).toEqual({
    labeler_count: 584,
    alert_count_total: 131877,
    alert_count_window: 1604 + 7 + 133 + 571 + 42,
    alerts_by_rule_24h: legacy.alerts_by_rule_24h,
    alerts_by_rule_7d: legacy.alerts_by_rule_7d,
    census: legacy.census,
    network_weather: legacy.network_weather,
    observation: legacy.observation,
    heartbeats: {
      discovery: heartbeats.last_discovery_ok_ts,
      ingest: heartbeats.last_ingest_ok_ts,
      scan: heartbeats.last_scan_ok_ts,
      report: heartbeats.last_report_ok_ts,
    },
    top_labelers_7d: legacy.top_labelers_7d,
    current_label_state: 'unknown',
  });
});

it('the legacy projection states its provenance and lists only data that the producer publishes', () => {
  expect(projectLabels({ schema: '23', overview: aLegacyOverview() }).provenance).toEqual({
    instrument: 'labels',
    method: 'legacy_label_poll',
    artifact_schema_version: '23',
  });
});

it('the legacy projection publishes the window if the artifact declares a window', () => {
  expect(projectLegacyLabels(aLegacyOverview({ window_days: 30 })).window_days).toBe(30);
});

describe('the counts of alerts by rule', () => {
  it('are null or absent, never zero, for an artifact without alerts by rule', () => {
    const { alerts_by_rule_7d: _7, alerts_by_rule_24h: _24, ...overview } = aLegacyOverview();
    const facts = projectLegacyLabels(overview);
    expect([facts.alert_count_window, facts.alerts_by_rule_7d, facts.alerts_by_rule_24h]).toEqual([
      null,
      undefined,
      undefined,
    ]);
  });
  it('are zero for an empty set of rules', () => {
    expect(projectLegacyLabels(aLegacyOverview({ alerts_by_rule_7d: {} })).alert_count_window).toBe(0);
  });
  it('omit invalid rule names, but include their alerts in the sum', () => {
    const rules = { data_gap: 7, 'did:plc:ar7c4by46qjdydhdevvrndac': 5, Upper: 3, ['a'.repeat(65)]: 2, constructor: 1 };
    const facts = projectLegacyLabels(aLegacyOverview({ alerts_by_rule_7d: rules }));
    expect(facts.alerts_by_rule_7d).toEqual({ data_gap: 7, constructor: 1 });
    expect(facts.alert_count_window).toBe(18);
  });
});

it('the counts of census keys outside the vocabulary are added to the count of unknown', () => {
  const { census } = aLegacyOverview();
  const auditability = { high: 1, low: 2, splendid: 3, unknown: 4, __proto__x: 5 };
  expect(projectLegacyLabels(aLegacyOverview({ census: { ...census, auditability } })).census.auditability).toEqual({
    high: 1,
    low: 2,
    unknown: 12,
  });
});

it('an unusable time of a job becomes null', () => {
  const facts = projectLegacyLabels(
    aLegacyOverview({
      heartbeats: { last_discovery_ok_ts: 5, last_ingest_ok_ts: '2026-09-11 14:01:57', last_scan_ok_ts: null },
    }),
  );
  expect(facts.heartbeats).toEqual({ discovery: null, ingest: null, scan: null, report: null });
});

describe('the signals of the legacy producer', () => {
  type Adequacy = NonNullable<LegacyOverview['observation']>['adequacy'] | 'absent';

  function weatherOf(adequacy: Adequacy, signals: string[], claim = true) {
    const { observation, ...rest } = aLegacyOverview();
    const overview = {
      ...rest,
      network_weather: { signals, attribution: 'because', supports_negative_claim: claim },
      ...(adequacy === 'absent' || !observation ? {} : { observation: { ...observation, adequacy } }),
    };
    return projectLegacyLabels(overview).network_weather;
  }

  function weather(...of: Parameters<typeof weatherOf>) {
    const { signals, supports_negative_claim } = weatherOf(...of);
    return [signals, supports_negative_claim];
  }

  it.each<[Adequacy, string[], string[], boolean]>([
    ['adequate', ['calm'], ['calm'], true],
    ['adequate', ['noisy', 'calm'], ['noisy', 'calm'], true],
    ['partial', ['calm'], ['under-observed'], false],
    ['unobserved', ['calm'], ['unobserved'], false],
    ['absent', ['calm'], ['unobserved'], false],
    ['partial', ['churny', 'noisy'], ['churny', 'noisy', 'under-observed'], false],
    ['partial', ['noisy', 'under-observed'], ['noisy', 'under-observed'], false],
    ['unobserved', ['degraded', 'under-observed'], ['degraded', 'under-observed', 'unobserved'], false],
    ['adequate', ['splendid', 'noisy'], ['noisy'], true],
    ['adequate', ['splendid'], [], false],
    ['adequate', [], [], false],
    ['partial', ['splendid'], ['under-observed'], false],
    ['adequate', ['noisy', 'noisy'], ['noisy'], true],
    ['adequate', ['calm', 'under-observed'], ['under-observed'], false],
  ])(
    'with adequacy %s and words %j are published as %j, with supports_negative_claim %s',
    (adequacy, signals, published, claim) => {
      expect(weather(adequacy, signals)).toEqual([published, claim]);
    },
  );

  it('have a fixed attribution if calm was removed, and otherwise the attribution of the artifact', () => {
    const attribution = (adequacy: Adequacy, signals: string[]) => weatherOf(adequacy, signals).attribution;
    expect(attribution('partial', ['noisy', 'calm'])).toBe(calmRemoved);
    expect(attribution('absent', ['calm'])).toBe(calmRemoved);
    expect(attribution('adequate', ['calm'])).toBe('because');
    expect(attribution('partial', ['noisy'])).toBe('because');
  });

  it('do not support a negative claim that the artifact does not support, even with adequate observation', () => {
    expect(weather('adequate', ['calm'], false)).toEqual([['calm'], false]);
  });
});

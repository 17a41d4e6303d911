import { describe, expect, it } from 'vitest';
import { fixture } from '../../harness/artifacts/fixtures.ts';
import { aRecentOverview } from '../../harness/artifacts/overviews.ts';
import type { RecentOverview } from '../artifact/recognise.ts';
import type { RecentLabelFacts } from '../contract/labels.ts';
import { projectLabels, recentLabelProvenance } from './project-labels.ts';

const projectRecentLabels = (overview: RecentOverview) =>
  projectLabels({ schema: 'labels.recent-overview.v1', overview }).facts as RecentLabelFacts;

const gap = { start: '2026-10-28T02:00:00.000Z', end: '2026-10-28T02:11:30.000Z', reason: 'maintenance' };

function withCoverage(changes: object) {
  const overview = aRecentOverview();
  return projectRecentLabels({ ...overview, coverage: { ...overview.coverage, ...changes } });
}

it("the projection of the label overview publishes the artifact's values under the contract's names", () => {
  const { labeler_count, top_labelers_7d, window_days, acquisition, coverage, counts } = fixture('recent');
  expect(projectRecentLabels(aRecentOverview())).toEqual({
    labeler_count,
    alert_count_total: null,
    alert_count_window: null,
    top_labelers_7d,
    window_days,
    acquisition,
    coverage,
    counts,
    current_label_state: 'unknown',
  });
});

it('the projection of the label overview states its provenance, with the origin live if the artifact states no origin', () => {
  const { origin: _, ...overview } = aRecentOverview();
  expect(recentLabelProvenance(overview)).toEqual({
    instrument: 'labels',
    method: 'label_stream_and_poll',
    artifact_schema_version: 'labels.recent-overview.v1',
    origin: 'live',
    does_not_measure: fixture('recent').does_not_measure,
  });
});

describe('a value that the contract does not define', () => {
  it('is published as unknown in the coverage status', () => {
    expect(withCoverage({ status: 'perfect' }).coverage.status).toBe('unknown');
  });
  it('is published as unknown in the reason for a gap or warm-up', () => {
    const facts = withCoverage({ gaps: [{ ...gap, reason: 'cosmic_rays' }], warmup: { ...gap, reason: 'late' } });
    expect(facts.coverage.gaps).toEqual([{ ...gap, reason: 'unknown' }]);
    expect(facts.coverage.warmup).toEqual({ ...gap, reason: 'unknown' });
  });
});

describe('optional source counts', () => {
  it('are absent, never zero, if the artifact lacks them', () => {
    const overview = aRecentOverview();
    const { seeded: _s, discovered: _d, future_skipped: _f, ...sources } = overview.coverage.sources;
    const facts = projectRecentLabels({ ...overview, coverage: { ...overview.coverage, sources } });
    expect(facts.coverage.sources).toEqual(sources);
  });
});

describe('the published coverage of an overview', () => {
  const { sources } = aRecentOverview().coverage;
  const known = { ...sources, enrolled: 3, established: 3, unstarted: 0, probing: 0, refused: 0 };
  const quiet = { ...known, cursor_order_unverified: 0, undated_only: 0, provider_rejects: 0, unavailable: 0 };
  const clean = { status: 'no_recorded_gaps', gaps: [], gap_overflow: false, warmup: null, sources: quiet };
  const statusOf = (changes: object) => withCoverage({ ...clean, ...changes }).coverage.status;

  it.each<[string, object]>([
    ['no_recorded_gaps', {}],
    ['gapped', { gaps: [gap] }],
    ['warming_up', { warmup: gap }],
    ['warming_up', { status: 'gapped', warmup: gap, gaps: [gap] }],
    ['unknown', { sources: { ...quiet, unavailable: 1 } }],
    ['unknown', { sources: { ...quiet, enrolled: 0, established: 0 } }],
    ['unknown', { status: 'unknown', gaps: [gap] }],
    ['unknown', { status: 'gapped', gaps: [gap], sources: { ...quiet, unstarted: 1 } }],
    ['unknown', { status: 'warming_up', warmup: gap, sources: { ...quiet, probing: 1 } }],
  ])('has the strongest status that the fields of the artifact permit (%s)', (status, changes) => {
    expect(statusOf(changes)).toBe(status);
  });

  it('never has more observed days than the window', () => {
    expect(withCoverage({ observed_days: 31 }).coverage.observed_days).toBe(30);
  });
});

describe('the gaps of an overview', () => {
  const whole = [{ start: '2026-10-21T12:00:00.000Z', end: '2026-11-20T12:00:00.000Z', reason: 'unknown' }];

  it('are all listed if there are 128 gaps', () => {
    const { coverage } = withCoverage({ gaps: Array.from({ length: 128 }, () => gap) });
    expect([coverage.gaps.length, coverage.gap_overflow]).toEqual([128, false]);
  });
  it('become one unknown gap over the whole window if there are 129 gaps', () => {
    const { coverage } = withCoverage({ gaps: Array.from({ length: 129 }, () => gap) });
    expect([coverage.gaps, coverage.gap_overflow, coverage.status]).toEqual([whole, true, 'gapped']);
  });
  it('become one unknown gap if the artifact declares an overflow, even if it lists few gaps', () => {
    const { coverage } = withCoverage({ gaps: [gap], gap_overflow: true });
    expect([coverage.gaps, coverage.gap_overflow]).toEqual([whole, true]);
  });
  it('are not published with the status no_recorded_gaps if the artifact declares an overflow', () => {
    expect(withCoverage({ gap_overflow: true, status: 'no_recorded_gaps' }).coverage.status).toBe('unknown');
    expect(withCoverage({ gap_overflow: true, status: 'warming_up' }).coverage.status).toBe('warming_up');
  });
});

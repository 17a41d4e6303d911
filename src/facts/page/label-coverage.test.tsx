import { renderToString } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import { aRecentOverview } from '../../../harness/artifacts/overviews.ts';
import { projectLabels } from '../project-labels.ts';
import type { RecentEnvelope } from '../shown-facts.ts';
import { LabelCoverage } from './label-coverage.tsx';

type CoverageChange = Partial<ReturnType<typeof aRecentOverview>['coverage']>;

function pictureOf(coverage: CoverageChange): string {
  const overview = aRecentOverview();
  const { facts } = projectLabels({
    schema: 'labels.recent-overview.v1',
    overview: { ...overview, coverage: { ...overview.coverage, gaps: [], ...coverage } },
  });
  return renderToString(
    <LabelCoverage envelope={{ generated_at: '2026-11-20T12:00:00.000Z', facts } as RecentEnvelope} />,
  );
}

/**
 * Renders the coverage strip with the given coverage and returns its segments. The window of the fixture is 21
 * October to 20 November, noon.
 */
function strip(coverage: CoverageChange): string[] {
  const drawn = /<rect class="chart-([\w-]+)" x="([\d.]+)%" width="([\d.]+)%"/g;
  return [...pictureOf(coverage).matchAll(drawn)].map(([, kind = '', x = '', width = '']) => `${kind} ${x}+${width}`);
}

const through = '2026-11-20T12:00:00.000Z';

describe('the coverage strip', () => {
  it('is unbroken if there are no interruptions', () => {
    expect(strip({ observed_through: through })).toEqual(['seen 0+100']);
  });

  it('is interrupted by a gap', () => {
    const gap = { start: '2026-10-27T12:00:00Z', end: '2026-10-30T12:00:00Z', reason: 'maintenance' };
    expect(strip({ observed_through: through, gaps: [gap] })).toEqual(['seen 0+20', 'seen 30+70', 'part 20+10']);
  });

  it('shows a gap of one minute', () => {
    const gap = { start: '2026-11-05T12:00:00Z', end: '2026-11-05T12:01:00Z', reason: 'cursor_reset' };
    expect(strip({ observed_through: through, gaps: [gap] })).toEqual([
      'seen 0+49.701',
      'seen 50.301+49.699',
      'part 49.701+0.6',
    ]);
  });

  it('begins with the warm-up and is marked uncertain if coverage is unknown', () => {
    const warmup = { start: '2026-10-21T12:00:00Z', end: '2026-11-17T12:00:00Z', reason: 'not_observed' };
    expect(strip({ observed_through: through, warmup, status: 'unknown' })).toEqual([
      'unsure 90+10',
      'unseen-paper 0+90',
    ]);
  });

  it('ends at the end of coverage', () => {
    expect(strip({ observed_through: '2026-11-20T10:48:00.000Z' })).toEqual(['seen 0+99.833']);
  });

  it('has no observed stretch if one gap covers the window', () => {
    expect(strip({ gap_overflow: true })).toEqual(['part 0+100']);
  });
});

describe('the text about the followed labelers', () => {
  /** Returns the text of the coverage picture as a screen reader reads it. */
  function said(sources: object): string {
    const picture = pictureOf({
      observed_days: 1,
      sources: { ...aRecentOverview().coverage.sources, ...none, ...sources },
    });
    return picture.replaceAll(/<[^>]+>/g, '').replaceAll(/\s+/g, ' ');
  }
  const none = {
    unstarted: 0,
    probing: 0,
    refused: 0,
    unavailable: 0,
    cursor_order_unverified: 0,
    undated_only: 0,
    provider_rejects: 0,
  };

  it('uses the singular or plural as the number requires', () => {
    expect(said({ enrolled: 1, established: 1 })).toContain('1 of 1 labeler that Almanac follows is being read.');
    expect(said({ enrolled: 11, established: 10, unavailable: 1 })).toContain(
      '10 of 11 labelers that Almanac follows are being read. The activity of the others is unknown: 1 currently failing.',
    );
    expect(said({ enrolled: 4, established: 1, refused: 1, probing: 2 })).toContain(
      '1 of 4 labelers that Almanac follows is being read. The activity of the others is unknown: 2 being tried, 1 refusing requests.',
    );
    expect(said({ enrolled: 1, established: 1 })).toContain(
      '1 of these 30 days lies entirely after the observation began',
    );
  });
});

it('the coverage text shows the progress of the window only during its warm-up', () => {
  const textOf = (warmup: unknown) =>
    pictureOf({ observed_through: through, observed_days: 2, warmup } as Parameters<typeof pictureOf>[0])
      .replace(/<[^>]*>/g, '')
      .replaceAll('&nbsp;', ' ');
  const warmup = { start: '2026-10-21T12:00:00Z', end: '2026-11-18T12:00:00Z', reason: 'not_observed' };
  expect(textOf(warmup)).toContain('The label window needs 30 days: 2 of 30 days observed.');
  expect(textOf(null)).not.toContain('The label window needs');
});

describe('the list of gaps', () => {
  /** Returns the text of each listed gap. */
  function gaps(...listed: { start: string; end: string; reason: string }[]): string[] {
    const items = pictureOf({ observed_through: through, gaps: listed }).split('<ul class="gaps">')[1] ?? '';
    return [...items.matchAll(/<li>(.*?)<\/li>/g)].map(([, item = '']) => item.replace(/<[^>]+>/g, ''));
  }

  it('shows gaps newest first, to the minute or, if both ends are in the same minute, to the second', () => {
    const hour = { start: '2026-11-05T12:00:01Z', end: '2026-11-05T13:00:02Z', reason: 'maintenance' };
    const seconds = { start: '2026-11-06T12:00:07.9Z', end: '2026-11-06T12:00:12Z', reason: 'ingest_paused' };
    expect(gaps(hour, seconds)).toEqual([
      '6 Nov 2026, 12:00:07 UTC to 6 Nov 2026, 12:00:12 UTC: collection was paused',
      '5 Nov 2026, 12:00 UTC to 5 Nov 2026, 13:00 UTC: maintenance',
    ]);
  });
});

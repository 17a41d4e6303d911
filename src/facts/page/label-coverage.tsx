import type { Coverage, CoverageSources, Gap } from '../../contract/labels.ts';
import { parseTimestamp } from '../../contract/timestamp.ts';
import type { CoverageStatus, GapReason } from '../../contract/vocabulary.ts';
import { Count, Instant } from '../../web/figures.tsx';
import { agreeing, instantText } from '../../web/format.ts';
import { Legend } from '../../web/legend.tsx';
import { HatchPattern, percent } from '../../web/shapes.tsx';
import type { RecentEnvelope } from '../shown-facts.ts';
import { layTimeline, type Stretch, timelineWidth } from '../timeline.ts';
import { Picture } from './pieces.tsx';

/** Descriptions of the coverage states of the window. */
const coverageText: Readonly<Record<CoverageStatus, string>> = {
  warming_up: 'The observation began after the start of the window: earlier events were not observed.',
  gapped: 'There are recorded gaps, in which not everything was observed.',
  no_recorded_gaps: 'No gap is recorded. That does not prove that everything was observed.',
  unknown: 'The coverage of at least one labeler is unknown.',
};

/** Descriptions of the reasons for gaps. */
const gapText: Readonly<Record<GapReason, string>> = {
  not_observed: 'before the observation began, or not understood',
  source_unavailable: 'a labeler could not be reached',
  ingest_paused: 'collection was paused',
  cursor_reset: 'the position in a labeler’s stream was lost',
  maintenance: 'maintenance',
  warmup: 'warm-up',
  unknown: 'reason unknown',
};

const at = 'labels/facts/coverage';

/**
 * Shows the coverage of the window as text and as a strip. The strip is interrupted where the window was not observed.
 */
export function LabelCoverage({ envelope }: { envelope: RecentEnvelope }) {
  const { coverage, window_days: days } = envelope.facts;
  return (
    <Picture
      id="coverage"
      title={
        <>
          Coverage of the last <Count value={days} at="labels/facts/window_days" /> days
        </>
      }
      notShown={
        <p>
          Unknown labelers, and labels that a labeler does not publish. A solid stretch of the strip means that
          collection ran, not that everything was observed.
        </p>
      }
    >
      <p class="verdict">
        {coverageText[coverage.status]} <a href={`./method/labels#coverage-${coverage.status}`}>About coverage</a>
      </p>
      <p>
        <Count value={coverage.observed_days} at={`${at}/observed_days`} /> of these{' '}
        <Count value={days} at="labels/facts/window_days" /> days {agreeing(coverage.observed_days, 'lies', 'lie')}{' '}
        entirely after the observation began
        {coverage.observed_through === null ? null : (
          <>
            ; the newest page was accepted on{' '}
            <Instant value={coverage.observed_through} at={`${at}/observed_through`} precision="second" />
          </>
        )}
        .
      </p>
      {coverage.warmup === null ? null : (
        <p>
          The label window needs <Count value={days} at="labels/facts/window_days" /> days:{' '}
          <Count value={coverage.observed_days} at={`${at}/observed_days`} /> of{' '}
          <Count value={days} at="labels/facts/window_days" /> days observed.
        </p>
      )}
      <Strip envelope={envelope} />
      <Gaps coverage={coverage} />
      <Sources sources={coverage.sources} />
    </Picture>
  );
}

type Part = Stretch & { readonly kind: 'gap' | 'warmup' | 'pending' };

/** Converts a timestamp, already validated by the projection, to milliseconds since 1970. */
function millis(timestamp: string): number {
  return (parseTimestamp(timestamp) ?? Number.NaN) / 1000;
}

function stretch<K extends Part['kind']>(kind: K, { start, end }: { start: string; end: string }): Part {
  return { kind, start: millis(start), end: millis(end) };
}

/** Returns the window of an overview and the parts of it that were not observed; null without a `generated_at`. */
function unobservedParts({
  generated_at: generatedAt,
  facts,
}: Pick<RecentEnvelope, 'generated_at' | 'facts'>): { window: Stretch; parts: Part[] } | null {
  if (generatedAt === null) return null;
  const end = millis(generatedAt);
  const { gaps, warmup, observed_through: through } = facts.coverage;
  const parts: Part[] = gaps.map((gap) => stretch('gap', gap));
  if (warmup) parts.push(stretch('warmup', warmup));
  if (through !== null && millis(through) < end) parts.push({ kind: 'pending', start: millis(through), end });
  return { window: { start: end - facts.window_days * 86_400_000, end }, parts };
}

function Strip({ envelope }: { envelope: RecentEnvelope }) {
  const known = unobservedParts(envelope);
  if (!known || envelope.generated_at === null) return null;
  const { window, parts } = known;
  // Leave time that is not collected yet blank and at its true length, because it is not a gap.
  const pendingFrom = Math.min(window.end, ...parts.filter(({ kind }) => kind === 'pending').map(({ start }) => start));
  const drawn = layTimeline(
    window,
    parts.filter(({ kind }) => kind !== 'pending'),
  );
  const edge = Math.max(0, ((pendingFrom - window.start) / (window.end - window.start)) * timelineWidth);
  const days = envelope.facts.window_days;
  const unsure = envelope.facts.coverage.status === 'unknown';
  return (
    <div class="strip">
      <svg aria-hidden="true">
        <defs>
          <HatchPattern id="coverage-hatch" />
        </defs>
        {drawn.rest.map(({ from, to }) =>
          from < edge ? (
            <rect
              key={`rest ${from}`}
              class={unsure ? 'chart-unsure' : 'chart-seen'}
              {...placed(from, Math.min(to, edge))}
              height="100%"
            />
          ) : null,
        )}
        {drawn.parts.map(({ kind, from, to }, index) =>
          kind === 'gap' ? (
            <rect key={index} class="chart-part" {...placed(from, to)} y="78%" height="22%" />
          ) : (
            <g key={index}>
              <rect class="chart-unseen-paper" {...placed(from, to)} height="100%" />
              <rect fill="url(#coverage-hatch)" {...placed(from, to)} height="100%" />
            </g>
          ),
        )}
        {days > 1 && days <= 62 ? <DayLines days={days} /> : null}
      </svg>
      <p class="chart-ends">
        <span>window’s start</span>
        <Instant value={envelope.generated_at} at="labels/generated_at" />
      </p>
      <Legend
        signs={[
          unsure ? ['unsure', 'collected, coverage not established'] : ['seen', 'collected'],
          ['part', 'not all observed (a gap)'],
          ...(envelope.facts.coverage.warmup
            ? [['unseen', 'not observed: before the observation began'] as const]
            : []),
        ]}
      />
    </div>
  );
}

/** Draws a line at the start of each day except the first. A pattern needs fewer bytes than a line for each day. */
function DayLines({ days }: { days: number }) {
  return (
    <>
      <pattern id="coverage-days" width={(1 / (days - 1)).toFixed(5)} height="1">
        <rect class="day" width="1" height="100%" />
      </pattern>
      <rect fill="url(#coverage-days)" {...placed(timelineWidth / days, timelineWidth)} height="100%" />
    </>
  );
}

/** Converts the ends of a period, in units of the timeline, to the position and width of a rectangle in per cent. */
function placed(from: number, to: number) {
  const share = 100 / timelineWidth;
  return { x: percent(from * share), width: percent((to - from) * share) };
}

/**
 * Maximum number of gaps that are shown without expanding the list. Screen readers can reach the collapsed gaps as
 * well.
 */
const openGaps = 6;

function Gaps({ coverage: { gaps, warmup, gap_overflow: overflow } }: { coverage: Coverage }) {
  if (gaps.length === 0 && !warmup) return null;
  // Show the newest gaps first: they matter most on a page about the present.
  const listed = gaps
    .map((gap, index) => <GapLine key={`${gap.start} ${gap.end}`} gap={gap} at={`${at}/gaps/${index}`} />)
    .toReversed();
  return (
    <>
      <h4>Not or only partly observed</h4>
      {overflow ? <p>More gaps were recorded than can be listed: the whole window counts as one.</p> : null}
      <ul class="gaps">
        {listed.slice(0, openGaps)}
        {warmup ? <GapLine gap={warmup} at={`${at}/warmup`} /> : null}
      </ul>
      {listed.length > openGaps ? (
        <details>
          <summary>Earlier gaps</summary>
          <ul class="gaps">{listed.slice(openGaps)}</ul>
        </details>
      ) : null}
      <p class="soft">Narrow gaps are drawn wider than they are to make them visible.</p>
    </>
  );
}

function GapLine({ gap, at: where }: { gap: Gap; at: string }) {
  // Show seconds if both ends of the gap are within the same minute, so that they differ.
  const precision = instantText(gap.start) === instantText(gap.end) ? 'second' : 'minute';
  return (
    <li>
      <Instant value={gap.start} at={`${where}/start`} precision={precision} /> to{' '}
      <Instant value={gap.end} at={`${where}/end`} precision={precision} />: {gapText[gap.reason]}
    </li>
  );
}

const unsettled = [
  ['unstarted', 'not requested yet'],
  ['probing', 'being tried'],
  ['refused', 'refusing requests'],
  ['unavailable', 'currently failing'],
  ['cursor_order_unverified', 'with pages whose order could not be verified'],
  ['undated_only', 'with only labels without a date'],
  ['provider_rejects', 'rejected by the provider'],
] as const satisfies readonly (readonly [keyof CoverageSources, string])[];

function Sources({ sources }: { sources: CoverageSources }) {
  const open = unsettled.filter(([key]) => sources[key] > 0);
  return (
    <p>
      <Count value={sources.established} at={`${at}/sources/established`} /> of{' '}
      <Count value={sources.enrolled} at={`${at}/sources/enrolled`} />{' '}
      {agreeing(sources.enrolled, 'labeler', 'labelers')} that Almanac follows{' '}
      {agreeing(sources.established, 'is', 'are')} being read
      {open.length === 0 ? '.' : '. The activity of the others is unknown: '}
      {open.map(([key, word], index) => (
        <span key={key}>
          {index === 0 ? '' : ', '}
          <Count value={sources[key]} at={`${at}/sources/${key}`} /> {word}
        </span>
      ))}
      {open.length === 0 ? '' : '.'}
    </p>
  );
}

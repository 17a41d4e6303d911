import type { LabelersReading, PreparedLabelers } from '../../artifact/labelers/labelers-source.ts';
import type { ArtifactSource, Readable } from '../../artifact/reading.ts';
import type { LabelArtifact, RecentOverview } from '../../artifact/recognise.ts';
import type { LabelFreshness } from '../../contract/envelope.ts';
import type { Origin } from '../../contract/vocabulary.ts';
import { type FreshnessBounds, type Judgement, judgeLabels, labelEvidence } from '../judge.ts';
import { labelRefusals, labelsOrigin, oncePer } from '../resources.ts';

/** A label overview and the labelers artifact with the same `generated_at` and generation. */
export interface Pair<P> {
  readonly overview: RecentOverview;
  readonly labelers: PreparedLabelers<P>;
  /** Digest of the bytes of both artifacts. */
  readonly digest: string;
  /** Modification time of the newer artifact, in milliseconds since 1970. */
  readonly modifiedAt: number;
}

/** A pair that may be served. */
export interface Paired<P> {
  readonly kind: 'paired';
  readonly pair: Pair<P>;
  readonly judgement: Extract<Judgement, { servable: true }>;
}

/** Result of pairing the two artifacts: the pair that may be served, or the reason for a refusal. */
type PairOutcome<P> =
  | Paired<P>
  | {
      readonly kind: 'refused';
      readonly code: (typeof labelRefusals)[keyof typeof labelRefusals];
      readonly freshness?: LabelFreshness;
      /** Origin of the refused overview, or of the last one that was read before it; absent if none was read. */
      readonly origin?: Origin;
    };

/** Options for the pairing. */
interface PairingOptions<P> {
  readonly overview: ArtifactSource<LabelArtifact>;
  readonly labelers: { read(): LabelersReading<P> };
  readonly bounds: FreshnessBounds;
  /**
   * Time in milliseconds for which the last pair is still served while the labelers of a newer overview are being read.
   */
  readonly graceMs: number;
}

/**
 * Creates the function that pairs the two artifacts. No pair is served if the overview is held, stale or unreadable, or
 * if the labelers cannot be read. While the labelers of a newer overview are being read, the previous pair is served
 * for `graceMs`, unless it has itself become stale, or is of another epoch or network than the newer overview: its
 * freshness is computed from its own overview.
 */
export function pairing<P>({ overview, labelers, bounds, graceMs }: PairingOptions<P>) {
  const evidenceOf = oncePer((artifact: LabelArtifact) => labelEvidence(artifact));
  const originOf = labelsOrigin();
  let complete: { readonly pair: Pair<P>; readonly artifact: LabelArtifact } | null = null;
  let waiting: { readonly reading: Readable<LabelArtifact>; readonly since: number } | null = null;

  function refused(code: Extract<PairOutcome<P>, { kind: 'refused' }>['code'], freshness?: LabelFreshness) {
    return { kind: 'refused', code, ...(freshness ? { freshness } : {}), ...originOf(overview.read()) } as const;
  }

  return (now: number): PairOutcome<P> => {
    const reading = overview.read();
    if (reading.kind !== 'readable') return refused('source_unavailable');
    const judgement = judgeLabels(evidenceOf(reading.artifact), bounds, now);
    if (!judgement.servable) return refused(labelRefusals[judgement.state], judgement.freshness);
    const found = labelers.read();
    const pair = found.kind === 'readable' ? pairOf(reading, found.sets, complete?.pair ?? null) : null;
    if (pair) {
      complete = { pair, artifact: reading.artifact };
      waiting = null;
      return { kind: 'paired', pair, judgement };
    }
    if (found.kind !== 'readable' || complete === null) return refused('source_unavailable');
    if (!isContinued(complete.pair.overview, reading.artifact)) return refused('source_unavailable');
    if (waiting?.reading !== reading) waiting = { reading, since: waiting?.since ?? now };
    if (now - waiting.since > graceMs || now < waiting.since) return refused('source_unavailable');
    const earlier = judgeLabels(labelEvidence(complete.artifact), bounds, now);
    if (!earlier.servable) return refused('source_unavailable');
    return { kind: 'paired', pair: complete.pair, judgement: earlier };
  };
}

/** Returns true if an artifact is of the same epoch and network as an earlier overview. */
function isContinued(earlier: RecentOverview, artifact: LabelArtifact): boolean {
  if (artifact.schema !== 'labels.recent-overview.v1') return false;
  const { acquisition, origin = 'live' } = artifact.overview;
  return acquisition.generation_id === earlier.acquisition.generation_id && origin === (earlier.origin ?? 'live');
}

/**
 * Returns the overview with the labelers of the same `generated_at` and generation; null if there are none, or if the
 * overview is from the legacy producer. Returns `known` if neither artifact has changed.
 */
function pairOf<P>(
  { artifact, digest, modifiedAt }: Readable<LabelArtifact>,
  sets: readonly PreparedLabelers<P>[],
  known: Pair<P> | null,
): Pair<P> | null {
  if (artifact.schema !== 'labels.recent-overview.v1') return null;
  const { overview } = artifact;
  const labelers = sets.find(
    ({ set }) =>
      set.header.generated_at === overview.generated_at &&
      set.header.generation_id === overview.acquisition.generation_id,
  );
  if (!labelers) return null;
  if (known?.overview === overview && known.labelers === labelers) return known;
  return {
    overview,
    labelers,
    digest: `${digest} ${labelers.digest}`,
    modifiedAt: Math.max(modifiedAt, labelers.modifiedAt),
  };
}

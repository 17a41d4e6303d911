import type { ArtifactSource, Readable } from '../artifact/reading.ts';
import type { LabelArtifact } from '../artifact/recognise.ts';
import type { LabelsOverview } from '../contract/envelope.ts';
import { contractIds } from '../contract/identifiers.ts';
import { formatTimestamp, usableTimestamp } from '../contract/timestamp.ts';
import type { HeaderList } from '../http/reply.ts';
import { legacyLabelCaveats, recentLabelCaveats } from './caveats.ts';
import { ageBucket, entityTag } from './entity-tag.ts';
import { type FreshnessBounds, type Judgement, judgeLabels, labelEvidence } from './judge.ts';
import { legacyLabelProvenance, projectLegacyLabels } from './project-legacy-labels.ts';
import { projectRecentLabels, recentLabelProvenance } from './project-recent-labels.ts';
import { represent } from './representation.ts';
import { type FactResource, keepOne, lastOrigin, oncePer } from './resource.ts';

/** Error codes for the freshness states in which the label overview is refused. */
export const labelRefusals = { stale: 'source_stale', held: 'source_held', unavailable: 'source_unavailable' } as const;

/**
 * Creates the resource of the label overview. Freshness is computed at every request. A refusal is decided before
 * conditional headers are evaluated.
 */
export function labelsResource(
  source: ArtifactSource<LabelArtifact>,
  bounds: FreshnessBounds,
  common: HeaderList,
): FactResource {
  const evidenceOf = oncePer((reading: Readable<LabelArtifact>) => labelEvidence(reading.artifact));
  const representationOf = keepOne<LabelArtifact>((reading, bucket, now) =>
    represent({
      envelope: labelsEnvelope(reading.artifact, judgeLabels(evidenceOf(reading), bounds, now), now),
      etag: entityTag(contractIds.labelsOverview, reading.digest, bucket),
      modifiedAt: reading.modifiedAt,
      builtAt: now,
      common,
    }),
  );

  const origin = labelsOrigin();
  return (now) => {
    const reading = source.read();
    const from = origin(reading);
    if (reading.kind !== 'readable') return { kind: 'refused', code: 'source_unavailable', ...from };
    const judgement = judgeLabels(evidenceOf(reading), bounds, now);
    if (!judgement.servable) {
      return { kind: 'refused', code: labelRefusals[judgement.state], freshness: judgement.freshness, ...from };
    }
    return { kind: 'served', representation: representationOf(reading, ageBucket(judgement.ageSeconds), now) };
  };
}

/** Creates the function that returns the origin of a reading of the label overview. */
export function labelsOrigin() {
  // The legacy producer states no origin and observes the live network.
  return lastOrigin<LabelArtifact>((artifact) =>
    artifact.schema === '23' ? 'live' : (artifact.overview.origin ?? 'live'),
  );
}

/** Returns the envelope of a servable label artifact. */
export function labelsEnvelope(artifact: LabelArtifact, judgement: Judgement, now: number): LabelsOverview {
  const { overview } = artifact;
  return {
    contract: contractIds.labelsOverview,
    instrument: 'labels',
    generated_at: usableTimestamp(overview.generated_at),
    retrieved_at: formatTimestamp(now),
    age_seconds: judgement.freshness.age_seconds,
    ...(artifact.schema === '23'
      ? {
          facts: projectLegacyLabels(artifact.overview),
          caveats: legacyLabelCaveats(),
          provenance: legacyLabelProvenance(),
        }
      : {
          facts: projectRecentLabels(artifact.overview),
          caveats: recentLabelCaveats(artifact.overview.origin ?? 'live', artifact.overview.caveats),
          provenance: recentLabelProvenance(artifact.overview),
        }),
    freshness: judgement.freshness,
  };
}

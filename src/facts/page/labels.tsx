import type { LabelsOverview } from '../../contract/envelope.ts';
import { Count, Instant } from '../../web/figures.tsx';
import { agreeing } from '../../web/format.ts';
import { LabelCoverage } from './label-coverage.tsx';
import { LegacyLabels } from './legacy-labels.tsx';
import { isLegacy, isRecent, type RecentEnvelope, type Shown } from './model.ts';
import { NotMeasured, Picture, Refused, Stat } from './pieces.tsx';
import { TopLabelers } from './top-labelers.tsx';

/** Shows the activity of labelers: label events, the most active labelers, and the coverage of the window. */
export function Labels({ fact }: { fact: Shown<LabelsOverview> }) {
  return (
    <section aria-labelledby="labels">
      <h2 id="labels">Activity of labelers</h2>
      {fact.kind === 'served' ? (
        <Overview envelope={fact.envelope} />
      ) : (
        <Refused what="The label overview" name="labels" fact={fact} />
      )}
    </section>
  );
}

function Overview({ envelope }: { envelope: LabelsOverview }) {
  if (isRecent(envelope)) return <Recent envelope={envelope} />;
  return isLegacy(envelope) ? <LegacyLabels envelope={envelope} /> : null;
}

function Recent({ envelope }: { envelope: RecentEnvelope }) {
  const { counts, acquisition, labeler_count: labelers } = envelope.facts;
  const at = 'labels/facts';
  return (
    <>
      <p class="soft">
        Observed applications and removals of labels by moderation services. Nothing before{' '}
        <Instant value={acquisition.started_at} at={`${at}/acquisition/started_at`} /> was observed.{' '}
        <a href="./method/labels">How labels are counted</a>
      </p>
      <Picture
        id="label-events"
        title="Applications and removals observed"
        notShown={<NotMeasured items={envelope.provenance.does_not_measure} at="labels" />}
      >
        {envelope.facts.coverage.warmup ? (
          <p>The longer spans contain only events after the observation began.</p>
        ) : null}
        <dl class="stats">
          <Stat figure={<Count value={counts.events_24h} at={`${at}/counts/events_24h`} />}>in the last 24 hours</Stat>
          <Stat figure={<Count value={counts.events_7d} at={`${at}/counts/events_7d`} />}>in the last 7 days</Stat>
          <Stat figure={<Count value={counts.events_window} at={`${at}/counts/events_window`} />}>
            in the window of <Count value={envelope.facts.window_days} at={`${at}/window_days`} /> days
          </Stat>
        </dl>
        <p>
          <Count value={counts.labelers_active_7d} at={`${at}/counts/labelers_active_7d`} />{' '}
          {agreeing(counts.labelers_active_7d, 'labeler was', 'labelers were')} active in the last 7 days,{' '}
          <Count value={labelers} at={`${at}/labeler_count`} /> in the window.
        </p>
      </Picture>
      <LabelCoverage envelope={envelope} />
      <Picture
        id="labelers"
        title="Labelers most active in the last 7 days"
        notShown={
          <p>
            Which labels are active now, and whether they are right. Many events are neither good nor bad: some labelers
            label every post.
          </p>
        }
      >
        <TopLabelers envelope={envelope} unit="Events" linked />
        <p>
          <a href="./labelers">All labelers by name</a>
        </p>
      </Picture>
    </>
  );
}

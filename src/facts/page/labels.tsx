import type { ComponentChildren } from 'preact';
import type { LabelsOverview } from '../../contract/envelope.ts';
import type { SignalWord } from '../../contract/vocabulary.ts';
import { Count, Instant, Percent } from '../../web/figures.tsx';
import { agreeing } from '../../web/format.ts';
import { Bar } from '../../web/shapes.tsx';
import { isLegacy, isRecent, type LegacyEnvelope, type RecentEnvelope, type Shown } from '../shown-facts.ts';
import { LabelCoverage } from './label-coverage.tsx';
import { NotMeasured, Picture, Quote, Refused, Stat, Unknown } from './pieces.tsx';

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

const at = 'labels/facts';

/** Shows the overview of the legacy producer, which counts alerts rather than label events and records no coverage. */
function LegacyLabels({ envelope }: { envelope: LegacyEnvelope }) {
  const { labeler_count: labelers, alert_count_window: alerts } = envelope.facts;
  return (
    <>
      <p class="soft">
        From the legacy producer: it counts alerts of its own rules. It records neither label events nor which part of a
        window was covered, so neither is shown.
      </p>
      <Picture
        id="signals"
        title="Signals"
        notShown={
          <p>
            Label events and the gaps of the observation: this producer does not record them. A quiet result without
            adequate observation means that too little was observed for a conclusion.
          </p>
        }
      >
        <Signals envelope={envelope} />
        <Observation envelope={envelope} />
        <dl class="stats">
          <Stat
            figure={
              alerts === null ? <Unknown>Not known</Unknown> : <Count value={alerts} at={`${at}/alert_count_window`} />
            }
          >
            alerts in the last 7 days
          </Stat>
          <Stat figure={<Count value={labelers} at={`${at}/labeler_count`} />}>labelers known</Stat>
        </dl>
      </Picture>
      <Picture
        id="alerts"
        title="Alerts by rule"
        notShown={<p>A rule that is not listed was not triggered, or its name is not published.</p>}
      >
        <Alerts envelope={envelope} />
      </Picture>
      <Picture
        id="labelers"
        title="Labelers with the most alerts in the last 7 days"
        notShown={<p>How much these labelers label: this producer ranks them by alerts.</p>}
      >
        <TopLabelers envelope={envelope} unit="Alerts" />
      </Picture>
    </>
  );
}

/** Descriptions of the legacy producer's signals. */
const signalPhrases: Readonly<Record<SignalWord, string>> = {
  noisy: 'Noisy',
  conflicted: 'Conflicted',
  churny: 'Churny',
  degraded: 'Degraded',
  calm: 'Calm',
  unobserved: 'Unobserved',
  'under-observed': 'Under-observed',
};

function Signals({ envelope }: { envelope: LegacyEnvelope }) {
  const { signals, attribution, supports_negative_claim: standing } = envelope.facts.network_weather;
  return (
    <>
      <p class="verdict">
        {signals.length === 0 ? 'No known signal is stated.' : signals.map((word) => signalPhrases[word]).join(', ')}
      </p>
      <p>
        <Quote text={attribution} at={`${at}/network_weather/attribution`} />
      </p>
      {standing ? null : <p>{noStanding(signals)}</p>}
    </>
  );
}

/** States why signals support no negative claim. The artifact itself may state so, even if the observation was adequate. */
function noStanding(signals: readonly SignalWord[]): string {
  if (signals.length === 0) return 'Without a known signal, nothing can be concluded.';
  if (signals.includes('under-observed') || signals.includes('unobserved'))
    return 'Too little was observed to say that something did not happen.';
  return 'The artifact supports no statement that something did not happen.';
}

function Observation({ envelope }: { envelope: LegacyEnvelope }) {
  const { observation } = envelope.facts;
  if (!observation) return <p>The quality of the observation is not stated.</p>;
  const where = `${at}/observation`;
  return (
    <p>
      Observation {observation.adequacy}: <Quote text={observation.reason} at={`${where}/reason`} />. Of{' '}
      <Count value={observation.labelers_accessible} at={`${where}/labelers_accessible`} /> labelers that can be
      reached, <Count value={observation.labelers_adequate} at={`${where}/labelers_adequate`} /> were read at{' '}
      <Percent value={observation.coverage_threshold} at={`${where}/coverage_threshold`} /> or more of the attempts.
    </p>
  );
}

function Alerts({ envelope }: { envelope: LegacyEnvelope }) {
  const { alerts_by_rule_24h: day, alerts_by_rule_7d: week } = envelope.facts;
  const rules = [...new Set([...Object.keys(day ?? {}), ...Object.keys(week ?? {})])].toSorted();
  if (rules.length === 0) return <p>No rule is listed.</p>;
  return (
    <table class="kinds">
      <thead>
        <tr>
          <th scope="col">Rule</th>
          <th scope="col" class="number">
            24 hours
          </th>
          <th scope="col" class="number">
            7 days
          </th>
        </tr>
      </thead>
      <tbody>
        {rules.map((rule) => (
          <tr key={rule}>
            <th scope="row">
              <code data-name={rule}>{rule}</code>
            </th>
            <td class="number">
              <Alert count={day?.[rule]} at={`${at}/alerts_by_rule_24h/${rule}`} />
            </td>
            <td class="number">
              <Alert count={week?.[rule]} at={`${at}/alerts_by_rule_7d/${rule}`} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Alert({ count, at: where }: { count: number | undefined; at: string }) {
  return count === undefined ? <Unknown>not listed</Unknown> : <Count value={count} at={where} />;
}

/**
 * Lists the most active labelers by DID. A labeler's DID may be shown because a labeler is a public service. `linked`
 * is true if labelers have their own pages.
 */
function TopLabelers({ envelope, unit, linked = false }: { envelope: LabelsOverview; unit: string; linked?: boolean }) {
  const top = envelope.facts.top_labelers_7d;
  if (top.length === 0) return <p>No labeler is listed. That does not mean that no labeler was active.</p>;
  const most = Math.max(...top.map(({ count }) => count));
  return (
    <table class="kinds labelers">
      <thead>
        <tr>
          <th scope="col">Labeler</th>
          <th scope="col" class="number">
            {unit}
          </th>
        </tr>
      </thead>
      <tbody>
        {top.map(({ labeler_did: did, count }, index) => (
          <tr key={did}>
            <th scope="row">
              <LinkTo href={linked ? `./labelers/${did}` : null}>
                <code data-said={`labels/facts/top_labelers_7d/${index}/labeler_did`}>{did}</code>
              </LinkTo>
              {most > 0 ? <Bar share={count / most} /> : null}
            </th>
            <td class="number">
              <Count value={count} at={`labels/facts/top_labelers_7d/${index}/count`} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function LinkTo({ href, children }: { href: string | null; children: ComponentChildren }) {
  return href === null ? children : <a href={href}>{children}</a>;
}

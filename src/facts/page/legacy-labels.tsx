import { Count, Percent } from '../../web/figures.tsx';
import type { LegacyEnvelope } from './model.ts';
import { Picture, Quote, Stat, Unknown } from './pieces.tsx';
import { TopLabelers } from './top-labelers.tsx';
import { signalPhrases } from './words.ts';

const at = 'labels/facts';

/** Shows the overview of the legacy producer, which counts alerts rather than label events and records no coverage. */
export function LegacyLabels({ envelope }: { envelope: LegacyEnvelope }) {
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

function Signals({ envelope }: { envelope: LegacyEnvelope }) {
  const { signals, attribution, supports_negative_claim: standing } = envelope.facts.network_weather;
  return (
    <>
      <p class="verdict">{signals.map((word) => signalPhrases[word]).join(', ')}</p>
      <p>
        <Quote text={attribution} at={`${at}/network_weather/attribution`} />
      </p>
      {standing ? null : <p>Too little was observed to say that something did not happen.</p>}
    </>
  );
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

import type { Origin } from '../../contract/vocabulary.ts';
import type { ObservatoryFacts } from '../page/model.ts';
import { originsShown } from '../page/model.ts';
import { ConditionsSection, conditionsText } from './chart-conditions.tsx';
import { LabelsSection, labelsText } from './chart-labels.tsx';
import { RatesSection, ratesText } from './chart-rates.tsx';
import { chartWidth, left } from './chart-section.tsx';
import { Line, renderImage } from './image.tsx';
import { networkNames } from './texts.ts';

const height = 436;

/** Renders the chart of conditions, rates and label activity. The section of a refused fact shows the refusal. */
export function observatoryChart(facts: ObservatoryFacts): string {
  const [origin = 'live'] = originsShown(facts);
  const title = titles[origin];
  return renderImage({
    width: chartWidth,
    height,
    title,
    description: [conditionsText(facts.conditions), ratesText(facts.metrics), labelsText(facts.labels)].join(' '),
    children: (
      <>
        <rect class="paper" x="0.5" y="0.5" width={chartWidth - 1} height={height - 1} rx="4" />
        <rect class={origin === 'live' ? 'head' : 'mark'} x="1" y="1" width={chartWidth - 2} height="29" />
        <Line x={left} y={20} size={13} paint={origin === 'live' ? 'on-head' : 'on-mark'} isStrong>
          {title}
        </Line>
        <ConditionsSection fact={facts.conditions} y={40} />
        <RatesSection fact={facts.metrics} y={132} />
        <LabelsSection fact={facts.labels} y={338} />
      </>
    ),
  });
}

const titles: Readonly<Record<Origin, string>> = {
  live: `${networkNames.live}: what Almanac observed`,
  simulated: `${networkNames.simulated}: not an observation of the real one`,
  sample: `${networkNames.sample}: a bundled example`,
};

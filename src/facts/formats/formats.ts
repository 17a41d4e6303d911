import { conditionsBadge, labelsBadge } from '../embeds/badge.tsx';
import { observatoryChart } from '../embeds/chart.tsx';
import { svgType } from '../embeds/image.tsx';
import { embedHeaders } from '../embeds/style.ts';
import { factMetricsPath, factOpenMetrics, factPrometheusText } from '../metrics/fact-metrics.ts';
import { openMetricsType, prometheusTextType } from '../metrics/open-metrics.ts';
import type { ObservatoryFacts } from '../page/model.ts';
import type { FactFormat, FactName } from './rendered.ts';

const all: readonly FactName[] = ['conditions', 'metrics', 'labels'];

function image(path: string, uses: readonly FactName[], render: (facts: ObservatoryFacts) => string): FactFormat {
  return { path, uses, representations: [{ contentType: svgType, render }], headers: embedHeaders };
}

/** Formats of the facts other than JSON and the page; all of them are outside the contract. */
export const factFormats: readonly FactFormat[] = [
  {
    path: factMetricsPath,
    uses: all,
    representations: [
      { contentType: openMetricsType, render: factOpenMetrics },
      { contentType: prometheusTextType, render: factPrometheusText },
    ],
    headers: [],
  },
  image('/embed/conditions.svg', ['conditions'], conditionsBadge),
  image('/embed/labels.svg', ['labels'], labelsBadge),
  image('/embed/observatory.svg', all, observatoryChart),
];

import type { PageChart } from './hours-chart.ts';

/** Charts of the archive by name, or null if there is none. They change with `mark`. */
export interface ArchiveCharts {
  readonly mark: object;
  of(name: ArchiveChartName): PageChart;
}

/** Names of the charts that are made from the archive. */
export const archiveChartNames = ['month-events', 'month-labels', 'year-events', 'year-labels'] as const;
export type ArchiveChartName = (typeof archiveChartNames)[number];

import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** Registers the metrics of one process. */
export interface Metrics {
  counter<L extends string = never>(name: string, help: string, ...labelNames: L[]): Counter<L>;
  gauge<L extends string = never>(name: string, help: string, ...labelNames: L[]): Gauge<L>;
  /** Registers a gauge that `measure` sets at each scrape. */
  measured<L extends string = never>(
    name: string,
    help: string,
    measure: (gauge: Gauge<L>) => void,
    ...labelNames: L[]
  ): void;
  /**
   * Registers a gauge of a count. Returns the function that registers the source of the count; the gauge is 0 until a
   * source is registered.
   */
  count(name: string, help: string): (source: () => number) => void;
  histogram(name: string, help: string, buckets: readonly number[]): Histogram;
}

/** Returns the functions that register metrics in a registry. */
export function metricsIn(registry: Registry): Metrics {
  const registers = [registry];
  const metrics: Metrics = {
    counter: (name, help, ...labelNames) => new Counter({ name, help, labelNames, registers }),
    gauge: (name, help, ...labelNames) => new Gauge({ name, help, labelNames, registers }),
    measured(name, help, measure, ...labelNames) {
      new Gauge({
        name,
        help,
        labelNames,
        registers,
        collect() {
          measure(this);
        },
      });
    },
    count(name, help) {
      let read = (): number => 0;
      metrics.measured(name, help, (gauge) => gauge.set(read()));
      return (source) => {
        read = source;
      };
    },
    histogram: (name, help, buckets) => new Histogram({ name, help, buckets: [...buckets], registers }),
  };
  return metrics;
}

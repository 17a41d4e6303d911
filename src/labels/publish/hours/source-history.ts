import type { LabelsHour, LabelsHours } from '../../../artifact/hours/labels-hours.ts';
import type { RecentOverview } from '../../../artifact/overview.ts';
import { parseTimestamp } from '../../../contract/timestamp.ts';
import { hour } from '../../../store/time.ts';

/** Number of enrolled sources in each state at one point in time. */
type SourceSample = NonNullable<LabelsHour['sources']>;

/**
 * Numbers of enrolled sources by state at the last publication of each hour. The store does not contain past states, so
 * after a restart the samples of the last file are used. An hour without a publication has no sample.
 */
export class SourceHistory {
  readonly #samples = new Map<number, SourceSample>();

  /** Adds the samples of the last file, unless they belong to another generation of the store. */
  load({ generation_id: generation, hours }: Pick<LabelsHours, 'generation_id' | 'hours'>, current: string): void {
    if (generation !== current) return;
    for (const { sources } of hours) if (sources !== null) this.add(sources);
  }

  /** Adds a sample. The new sample replaces an earlier sample of the same hour. */
  add(sample: SourceSample): void {
    const at = parseTimestamp(sample.at);
    if (at !== null) this.#samples.set(Math.floor(at / hour), sample);
  }

  /** Returns the sample of the hour that begins at `start`, or null if that hour has no sample. */
  of(start: number): SourceSample | null {
    return this.#samples.get(start / hour) ?? null;
  }

  /** Discards the samples from before `start`. */
  dropBefore(start: number): void {
    for (const at of this.#samples.keys()) if (at < start / hour) this.#samples.delete(at);
  }
}

/** Returns the sample in an overview. */
export function sampleOf({
  generated_at: at,
  coverage,
}: Pick<RecentOverview, 'generated_at' | 'coverage'>): SourceSample {
  const { enrolled, unstarted, probing, refused, established, cursor_order_unverified } = coverage.sources;
  const { undated_only, provider_rejects, unavailable } = coverage.sources;
  return {
    ...{ at: String(at), enrolled, unstarted, probing, refused, established, cursor_order_unverified },
    ...{ undated_only, provider_rejects, unavailable },
  };
}

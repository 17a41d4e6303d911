import { formatTimestamp, type Micros } from '../../contract/timestamp.ts';
import { domainsOfLabeler } from '../operator/deny-target.ts';
import { makeSourcesReport, type ReportedSource, writeSourcesReport } from '../publish/sources-report.ts';
import type { KnownLabeler } from '../roster/known-labeler.ts';
import type { SourceUsage } from '../shares/source-usage.ts';

/** Dependencies of the report of each source's resource use. */
export interface ReportSourcesOptions {
  /** Directory of the store. */
  readonly folder: string;
  readonly labelers: () => Iterable<KnownLabeler>;
  readonly usage: Pick<SourceUsage, 'of'>;
  /** Returns the number of connections and requests that a source currently holds. */
  readonly slotsOf: (did: string) => number;
  readonly priorityOf: (labeler: KnownLabeler) => string;
  readonly clock: () => Micros;
}

/**
 * Returns a function that writes the resource use of each known source for `almanac labels sources`. Use is counted
 * from the time of this call.
 */
export function sourcesReporter(options: ReportSourcesOptions): () => Promise<void> {
  const { folder, labelers, usage, slotsOf, priorityOf, clock } = options;
  const startedAt = time(clock());
  return async () => {
    const sources = [...labelers()].map((labeler): ReportedSource => {
      const { did, endpoint, denied, tracker } = labeler;
      return {
        ...{ did, endpoint, denied, state: tracker.state, standing: priorityOf(labeler), slots: slotsOf(did) },
        domains: domainsOfLabeler(labeler),
        ...usage.of(did),
      };
    });
    await writeSourcesReport(folder, makeSourcesReport(sources, { startedAt, generatedAt: time(clock()) }));
  };
}

function time(at: Micros): string {
  return formatTimestamp(Math.floor(at / 1000));
}

import { artifactNames } from '../../artifact/write.ts';
import type { Micros } from '../../contract/timestamp.ts';
import { errorFields, type Log } from '../../ops/log.ts';
import { StoreError } from '../../store/errors.ts';
import type { StoreReader } from '../../store/port.ts';
import { countByDiscoverySource, countDirectoryOnly } from '../discovery/discovery-sources.ts';
import { writeHeld } from '../operator/hold.ts';
import { departureOf, type KnownLabeler } from '../roster/known-labeler.ts';
import { isUnreachable } from '../roster/reachability.ts';
import type { Roster } from '../roster/roster.ts';
import type { DailyCap } from '../shares/daily-cap.ts';
import type { Pace } from '../shares/pace.ts';
import type { ShareKey } from '../shares/shares.ts';
import type { Telemetry } from '../shares/telemetry.ts';
import type { PriorityClass } from '../state/priority.ts';
import { type SourceState, sourceStates } from '../state/source-state.ts';
import { type EnrolledSource, windowOf } from './coverage.ts';
import type { GapWriter } from './gap-writer.ts';
import { makeOverview } from './overview.ts';

/** Dependencies of publishing. */
export interface PublisherOptions {
  readonly settings: { readonly artifacts: string; readonly windowDays: number; readonly origin: 'live' | 'simulated' };
  readonly store: StoreReader;
  readonly roster: Roster;
  readonly cap: DailyCap;
  readonly pace: Pace;
  readonly gaps: GapWriter;
  readonly shareOf: (source: string) => ShareKey;
  /** Returns the number of bytes that may still be added today. */
  readonly budgetBytes: () => number;
  /** Returns true if a labeler waits because the maximum number is being read. */
  readonly waits: (labeler: KnownLabeler) => boolean;
  /** Returns the reason for the current pause of acceptance; null if acceptance is not paused. */
  readonly paused: () => string | null;
  /** Returns the number of labelers that the operator denies. */
  readonly denied: () => number;
  readonly clock: () => Micros;
  readonly log: Log;
  readonly telemetry: Telemetry;
}

/** Returns a function that writes the overview. After a failure the previous artifact remains in place. */
export function publisher(options: PublisherOptions): () => Promise<void> {
  const { settings, store, roster, cap, clock, log, telemetry } = options;
  return async () => {
    try {
      await flushed(options.gaps);
      const now = clock();
      const labelers = [...roster.labelers].filter(({ denied }) => !denied);
      const denied = options.denied();
      const [waiting, enrolled] = divide(roster.enrolled(now), options.waits);
      const sources = enrolled.map(
        ({ did, origin, tracker }): EnrolledSource => ({ did, origin, state: tracker.state }),
      );
      const notEnrolled = labelers.length - enrolled.length - waiting.length;
      const overview = await makeOverview(store, {
        now,
        windowDays: settings.windowDays,
        origin: settings.origin,
        sources,
        departures: labelers.flatMap((labeler) => departureOf(labeler, windowOf(now, settings.windowDays)) ?? []),
        notEnrolled,
        unreachable: labelers.filter((labeler) => isUnreachable(labeler, now)).length,
        directoryOnly: countDirectoryOnly(enrolled),
        waiting: waiting.length,
        delayed: enrolled.filter(({ tracker }) => tracker.delayed && passing.has(tracker.state)).length,
        dropped: roster.dropped,
        denied,
        paused: options.paused(),
        capped: cap.pausedSources,
        dailyRows: cap.limit,
      });
      const pending = (await store.purges()).filter(({ completedAt }) => completedAt === null);
      telemetry.purges(
        pending.length,
        pending.reduce((sum, { daysLeft }) => sum + daysLeft, 0),
      );
      await writeHeld(settings.artifacts, artifactNames.labels, overview);
      telemetry.sources(inStates(sources), {
        not_enrolled: notEnrolled,
        waiting: waiting.length,
        paused: cap.pausedSources.length,
        denied,
      });
      telemetry.found(countByDiscoverySource(enrolled));
      telemetry.shares(throttled(options), cap.usedBytes, options.budgetBytes());
      telemetry.published(clock() / 1000);
    } catch (error) {
      if (error instanceof StoreError && error.fatal) throw error;
      telemetry.notWritten();
      log.error('the overview could not be written', errorFields(error));
    }
  };
}

/** Writes pending gaps. If the store rejects them temporarily, the overview is computed without these gaps. */
async function flushed(gaps: GapWriter): Promise<void> {
  try {
    await gaps.flush();
  } catch (error) {
    if (!(error instanceof StoreError && error.retry)) throw error;
  }
}

/** Returns the number of sources, by class, that are paused or wait because a share is used up. */
function throttled({ cap, pace, shareOf }: PublisherOptions): Record<PriorityClass, number> {
  const counts = { ...pace.throttled };
  for (const source of cap.pausedSources) counts[shareOf(source).priority] += 1;
  return counts;
}

/** States of a source that result from transient failures. */
const passing: ReadonlySet<SourceState> = new Set(['probing', 'unavailable']);

function divide<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}

function inStates(sources: readonly EnrolledSource[]): Record<SourceState, number> {
  const counts = Object.fromEntries(sourceStates.map((state) => [state, 0])) as Record<SourceState, number>;
  for (const { state } of sources) counts[state] += 1;
  return counts;
}

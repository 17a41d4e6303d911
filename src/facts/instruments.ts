import type { Reading } from '../artifact/reading.ts';
import type { LabelArtifact, WeatherArtifact } from '../artifact/recognise.ts';
import { contractIds, paths } from '../contract/identifiers.ts';
import type { InstrumentEntry, InstrumentIndex } from '../contract/instruments.ts';
import { formatTimestamp, usableTimestamp } from '../contract/timestamp.ts';
import { type FreshnessBounds, judgeLabels, labelEvidence } from './judge.ts';
import { weatherTime } from './weather-resource.ts';

/**
 * Returns the instrument index: every instrument with the state of its artifact. The index does not state whether a
 * fact can be served.
 */
export function instrumentIndex(
  weather: Reading<WeatherArtifact>,
  labels: Reading<LabelArtifact>,
  bounds: FreshnessBounds,
  now: number,
): InstrumentIndex {
  return {
    contract: contractIds.instruments,
    retrieved_at: formatTimestamp(now),
    instruments: [weatherEntry(weather), labelsEntry(labels, bounds, now), drift],
  };
}

const drift: InstrumentEntry = {
  instrument: 'drift',
  state: 'NOT_PUBLISHED',
  generated_at: null,
  endpoints: [],
  note: 'Claim propagation per subject. Not published: its state is deliberately private.',
};

function weatherEntry(reading: Reading<WeatherArtifact>): InstrumentEntry {
  const time = reading.kind === 'readable' ? weatherTime(reading.artifact) : null;
  return {
    instrument: 'weather',
    state: reading.kind === 'readable' ? 'PRESENT' : 'UNAVAILABLE',
    generated_at: time?.kind === 'known' ? time.text : null,
    endpoints: [paths.weatherConditions, paths.weatherMetrics],
    note: 'Aggregate network activity from a streaming-relay vantage: event rates by collection, and the health of the observation itself.',
  };
}

function labelsEntry(reading: Reading<LabelArtifact>, bounds: FreshnessBounds, now: number): InstrumentEntry {
  const readable = reading.kind === 'readable' ? reading.artifact : null;
  const freshness = readable && judgeLabels(labelEvidence(readable), bounds, now).freshness;
  return {
    instrument: 'labels',
    state: readable ? 'PRESENT' : 'UNAVAILABLE',
    generated_at: freshness?.age_seconds == null ? null : usableTimestamp(readable?.overview.generated_at),
    endpoints: [paths.labelsOverview],
    note: 'Observed label application and removal events in a rolling epoch, with acquisition time, source coverage and collection freshness. PRESENT means readable; the overview can still be refused.',
    ...(freshness ? { freshness_state: freshness.state } : {}),
  };
}

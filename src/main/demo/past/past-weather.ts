import type { HoursReading } from '../../../archive/hours/hours-reading.ts';
import { decodeArtifact } from '../../../artifact/decode.ts';
import { decodeHours } from '../../../artifact/hours/read-hours.ts';
import { recogniseWeatherHours, type WeatherHours } from '../../../artifact/hours/weather-hours.ts';
import type { Reading } from '../../../artifact/reading.ts';
import { recogniseWeather, type WeatherArtifact } from '../../../artifact/recognise.ts';
import { createSeriesReader } from '../../../weather/hosts/series-reader.ts';
import { createHoursReader } from '../../../weather/publish/hours.ts';
import type { WindowStore } from '../../../weather/window/window-store.ts';
import { hoursReadingOf } from '../../archive/hours-reader.ts';

/** The files that the weather instrument publishes at one time in the past. */
export interface PastWeather {
  readonly summary: Reading<WeatherArtifact>;
  readonly hours: HoursReading<WeatherHours>;
}

/**
 * Returns a function that creates the weather instrument's files for the time `now` of the simulated past, in
 * milliseconds since 1970. The function reads the store as the instrument does. The store must extend beyond `now`.
 */
export function pastWeatherInstrument(store: WindowStore, name: string): (now: number) => PastWeather {
  const series = createSeriesReader();
  const hours = createHoursReader();
  const endpoint = { name, wire: 'jetstream.legacy' } as const;
  const origin = 'simulated';
  return (now) => {
    const nowUs = now * 1000;
    const { summary } = series.read({ store, endpoint, origin, nowUs });
    const read = hours.read({ store, endpoints: [endpoint], published: name, origin, nowUs });
    return {
      summary: decodeArtifact(bytesOf(summary), now, recogniseWeather),
      hours: hoursReadingOf(decodeHours(bytesOf(read), recogniseWeatherHours, now)),
    };
  };
}

function bytesOf(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}

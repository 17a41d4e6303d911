import { expect, it } from 'vitest';
import { simulatedHours } from '../../../harness/archive/simulated-hours.ts';
import type { WeatherHours } from '../../artifact/hours/weather-hours.ts';
import { hourMs, startOf } from '../days/calendar.ts';
import { mergeWeather } from './merge-weather.ts';
import { unknownWeather, type WeatherDay } from './weather-day.ts';

/** One series of a day is that of the published weather, because series of two hosts must never be added. */

const day = '2026-11-20';
const at = (hour: number): number => startOf(day) + hour * hourMs;

/** Returns the file at an hour of the day, of a host that was first read at another hour. */
function fileAt(hour: number, host = 'a.example', since = Number.NEGATIVE_INFINITY): WeatherHours {
  const gap = { start: startOf(day) - 100 * hourMs, end: at(since), knownAt: 0 };
  const { weather } = simulatedHours(at(hour), { weather: Number.isFinite(since) ? [gap] : [] });
  if (weather.kind !== 'readable') throw new Error('the file is not readable');
  const series = weather.artifact.series.map((one) => ({ ...one, endpoint: `wss://${host}/subscribe` }));
  return { ...weather.artifact, series };
}

/** Returns the file of both hosts of a failover, the second of which is published. */
function afterFailover(hour: number, since: number): WeatherHours {
  const [from, to] = [fileAt(hour), fileAt(hour, 'b.example', since)];
  return { ...to, series: [...from.series.map((one) => ({ ...one, published: false })), ...to.series] };
}

const merged = (name: string, ...files: WeatherHours[]): WeatherDay => files.reduce(mergeWeather, unknownWeather(name));
const published = ({ series }: WeatherDay): string[] => series.filter((one) => one.published).map(({ host }) => host);

it('the series of a host that the operator removed is no longer published from the day of the change on', () => {
  const files = [fileAt(10), fileAt(12, 'b.example', 11)];
  const changed = merged(day, ...files);
  expect(changed.series.map(({ host }) => host)).toEqual(['a.example', 'b.example']);
  expect(published(changed)).toEqual(['b.example']);
  expect(published(merged('2026-11-19', ...files))).toEqual(['a.example']);
});

it('the series of the host that failed stays published on the days that the other host did not observe', () => {
  const files = [fileAt(10), afterFailover(12, 11)];
  expect(published(merged(day, ...files))).toEqual(['b.example']);
  expect(published(merged('2026-11-19', ...files))).toEqual(['a.example']);
});

it('the only series of a day is published, although it observed nothing', () => {
  expect(published(merged(day, fileAt(10, 'a.example', 20)))).toEqual(['a.example']);
});

import { expect, it } from 'vitest';
import { simulatedHours } from '../../../harness/archive/simulated-hours.ts';
import type { WeatherHours } from '../../artifact/hours/weather-hours.ts';
import { dayMs, hourMs, startOf } from '../days/calendar.ts';
import type { HoursReadings } from './hour-lists.ts';
import { type WeatherDay, weatherForm } from './weather-day.ts';

/**
 * The hours of a day are those that the instrument reported last. Exactly one series of a day is marked as published,
 * because the series of two hosts must never be added up.
 */

const day = '2026-11-20';
const at = (hour: number): number => startOf(day) + hour * hourMs;

/** Returns the hours file written at `hour`, from a host that was first read at hour `since`. */
function fileAt(hour: number, host = 'a.example', since = Number.NEGATIVE_INFINITY): WeatherHours {
  const gap = { start: startOf(day) - 100 * hourMs, end: at(since), knownAt: 0 };
  const weather = weatherOf(simulatedHours(at(hour), { weather: Number.isFinite(since) ? [gap] : [] }));
  const series = weather.series.map((one) => ({ ...one, endpoint: `wss://${host}/subscribe` }));
  return { ...weather, series };
}

function weatherOf({ weather }: HoursReadings): WeatherHours {
  if (weather.kind !== 'readable') throw new Error('the file is not readable');
  return weather.artifact;
}

/** Returns the hours file after a failover, with both hosts. The second host is the published one. */
function afterFailover(hour: number, since: number): WeatherHours {
  const [from, to] = [fileAt(hour), fileAt(hour, 'b.example', since)];
  return { ...to, series: [...from.series.map((one) => ({ ...one, published: false })), ...to.series] };
}

const merged = (name: string, ...files: WeatherHours[]): WeatherDay =>
  files.reduce(weatherForm.merge, weatherForm.unknown(name));
const published = ({ series }: WeatherDay): string[] => series.filter((one) => one.published).map(({ host }) => host);

it('the series of a removed host is no longer published from the day of the removal onwards', () => {
  const files = [fileAt(10), fileAt(12, 'b.example', 11)];
  const changed = merged(day, ...files);
  expect(changed.series.map(({ host }) => host)).toEqual(['a.example', 'b.example']);
  expect(published(changed)).toEqual(['b.example']);
  expect(published(merged('2026-11-19', ...files))).toEqual(['a.example']);
});

it('the series of a failed host stays published on days that the other host did not observe', () => {
  const files = [fileAt(10), afterFailover(12, 11)];
  expect(published(merged(day, ...files))).toEqual(['b.example']);
  expect(published(merged('2026-11-19', ...files))).toEqual(['a.example']);
});

/**
 * Returns the hours file of an instrument whose store began at hour `since` and has a gap between hours `from` and
 * `to`.
 */
function fileWith(hour: number, since: number, [from, to]: readonly [number, number] = [0, 0]): WeatherHours {
  const ever = { start: startOf(day) - 100 * dayMs, end: at(since) };
  const gap = { start: at(from), end: at(to), knownAt: 0 };
  return weatherOf(simulatedHours(at(hour), { weather: [ever, gap] }));
}

const observed = (kept: WeatherDay): number[] => kept.series.flatMap((one) => one.observed_seconds).slice(8, 13);

it('a late gap replaces known hours, including the hour in which the store began', () => {
  const whole = merged(day, fileWith(14, 9.5));
  expect(observed(whole)).toEqual([0, 1_800, 3_600, 3_600, 3_600]);
  expect(observed(merged(day, fileWith(14, 9.5), fileWith(15, 9.5, [9.75, 11.5])))).toEqual([0, 900, 0, 1_800, 3_600]);
});

it('after the loss of a store, later files do not erase hours that began before the new store', () => {
  const files = [fileWith(10.9, -50), fileWith(11.2, 10.95), fileWith(11.5, 10.95), fileWith(14, 10.95)];
  for (let count = 2; count <= files.length; count++) {
    expect(observed(merged(day, ...files.slice(0, count))).slice(0, 3)).toEqual([3_600, 3_600, 3_180]);
  }
  expect(observed(merged(day, ...files))).toEqual([3_600, 3_600, 3_180, 3_600, 3_600]);
});

it('a store that has observed nothing does not erase hours', () => {
  const empty = fileWith(14, 20);
  expect(empty.series[0]?.observed_since).toBeNull();
  expect(observed(merged(day, fileWith(13, -50), empty))).toEqual([3_600, 3_600, 3_600, 3_600, 3_540]);
});

it('a file of an earlier version, which does not state its first observation, does not erase early hours', () => {
  const old = (file: WeatherHours): WeatherHours => ({
    ...file,
    series: file.series.map(({ observed_since: _, ...one }) => one),
  });
  expect(observed(merged(day, fileWith(13, -50), old(fileWith(14, 10.5))))).toEqual([
    3_600, 3_600, 3_600, 3_600, 3_600,
  ]);
});

it('the hours of a day are unchanged after formatting and parsing', () => {
  for (const kept of [merged(day, fileWith(14, -50)), merged(day, fileWith(14, 9.5))]) {
    expect(weatherForm.parse(weatherForm.format(kept), day)).toEqual(kept);
  }
  expect(weatherForm.format(merged(day, fileWith(14, -50))).toString()).not.toContain('observed_since');
});

it('the only series of a day is published even if it observed nothing', () => {
  expect(published(merged(day, fileAt(10, 'a.example', 20)))).toEqual(['a.example']);
});

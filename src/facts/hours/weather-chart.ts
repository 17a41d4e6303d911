import type { WeatherHourSeries } from '../../artifact/hours/weather-hours.ts';
import type { CollectionName, WeatherGapReason } from '../../contract/vocabulary.ts';
import type { Bin, Hole } from '../../web/chart/series.ts';
import { instantText, rateText } from '../../web/format.ts';
import { binOf, withUnlistedHoles } from './bins.ts';
import { collectionWords } from './collection-words.ts';
import type { PageChart } from './hours-chart.ts';

/** Reasons for which weather was not observed, in words. */
export const weatherReasons: Readonly<Record<WeatherGapReason, string>> = {
  not_observed: 'nothing arrived from the host',
  silent: 'this kind was silent while others arrived',
  not_counted: 'not counted yet by the version of that time',
  never_seen: 'never seen from this host',
};

/**
 * Creates the chart of the events per observed second: of all kinds, or of one collection. The usual range is known for
 * all kinds together only.
 */
export function weatherChart(series: WeatherHourSeries, collection: CollectionName | null = null): PageChart {
  const through = Date.parse(series.through);
  const since = series.observed_since ? Date.parse(series.observed_since) : Number.NEGATIVE_INFINITY;
  const own = collection === null ? null : series.collections[collection];
  const listed = series.gaps
    .filter((gap) => gap.collection === null || gap.collection === collection)
    .map(({ start, end, reason }): Hole => {
      const isBefore = reason === 'not_observed' && Date.parse(end) <= since;
      const words = isBefore ? 'before the observation began' : weatherReasons[reason];
      return { start: Date.parse(start), end: Date.parse(end), reason: words };
    });
  const hours = series.hours.map((hour, at) => {
    const seconds = collection === null ? hour.observed_seconds : (own?.observed_seconds[at] ?? 0);
    const events = collection === null ? hour.events : (own?.events[at] ?? null);
    // Events of an hour without observed time have no rate.
    return {
      start: Date.parse(hour.start),
      seconds,
      value: events === null || seconds === 0 ? null : events / seconds,
    };
  });
  const holes = withUnlistedHoles(hours, listed, through);
  const bins = hours.map(({ start, seconds, value }, at): Bin => {
    const usual = collection === null ? series.hours[at]?.usual : undefined;
    return { ...binOf({ start, seconds, through, holes }), value, ...(usual === undefined ? {} : { usual }) };
  });
  const kind = collection === null ? 'Events' : collectionWords[collection].replace('of these, ', 'Posts: ');
  const hasUsual = bins.some(({ usual }) => usual !== undefined);
  return {
    series: {
      id: collection === null ? 'events' : collection.replaceAll('.', '-'),
      shape: 'line',
      paint: 'weather',
      bins,
      holes,
      through,
    },
    title: `${kind} per second, by hour`,
    unit: 'per second',
    answer: collection === null ? answerOf(bins, through) : '',
    columns: { value: 'Events per second', ...(hasUsual ? { usual: 'Usual' } : {}) },
  };
}

/** Answers whether the last full hour was busier than usual, and since when. */
function answerOf(bins: readonly Bin[], through: number): string {
  const full = bins.filter(({ end, observed }) => end <= through && observed >= 1);
  const last = full.at(-1);
  if (!last || last.value === null) return 'No hour was observed entirely yet.';
  const text = `In the last hour that was observed entirely, ${instantText(new Date(last.start).toISOString())}, ${rateText(last.value)} events per second arrived`;
  const side = sideOf(last);
  if (side === null || !last.usual) return `${text}. There is too little history to say whether that is usual.`;
  const range = `${rateText(last.usual.low)} to ${rateText(last.usual.high)}`;
  if (side === 'within') return `${text}: as usual for this hour (${range}).`;
  let since = last;
  for (const bin of bins.slice(0, bins.indexOf(last)).toReversed()) {
    if (sideOf(bin) !== side) break;
    since = bin;
  }
  return `${text}: ${side === 'above' ? 'more' : 'less'} than usual for this hour (${range}), since ${instantText(new Date(since.start).toISOString())}.`;
}

function sideOf({ value, usual }: Bin): 'above' | 'below' | 'within' | null {
  if (value === null || !usual) return null;
  return value > usual.high ? 'above' : value < usual.low ? 'below' : 'within';
}

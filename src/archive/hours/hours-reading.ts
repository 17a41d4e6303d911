import type { LabelsHours } from '../../artifact/hours/labels-hours.ts';
import type { WeatherHours } from '../../artifact/hours/weather-hours.ts';
import type { HoursFailure } from './hour-lists.ts';

/** Result of reading the hours file of an instrument. */
export type HoursReading<A> =
  | { readonly kind: 'readable'; readonly artifact: A }
  | { readonly kind: 'failure'; readonly reason: HoursFailure };

/** The hours files of both instruments. */
export interface HoursReadings {
  readonly weather: HoursReading<WeatherHours>;
  readonly labels: HoursReading<LabelsHours>;
}

import type { LabelsDay } from './labels-day.ts';
import type { WeatherDay } from './weather-day.ts';

/** Hourly weather and labels of one day, as the archive keeps them. */
export interface DayHours {
  readonly weather: WeatherDay;
  readonly labels: LabelsDay;
}

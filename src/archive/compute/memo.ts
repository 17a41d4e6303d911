import type { DayHours } from '../hours/day-hours.ts';
import type { LabelsDay } from '../hours/labels-day.ts';
import type { WeatherDay } from '../hours/weather-day.ts';

/** Caches parsed files and computed tables, because most files of open days do not change within an hour. */
export class Memo {
  readonly #parsed = new Map<string, { readonly bytes: Buffer; readonly value: unknown }>();
  readonly #tables = new Map<string, TablesOf<unknown>>();

  /** Returns the parsed value of a file; the same object until the bytes change. */
  parsed<T>(path: string, bytes: Buffer, parse: (bytes: Buffer) => T): T {
    const known = this.#parsed.get(path);
    if (known?.bytes.equals(bytes) === true) return known.value as T;
    const value = parse(bytes);
    this.#parsed.set(path, { bytes, value });
    return value;
  }

  /** Returns the tables of a day, and computes them only if their input has changed. */
  tables<T>({ weather, labels }: DayHours, hours: number, compute: () => T): T {
    const known = this.#tables.get(weather.day);
    if (known?.weather === weather && known.labels === labels && known.hours === hours) return known.value as T;
    const value = compute();
    this.#tables.set(weather.day, { weather, labels, hours, value });
    return value;
  }

  /** Discards the results of all days before the given day. */
  forgetBefore(day: string): void {
    for (const path of this.#parsed.keys()) if (path < day) this.#parsed.delete(path);
    for (const known of this.#tables.keys()) if (known < day) this.#tables.delete(known);
  }
}

interface TablesOf<T> {
  readonly weather: WeatherDay;
  readonly labels: LabelsDay;
  /** Number of hours of the day that are over. */
  readonly hours: number;
  readonly value: T;
}

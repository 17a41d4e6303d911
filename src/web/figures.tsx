import { countText, instantText, percentText, rateText, spanText } from './format.ts';

/**
 * A number on a page. `at` names its source (the fact and a JSON pointer), so that readers and tests can find the same
 * number in the JSON.
 */
interface Figure {
  /**
   * Name of the fact and JSON pointer, such as `labels/facts/counts/events_24h`; absent for a number computed by the
   * page.
   */
  readonly at?: string;
}

/** Shows a count. */
export function Count({ value, at }: Figure & { value: number }) {
  return (
    <data value={value} data-at={at}>
      {countText(value)}
    </data>
  );
}

/** Shows events per second, followed by the unit. */
export function Rate({ value, at }: Figure & { value: number }) {
  return (
    <data value={value} data-at={at}>
      {rateText(value)}
    </data>
  );
}

/** Shows a fraction (0 to 1) as a percentage. */
export function Percent({ value, at }: Figure & { value: number }) {
  return (
    <data value={value} data-at={at}>
      {percentText(value)}
    </data>
  );
}

/** Shows a duration. `value` is in seconds and must not be negative. */
export function Span({ value, at }: Figure & { value: number }) {
  return (
    <data value={value} data-at={at}>
      {spanText(value)}
    </data>
  );
}

/** Shows a timestamp of the contract, with its verbatim value in the `datetime` attribute. */
export function Instant({
  value,
  at,
  precision = 'minute',
}: Figure & { value: string; precision?: 'minute' | 'second' }) {
  return (
    <time dateTime={value} data-at={at}>
      {instantText(value, precision)}
    </time>
  );
}

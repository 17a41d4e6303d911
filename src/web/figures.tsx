import { countText, instantText, percentText, rateText, spanText } from './format.ts';

/**
 * Source of a number on a page. Every number has its source in `at` (the fact and a JSON pointer), so that readers and tests
 * can find the same number in the JSON.
 */
interface Figure {
  /** Name of the fact and JSON pointer, for example `labels/facts/counts/events_24h`; absent for a computed number. */
  readonly at?: string;
}

/** Shows a count. */
export function Count({ value, at }: Figure & { value: number }) {
  return (
    <data class="figure" value={value} data-at={at}>
      {countText(value)}
    </data>
  );
}

/** Shows events per second, followed by the unit. */
export function Rate({ value, at }: Figure & { value: number }) {
  return (
    <data class="figure" value={value} data-at={at}>
      {rateText(value)}
    </data>
  );
}

/** Shows a share in per cent. */
export function Percent({ value, at }: Figure & { value: number }) {
  return (
    <data class="figure" value={value} data-at={at}>
      {percentText(value)}
    </data>
  );
}

/** Shows a duration in seconds; not negative. */
export function Span({ value, at }: Figure & { value: number }) {
  return (
    <data class="figure" value={value} data-at={at}>
      {spanText(value)}
    </data>
  );
}

/** Shows an instant of the contract, with the verbatim value for machines. */
export function Instant({
  value,
  at,
  precision = 'minute',
}: Figure & { value: string; precision?: 'minute' | 'second' }) {
  return (
    <time class="figure" dateTime={value} data-at={at}>
      {instantText(value, precision)}
    </time>
  );
}

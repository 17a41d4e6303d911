import { countText, instantText, percentText, rateText, spanText } from './format.ts';

/**
 * Numbers on a page. Each carries where it comes from (`at`: the fact and the JSON pointer into it), so that a
 * reader, and a test, can find the very number in the JSON.
 */
interface Figure {
  /** Such as `labels/facts/counts/events_24h`; absent where no document holds the number. */
  readonly at?: string;
}

/** A count of things. */
export function Count({ value, at }: Figure & { value: number }) {
  return (
    <data class="figure" value={value} data-at={at}>
      {countText(value)}
    </data>
  );
}

/** Events per second; the unit follows it. */
export function Rate({ value, at }: Figure & { value: number }) {
  return (
    <data class="figure" value={value} data-at={at}>
      {rateText(value)}
    </data>
  );
}

/** A share of the whole, in per cent. */
export function Percent({ value, at }: Figure & { value: number }) {
  return (
    <data class="figure" value={value} data-at={at}>
      {percentText(value)}
    </data>
  );
}

/** A length of time, in seconds; not negative. */
export function Span({ value, at }: Figure & { value: number }) {
  return (
    <data class="figure" value={value} data-at={at}>
      {spanText(value)}
    </data>
  );
}

/** An instant of the contract, verbatim to machines. */
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

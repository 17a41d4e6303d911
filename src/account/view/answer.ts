import type { Micros } from '../../contract/timestamp.ts';
import type { AccountTally, EventCount, EventSpan } from '../../store/account-counts.ts';
import type { Observation } from '../../store/port.ts';
import { type Interval, micros } from '../../store/time.ts';
import { unreadOf } from './labelers.ts';
import type { Part } from './rows.ts';
import { overlap, type Timeline, union } from './timeline.ts';
import type { LabelerView } from './view.ts';

/** Acceptance time of an observation: exact, or only the start of its UTC day if the page did not read the row. */
export interface ObservedTime {
  readonly at: Micros;
  readonly isExact: boolean;
}

/** Number of observations, and the times of the first and the last of them. */
export interface AnswerSpan extends EventCount {
  readonly first: ObservedTime;
  readonly last: ObservedTime;
}

/** Observations of one labeler that match the filters, by value. */
export interface AnswerLabeler {
  /** The labeler with its coverage. */
  readonly labeler: LabelerView;
  readonly sum: AnswerSpan;
  readonly values: readonly ({ readonly value: string } & AnswerSpan)[];
  /** Number of the labeler's values that are not listed. */
  readonly otherValues: number;
  /** Time in microseconds for which the labeler was not observed. */
  readonly unseen: number;
}

/** Table of the labelers and values of an account's observations. */
interface Answer {
  readonly labelers: readonly AnswerLabeler[];
  /** Number of labelers with matching observations that are not listed. */
  readonly otherLabelers: number;
}

/** Data for computing the answer of a page. */
interface AnswerInputs {
  readonly tally: Pick<AccountTally, 'groups'>;
  readonly parts: readonly Part[];
  readonly labelers: readonly LabelerView[];
  readonly timeline: Pick<Timeline, 'start' | 'end' | 'unseen' | 'uncounted'>;
  /** Available part of the interval. */
  readonly interval: Interval;
}

/**
 * Computes the table of labelers and values from the counts of the page's tally, and adds the coverage of each labeler.
 * The counts cost no further read, even for a hot account. They know only the days of a value's observations; the exact
 * times are those of the listed rows, and are given if the page lists every row of the value.
 */
export function answerOf({ tally: { groups }, parts, labelers, timeline, interval }: AnswerInputs): Answer {
  const views = new Map(labelers.map((view) => [view.labeler, view]));
  const rows = Map.groupBy(
    parts.flatMap((part) => part.rows),
    ({ label }) => label.src,
  );
  const spanOf = (span: EventSpan, listed: readonly Observation[]): AnswerSpan =>
    timed(span, timeline.uncounted === 0 ? listed : []);
  const found = groups.flatMap(({ labeler: did, values, otherValues, ...sum }): AnswerLabeler[] => {
    const labeler = views.get(did);
    if (!labeler) return [];
    const own = rows.get(did) ?? [];
    const byValue = Map.groupBy(own, ({ label }) => label.val);
    const missed = union([...timeline.unseen, ...labeler.gaps, ...unreadOf(labeler, interval)], timeline);
    return [
      {
        labeler,
        sum: spanOf(sum, own),
        values: values.map(({ value, ...span }) => ({ value, ...spanOf(span, byValue.get(value) ?? []) })),
        otherValues,
        unseen: overlap(missed, timeline),
      },
    ];
  });
  return { labelers: found, otherLabelers: groups.length - found.length };
}

/** Adds the times of the first and the last row. `listed` contains the rows that the page lists, in any order. */
function timed({ applied, removed, firstDay, lastDay }: EventSpan, listed: readonly Observation[]): AnswerSpan {
  const isExact = listed.length === applied + removed;
  const times = listed.map(({ observedAt }) => observedAt);
  const time = (day: Micros, at: number): ObservedTime => ({ at: isExact ? micros(at) : day, isExact });
  return {
    applied,
    removed,
    first: time(firstDay, Math.min(...times)),
    last: time(lastDay, Math.max(...times)),
  };
}

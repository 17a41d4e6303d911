import type { LabelersSet } from './read-set.ts';

/** Compares the sums over all labelers with the overview generated at the same time. */
export function sumProblems({ header, labelers, overview }: LabelersSet): string[] {
  const problems: string[] = [];
  const same = (what: string, sum: number, whole: number | null | undefined): void => {
    if (sum !== whole) problems.push(`the sum of ${what} is ${sum}, but the overview has ${whole}`);
  };
  const sum = (of: (line: (typeof labelers)[number]) => number): number =>
    labelers.reduce((total, line) => total + of(line), 0);
  const { counts, coverage, top_labelers_7d: top } = overview;
  same('lines', labelers.length, header.labelers);
  same(
    'the events of the window',
    sum(({ events }) => events.window),
    counts.events_window,
  );
  same(
    'the events of 7 days',
    sum(({ events }) => events.week),
    counts.events_7d,
  );
  same(
    'the events of a day',
    sum(({ events }) => events.day),
    counts.events_24h,
  );
  same(
    'the active labelers of the window',
    sum(({ events }) => Number(events.window > 0)),
    counts.labelers_active_window,
  );
  same(
    'the active labelers of 7 days',
    sum(({ events }) => Number(events.week > 0)),
    counts.labelers_active_7d,
  );
  same(
    'the enrolled labelers',
    sum(({ enrolled }) => Number(enrolled)),
    coverage.sources.enrolled,
  );
  const states: Readonly<Record<string, number | null | undefined>> = coverage.sources;
  for (const state of new Set(labelers.filter(({ enrolled }) => enrolled).map((line) => line.state))) {
    same(
      `the labelers in the state ${state}`,
      sum((line) => Number(line.enrolled && line.state === state)),
      states[state],
    );
  }
  const weeks = new Map(labelers.map(({ did, events }) => [did, events.week]));
  for (const { labeler_did: did, count } of top) same(`the events of ${did} in 7 days`, weeks.get(did) ?? 0, count);
  for (const { did, days, events } of labelers) {
    const total = days.reduce((all, [applied, removed]) => all + (applied ?? 0) + (removed ?? 0), 0);
    if (total !== events.window) problems.push(`${did}: the days have ${total} events, the window ${events.window}`);
  }
  return problems;
}

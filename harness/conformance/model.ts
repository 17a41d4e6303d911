import { type SignatureVerdict, signatureVerdicts, type TargetKind } from '../../src/contract/vocabulary.ts';
import {
  type AccountTally,
  delayBounds,
  type EventCount,
  type LabelerCount,
  type LabelersCounters,
  type ValueCount,
} from '../../src/store/counts.ts';
import type {
  AccountFilter,
  AccountInterval,
  AppendResult,
  Batch,
  BucketCount,
  Observation,
  Position,
  RefusalCount,
} from '../../src/store/port.ts';
import { dayOf, dayStart, hour, type Interval, micros } from '../../src/store/time.ts';

/** A simple in-memory model of the store, for small numbers of rows. */
export class StoreModel {
  readonly rows: Observation[] = [];
  /** Stamps of the rows that were received live. */
  readonly #live = new Set<number>();
  readonly #positions = new Map<string, Position>();
  readonly #refused: { at: number; source: string; reason: RefusalCount['reason']; count: number }[] = [];
  through: number | null = null;

  append({ at, observations, refusals, positions }: Batch): AppendResult {
    const fresh: Batch['observations'][number][] = [];
    const duplicates: number[] = [];
    const known = new Set(this.rows.map((row) => identity(row)));
    for (const [i, observation] of observations.entries()) {
      const text = identity(observation);
      if (known.has(text)) duplicates.push(i);
      else fresh.push(observation);
      known.add(text);
    }
    let first = Math.max(at, (this.rows.at(-1)?.observedAt ?? -1) + 1);
    const last = first + Math.max(0, fresh.length - 1);
    if (dayOf(first) !== dayOf(last)) first = dayStart(dayOf(last));
    fresh.forEach(({ label, signature, live }, i) => {
      this.rows.push({ label, signature, observedAt: micros(first + i) });
      if (live) this.#live.add(first + i);
    });
    const stamp = first;
    for (const refusal of refusals) this.#refused.push({ at: stamp, ...refusal });
    for (const i of duplicates) {
      this.#refused.push({ at: stamp, source: observations[i]?.label.src ?? '', reason: 'duplicate', count: 1 });
    }
    for (const { source, endpoint, value } of positions) {
      if (value === null) this.#positions.delete(`${source} ${endpoint}`);
      else this.#positions.set(`${source} ${endpoint}`, { source, endpoint, value, acceptedAt: at });
    }
    this.through = Math.max(this.through ?? 0, at);
    return {
      accepted: fresh.length,
      duplicates,
      first: fresh.length > 0 ? micros(first) : null,
      last: fresh.length > 0 ? micros(first + fresh.length - 1) : null,
    };
  }

  account(
    account: string,
    interval: Interval,
    order: 'oldest' | 'newest',
    { labeler, value, removed, target }: AccountFilter = {},
  ): Observation[] {
    const rows = within(this.rows, interval).filter(
      (row) =>
        subject(row) === account &&
        (labeler ?? row.label.src) === row.label.src &&
        (value ?? row.label.val) === row.label.val &&
        (removed ?? removal(row)) === removal(row) &&
        (target ?? about(row)) === about(row),
    );
    return order === 'oldest' ? rows : rows.toReversed();
  }

  tally(account: string, interval: Interval, filter: AccountFilter): AccountTally {
    const rows = this.account(account, interval, 'oldest');
    const days: AccountTally['days'][number][] = [];
    for (let day = dayOf(interval.start); day <= dayOf(interval.end - 1); day++) {
      const part = {
        start: micros(Math.max(interval.start, dayStart(day))),
        end: micros(Math.min(interval.end, dayStart(day + 1))),
      };
      const wanted = this.account(account, part, 'oldest', filter);
      const counts = {
        rows: within(rows, part).length,
        account: events(wanted.filter((row) => about(row) === 'account')),
        post: events(wanted.filter((row) => about(row) === 'post')),
        record: events(wanted.filter((row) => about(row) === 'record')),
      };
      days.push({ ...part, counts });
    }
    const by = (nameOf: (row: Observation) => string) =>
      [...Map.groupBy(rows, nameOf)]
        .sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1))
        .map(([name, group]) => [name, events(group)] as const);
    return {
      days,
      labelers: by((row) => row.label.src).map(([labeler, counts]) => ({ labeler, ...counts })),
      values: by((row) => row.label.val).map(([value, counts]) => ({ value, ...counts })),
      groups: groupsOf(this.account(account, interval, 'oldest', filter)),
    };
  }

  intervals(account: string, interval: Interval, maxRows: number): AccountInterval[] {
    const rows = this.account(account, interval, 'oldest');
    const starts = [interval.start, ...rows.filter((_, i) => i > 0 && i % maxRows === 0).map((row) => row.observedAt)];
    return starts.map((start, i) => {
      const end = starts[i + 1] ?? interval.end;
      return { start, end, rows: within(rows, { start, end }).length };
    });
  }

  byLabeler(interval: Interval): LabelerCount[] {
    const counts = tally(within(this.rows, interval), () => 0).map(({ start: _, ...count }) => count);
    return counts.sort((a, b) => b.applied + b.removed - a.applied - a.removed || (a.labeler < b.labeler ? -1 : 1));
  }

  /**
   * Returns the counters of every labeler over the days that an interval touches. Valid only while a labeler has so few
   * values that the store counts each of them by name.
   */
  labelerCounters({ start, end }: Interval, floor: number): LabelersCounters {
    const whole = { start: dayStart(dayOf(start)), end: dayStart(dayOf(end - 1) + 1) };
    const groups = Map.groupBy(within(this.rows, whole), ({ label }) => label.src);
    const labelers = [...groups].map(([labeler, rows]) => ({
      labeler,
      verdicts: countBy(rows.map(({ signature }) => signature)),
      values: valuesOf(rows),
      others: { applied: 0, removed: 0 },
      delays: delaysOf(rows.filter(({ observedAt }) => this.#live.has(observedAt))),
    }));
    labelers.sort((a, b) => (a.labeler < b.labeler ? -1 : 1));
    return { since: micros(Math.max(whole.start, floor)), labelers };
  }

  overTime(interval: Interval, length: number): BucketCount[] {
    const counts = tally(within(this.rows, interval), (row) => Math.floor(row.observedAt / length) * length);
    return counts.sort((a, b) => a.start - b.start || (a.labeler < b.labeler ? -1 : 1));
  }

  refusals({ start, end }: Interval): RefusalCount[] {
    const from = Math.floor(start / hour);
    const to = Math.ceil(end / hour);
    const sums = new Map<string, RefusalCount>();
    for (const { at, source, reason, count } of this.#refused) {
      if (Math.floor(at / hour) < from || Math.floor(at / hour) >= to) continue;
      const key = `${source} ${reason}`;
      sums.set(key, { source, reason, count: count + (sums.get(key)?.count ?? 0) });
    }
    return [...sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
  }

  positions(): Position[] {
    return [...this.#positions].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, position]) => position);
  }
}

function countBy(verdicts: readonly SignatureVerdict[]): Record<SignatureVerdict, number> {
  const counts = signatureVerdicts.map((verdict) => [verdict, verdicts.filter((one) => one === verdict).length]);
  return Object.fromEntries(counts) as Record<SignatureVerdict, number>;
}

/** Returns the groups of a tally of rows. Valid only while there are so few groups that the store lists all of them. */
export function groupsOf(rows: readonly Observation[]): AccountTally['groups'] {
  const bySize = (keyOf: (row: Observation) => string, of: readonly Observation[]) =>
    [...Map.groupBy(of, keyOf)].sort(([a, x], [b, y]) => y.length - x.length || (a < b ? -1 : 1));
  const spanOf = (of: readonly Observation[]) => ({
    ...events(of),
    firstDay: micros(dayStart(dayOf(of[0]?.observedAt ?? 0))),
    lastDay: micros(dayStart(dayOf(of.at(-1)?.observedAt ?? 0))),
  });
  return bySize((row) => row.label.src, rows).map(([labeler, own]) => ({
    labeler,
    ...spanOf(own),
    values: bySize((row) => row.label.val, own).map(([value, of]) => ({ value, ...spanOf(of) })),
    otherValues: 0,
  }));
}

function valuesOf(rows: readonly Observation[]): ValueCount[] {
  const counts = [...Map.groupBy(rows, ({ label }) => label.val)].map(([value, of]) => ({ value, ...events(of) }));
  return counts.sort((a, b) => b.applied + b.removed - a.applied - a.removed || (a.value < b.value ? -1 : 1));
}

function delaysOf(rows: readonly Observation[]): number[] {
  const delays = rows.map(({ observedAt, label }) => observedAt / 1000 - Date.parse(label.cts));
  return [...delayBounds, Number.POSITIVE_INFINITY].map((bound, i) => {
    const below = i === 0 ? Number.NEGATIVE_INFINITY : (delayBounds[i - 1] ?? 0);
    return delays.filter((delay) => Math.floor(delay) > below && Math.floor(delay) <= bound).length;
  });
}

function identity({ label }: Pick<Observation, 'label'>): string {
  const { src, uri, cid, val, neg, cts, exp } = label;
  return JSON.stringify({ src, uri, cid, val, neg: neg === true, cts, exp });
}

function removal({ label }: Observation): boolean {
  return label.neg === true;
}

function about({ label: { uri } }: Observation): TargetKind {
  if (!uri.startsWith('at://')) return 'account';
  return /^at:\/\/[^/]+\/app\.bsky\.feed\.post\/[^/]+$/s.test(uri) ? 'post' : 'record';
}

function events(rows: readonly Observation[]): EventCount {
  const removed = rows.filter(removal).length;
  return { applied: rows.length - removed, removed };
}

function subject({ label }: Observation): string {
  return label.uri.replace(/^at:\/\//, '').replace(/\/.*$/s, '');
}

function within(rows: readonly Observation[], { start, end }: Interval): Observation[] {
  return rows.filter((row) => row.observedAt >= start && row.observedAt < end);
}

function tally(rows: readonly Observation[], bucketOf: (row: Observation) => number): BucketCount[] {
  const groups = Map.groupBy(rows, (row) => `${bucketOf(row)} ${row.label.src}`);
  return [...groups].map(([key, group]) => {
    const [start = '', labeler = ''] = key.split(' ');
    const removed = group.filter((row) => row.label.neg === true).length;
    return { start: micros(Number(start)), labeler, applied: group.length - removed, removed };
  });
}

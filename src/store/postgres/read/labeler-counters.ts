import { type SignatureVerdict, signatureVerdicts } from '../../label.ts';
import {
  delayBounds,
  type LabelerCounters,
  type LabelersCounters,
  maxCountedValues,
  type ValueCount,
} from '../../labeler-counters.ts';
import { dayOf, dayStart, type Interval, micros } from '../../time.ts';
import type { Session } from '../base/session.ts';
import { labelerKinds } from '../count/labeler-kinds.ts';
import { readRows } from './look.ts';

interface Count {
  readonly labeler: string;
  readonly kind: number;
  readonly key: string;
  readonly applied: number;
  readonly removed: number;
}

/** Returns the counts of each labeler over the whole days that overlap an interval. */
export function labelerCounters(session: Session, interval: Interval): Promise<LabelersCounters> {
  return readRows(session, interval, async (queries, { floor }) => {
    const counts = await queries.rows<Count>(
      `SELECT s.did AS labeler, c.kind, c.key, c.applied, c.removed FROM
       (SELECT source, kind, key, sum(applied)::bigint AS applied, sum(removed)::bigint AS removed FROM labeler_count
        WHERE day >= $1 AND day <= $2 GROUP BY source, kind, key) c JOIN source s ON s.id = c.source
       WHERE c.applied + c.removed > 0`,
      [dayOf(interval.start), dayOf(interval.end - 1)],
    );
    const labelers = [...Map.groupBy(counts, ({ labeler }) => labeler)].map(([labeler, of]) => sumOf(labeler, of));
    labelers.sort((a, b) => (a.labeler < b.labeler ? -1 : 1));
    return { since: micros(Math.max(dayStart(dayOf(interval.start)), floor)), labelers };
  });
}

function sumOf(labeler: string, counts: readonly Count[]): LabelerCounters {
  const verdicts = new Map<string, number>();
  const values: ValueCount[] = [];
  const others = { applied: 0, removed: 0 };
  const delays = Array.from({ length: delayBounds.length + 1 }, () => 0);
  for (const { kind, key, applied, removed } of counts) {
    if (kind === labelerKinds.verdict) verdicts.set(key, applied);
    else if (kind === labelerKinds.value) values.push({ value: key, applied, removed });
    else if (kind === labelerKinds.delay) delays[Number(key)] = applied;
    else {
      others.applied += applied;
      others.removed += removed;
    }
  }
  values.sort((a, b) => b.applied + b.removed - a.applied - a.removed || (a.value < b.value ? -1 : 1));
  for (const { applied, removed } of values.slice(maxCountedValues)) {
    others.applied += applied;
    others.removed += removed;
  }
  const byVerdict = signatureVerdicts.map((verdict) => [verdict, verdicts.get(verdict) ?? 0]);
  return {
    labeler,
    verdicts: Object.fromEntries(byVerdict) as Record<SignatureVerdict, number>,
    values: values.slice(0, maxCountedValues),
    others,
    delays,
  };
}

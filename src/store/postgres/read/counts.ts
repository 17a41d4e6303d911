import type { LabelerCount } from '../../account-counts.ts';
import { StoreError } from '../../errors.ts';
import type { BucketCount, RefusalCount, StoreReader } from '../../port.ts';
import { day as dayLength, hour, type Interval, minute } from '../../time.ts';
import { removalFlag } from '../base/row.ts';
import type { Session } from '../base/session.ts';
import { assertInterval, readRows } from './look.ts';

/** Maximum length of the interval of `countsOverTime` by bucket, in microseconds. */
const longest = { hour: 40 * dayLength, minute: 2 * dayLength } as const;

/**
 * Returns exact counts per labeler: from hour and minute counters, and from the rows of the incomplete minutes at both
 * ends of the interval.
 */
export async function countsByLabeler(session: Session, interval: Interval): Promise<LabelerCount[]> {
  const rows = await readRows(session, interval, (queries) => {
    const parts = partsOf(interval);
    const selects = parts.map(({ kind, from, to }) =>
      kind === 'rows'
        ? `SELECT source, count(*) FILTER (WHERE flags & ${removalFlag} = 0), count(*) FILTER (WHERE flags & ${removalFlag} <> 0)
           FROM observation WHERE at >= ${from} AND at < ${to} GROUP BY source`
        : `SELECT source, sum(applied), sum(removed) FROM counter_${kind} WHERE ${kind} >= ${from} AND ${kind} < ${to} GROUP BY source`,
    );
    return queries.rows<LabelerCount>(
      `SELECT s.did AS labeler, sum(c.applied)::bigint AS applied, sum(c.removed)::bigint AS removed
       FROM (${selects.join(' UNION ALL ')}) AS c(source, applied, removed) JOIN source s ON s.id = c.source
       GROUP BY s.did HAVING sum(c.applied) + sum(c.removed) > 0`,
    );
  });
  return rows.sort((a, b) => b.applied + b.removed - (a.applied + a.removed) || (a.labeler < b.labeler ? -1 : 1));
}

/**
 * A part of an interval. A part of the kind `rows` is counted from rows; its `from` and `to` are in microseconds.
 * Other parts are counted from the counters of whole minutes or hours; their `from` and `to` are bucket numbers.
 */
interface Part {
  readonly kind: 'rows' | 'minute' | 'hour';
  readonly from: number;
  readonly to: number;
}

/** Splits an interval into parts that are counted from rows, minute counters and hour counters; omits empty parts. */
function partsOf({ start, end }: Interval): Part[] {
  const firstMinute = Math.ceil(start / minute);
  const lastMinute = Math.floor(end / minute);
  if (firstMinute > lastMinute) return [{ kind: 'rows', from: start, to: end }];
  const firstHour = Math.ceil(firstMinute / 60);
  const lastHour = Math.floor(lastMinute / 60);
  const whole: Part[] =
    firstHour >= lastHour
      ? [{ kind: 'minute', from: firstMinute, to: lastMinute }]
      : [
          { kind: 'minute', from: firstMinute, to: firstHour * 60 },
          { kind: 'hour', from: firstHour, to: lastHour },
          { kind: 'minute', from: lastHour * 60, to: lastMinute },
        ];
  const edges: Part[] = [
    { kind: 'rows', from: start, to: firstMinute * minute },
    { kind: 'rows', from: lastMinute * minute, to: end },
  ];
  const parts = [...whole, ...edges].filter(({ from, to }) => from < to);
  return parts.length > 0 ? parts : [{ kind: 'rows', from: start, to: end }];
}

/** Returns exact counts per labeler and whole hour or minute. */
export async function countsOverTime(
  session: Session,
  query: Parameters<StoreReader['countsOverTime']>[0],
): Promise<BucketCount[]> {
  const { bucket, labeler, start, end } = query;
  assertInterval(query);
  const length = bucket === 'hour' ? hour : minute;
  if (start % length !== 0 || end % length !== 0 || end - start > longest[bucket]) {
    throw new StoreError(
      'invalid_query',
      `the interval must consist of whole ${bucket}s and be at most ${longest[bucket]} µs long`,
    );
  }
  return readRows(session, query, (queries) =>
    queries.rows<BucketCount>(
      `SELECT s.did AS labeler, c.${bucket}::bigint * ${length} AS start, c.applied, c.removed
       FROM counter_${bucket} c JOIN source s ON s.id = c.source
       WHERE c.${bucket} >= $1 AND c.${bucket} < $2 AND ($3::text IS NULL OR s.did = $3) ORDER BY 2, 1`,
      [start / length, end / length, labeler ?? null],
    ),
  );
}

/** Returns the number of refused labels by source and reason in the hours that overlap the interval. */
export function refusals(session: Session, interval: Interval): Promise<RefusalCount[]> {
  return readRows(session, interval, (queries) =>
    queries.rows<RefusalCount>(
      `SELECT s.did AS source, r.reason, sum(r.n)::bigint AS count FROM refusal r JOIN source s ON s.id = r.source
       WHERE r.hour >= $1 AND r.hour < $2 GROUP BY 1, 2 ORDER BY 1, 2`,
      [Math.floor(interval.start / hour), Math.ceil(interval.end / hour)],
    ),
  );
}

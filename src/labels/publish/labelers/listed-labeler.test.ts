import { expect, test } from 'vitest';
import { rosterRow } from '../../../../harness/store/roster-row.ts';
import type { RosterRow } from '../../../store/roster.ts';
import { day, hour, micros, minute } from '../../../store/time.ts';
import { type KnownLabeler, labelerFromRow } from '../../roster/known-labeler.ts';
import { type ListingContext, listedLabeler } from './listed-labeler.ts';

const now = micros(20_040 * day);
const window = { start: micros(now - 30 * day), end: now };
const did = 'did:plc:ar7c4by46qjdydhdevvrndac';
const context = {
  ...{ window, waits: () => false, pauseOf: () => null, deniedSince: () => null },
  refused: new Set<string>(),
};

/** Returns a labeler that was read throughout the window, with the given changes. */
function labelerOf(changes: Partial<RosterRow> = {}, over: Partial<KnownLabeler> = {}): KnownLabeler {
  const began = micros(now - 40 * day);
  const times = { firstAsked: began, firstAnswered: began, lastAnswered: now, completeThrough: now, dated: true };
  return Object.assign(labelerFromRow(rosterRow(did, { ...times, ...changes }), null), over);
}

test('a labeler that waits for a reading slot has a gap since the time at which it was last complete', () => {
  const complete = micros(now - hour);
  const waiting = labelerOf({ completeThrough: complete });
  expect(listedLabeler(waiting, { ...context, waits: () => true }).departure).toEqual({
    ...{ source: did, start: complete, end: now, reason: 'ingest_paused' },
  });
});

test('the time since which a labeler is departed does not change while it stays departed', () => {
  const asked = micros(now - 2 * hour);
  const never = { firstAnswered: null, lastAnswered: null, completeThrough: null };
  const removed = labelerOf({ ...never, firstAsked: asked, stateSince: asked }, { resolutionStatus: 'no_labeler' });
  const complete = micros(now - 3 * hour);
  const displaced = labelerOf({ completeThrough: complete, failingSince: asked });
  const since = (labeler: KnownLabeler, waits: boolean) =>
    [now, micros(now + minute), micros(now + 30 * day)].map(
      (end) =>
        listedLabeler(labeler, { ...context, waits: () => waits, window: { start: window.start, end } }).stateSince,
    );
  expect([since(removed, false), since(displaced, true)]).toEqual([
    [asked, asked, asked],
    [complete, complete, complete],
  ]);
});

test('a labeler whose trial or whose 7 days of failures ended is departed since then', () => {
  const asked = micros(now - 2 * day);
  const never = { firstAnswered: null, lastAnswered: null, completeThrough: null };
  const failed = labelerOf({ failingSince: micros(now - 9 * day) });
  failed.tracker.apply({ kind: 'failed', now, fault: 'failed' });
  const since = [labelerOf({ ...never, firstAsked: asked }), failed].map(
    (one) => listedLabeler(one, context).stateSince,
  );
  expect(since).toEqual([now - day, now - 2 * day]);
});

/** Returns the problem of a labeler that was read throughout the window and is now paused for a reason. */
function problemIf(
  reason: ReturnType<ListingContext['pauseOf']>,
  changes: Partial<RosterRow> = {},
  refused: readonly string[] = [],
) {
  return listedLabeler(labelerOf(changes), { ...context, pauseOf: () => reason, refused: new Set(refused) }).problem;
}

test('only a labeler that used up its own allowance has the problem that it exceeded its share', () => {
  const reasons = [null, 'source', 'domain', 'class', 'disk'] as const;
  expect(reasons.map((reason) => problemIf(reason))).toEqual([null, 'share_exceeded', 'unknown', 'unknown', 'unknown']);
});

test('a pause that a labeler did not cause does not hide a problem that its operator can end', () => {
  expect([
    problemIf('class', {}, [did]),
    problemIf('domain', { state: 'undated_only' }),
    problemIf('disk', { state: 'cursor_order_unverified' }),
  ]).toEqual(['labels_refused', 'labels_undated', 'order_unverified']);
});

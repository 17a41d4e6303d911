import { expect, test } from 'vitest';
import { folderInTest } from '../../../harness/process/folder.ts';
import { rosterRow } from '../../../harness/store/roster-row.ts';
import { formatMicros, type Micros } from '../../contract/timestamp.ts';
import { silentLog } from '../../ops/log.ts';
import type { GapChange } from '../../store/port.ts';
import { day, micros, minute } from '../../store/time.ts';
import { labelerFromRow } from '../roster/known-labeler.ts';
import { Denials } from './denials.ts';
import { changeDenyFile, type DenyEntry, DenyList } from './deny-file.ts';

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
const denied = micros(20_000 * day);
const quiet = { changed: () => undefined, lifted: () => undefined };
const at = (minutes: number): Micros => micros(denied + minutes * minute);

test.each([
  ['since the last page was requested', { lastAnswered: at(-1), completeThrough: at(-2) }, at(-2)],
  ['since an outage that was still short began', { lastAnswered: at(-14), completeThrough: at(-14) }, at(-14)],
  ['since labels that arrived before the denial was noticed', { lastAnswered: at(1), completeThrough: at(1) }, at(1)],
  [
    'since the last response of a labeler that was never complete',
    { lastAnswered: at(-3), completeThrough: null },
    at(-3),
  ],
  ['never if the labeler never responded', { lastAnswered: null, completeThrough: null }, null],
])('a denied labeler has a gap %s', async (_, times, start) => {
  const gaps: GapChange[] = [];
  const labeler = labelerFromRow(rosterRow(did, { firstAsked: at(-900), firstAnswered: at(-900), ...times }), null);
  const denials = new Denials({
    ...{ folder: '', labelers: () => [labeler], ...quiet, clock: () => at(9), log: silentLog },
    ...{ purges: { load: async () => undefined }, telemetry: { denyListDamaged: () => undefined } },
    store: { changeGaps: async (changes) => void gaps.push(...changes) },
  });
  denials.load(
    new DenyList([{ target: { kind: 'did', did }, reason: null, since: formatMicros(denied), purge: null }]),
  );
  await denials.recordGaps();
  const gap = { source: did, start, end: at(9), reason: 'source_unavailable' };
  expect(gaps).toEqual(start === null ? [] : [{ kind: 'record', gap }]);
});

test('a labeler that moves from a denied domain to another one is behind until its labels are filled in', () => {
  const denials = new Denials({
    ...{ folder: '', labelers: () => [], ...quiet, clock: () => at(9), log: silentLog },
    ...{ purges: { load: async () => undefined }, telemetry: { denyListDamaged: () => undefined } },
    store: { changeGaps: async () => undefined },
  });
  denials.load(
    new DenyList([
      { target: { kind: 'domain', domain: 'example.com' }, reason: null, since: formatMicros(denied), purge: null },
    ]),
  );
  const labeler = labelerFromRow(rosterRow(did, { lastAnswered: at(-1), completeThrough: at(-2) }), null);
  const seen = ['https://labels.example.com', 'https://labels.example.org', 'https://labels.example.net'].map((url) => {
    labeler.endpoint = url;
    denials.judge(labeler);
    return [labeler.denied, labeler.tracker.behind, labeler.tracker.unreadSince];
  });
  expect(seen).toEqual([
    [true, false, at(-2)],
    [false, true, at(-2)],
    [false, true, at(-2)],
  ]);
});

test('the entries that were removed from the list are reported once', async () => {
  const folder = folderInTest();
  const lifted: (readonly DenyEntry[])[] = [];
  const denials = new Denials({
    ...{ folder, labelers: () => [], ...quiet, clock: () => at(9), log: silentLog },
    ...{ purges: { load: async () => undefined }, telemetry: { denyListDamaged: () => undefined } },
    ...{ store: { changeGaps: async () => undefined }, lifted: (entries) => void lifted.push(entries) },
  });
  const entryOf = (target: DenyEntry['target']) => ({ target, reason: null, since: formatMicros(denied), purge: null });
  const allowed = entryOf({ kind: 'did', did });
  const kept = entryOf({ kind: 'domain', domain: 'example.com' });
  await changeDenyFile(folder, (list) => list.with(allowed).with(kept));
  await denials.refresh();
  await changeDenyFile(folder, (list) => list.without(allowed.target));
  await denials.refresh();
  await denials.refresh();
  expect(lifted).toEqual([[allowed]]);
});

import { expect, test } from 'vitest';
import type { Batch, StoreWriter } from '../../store/port.ts';
import type { Purge } from '../../store/removals.ts';
import type { LabelerKey } from '../../store/roster.ts';
import { micros, minute, second } from '../../store/time.ts';
import { FilledIn, noChanges, type PageChanges } from '../state/filled-in.ts';
import { defaultBufferLimits, Kept, type KeptRow } from './kept.ts';
import { replay, withoutPurged } from './replay.ts';

const did = 'did:plc:a';
const unchanged = { refusals: [], changes: [] };
const shares = { isProtected: () => false, groupOf: (labeler: string) => labeler };
const isKnown = (labeler: string) => labeler !== 'did:plc:evicted';

/** Returns the memory of a standby that received one page with a row, and the key of the labeler. */
function keptPage(): Kept {
  const standby = { identityOf: ({ val }: { val: string }) => val, knows: () => false };
  const kept = new Kept(standby, defaultBufferLimits, () => undefined);
  const label = { src: did, uri: 'did:plc:b', val: 'spam', cts: '2026-11-22T00:00:00.000Z' };
  const positions = [{ source: did, endpoint: 'https://a.example', value: 'p' }];
  kept.append({ at: micros(1), observations: [{ label, signature: 'verified', live: true }], refusals: [], positions });
  kept.putKeys([{ did, key: 'k', firstSeen: micros(1), lastSeen: micros(1) } as LabelerKey]);
  return kept;
}

/** Returns a writer that records its changes by name, and for each row whether it is live. */
function recordingWriter() {
  const changes: string[] = [];
  const live: (boolean | undefined)[] = [];
  const writer: Pick<StoreWriter, 'append' | 'purges' | 'putKeys' | 'putDefinitions' | 'definitions'> = {
    append: async ({ observations, positions }: Batch) => {
      live.push(...observations.map((observation) => observation.live));
      changes.push(...observations.map(({ label }) => label.val), ...positions.map(({ value }) => String(value)));
      return { accepted: observations.length, duplicates: [], first: null, last: null };
    },
    purges: async () => [],
    putKeys: async (keys) => void changes.push(...keys.map(({ key }) => key)),
    putDefinitions: async (revisions, given) => {
      expect(given).toBe(shares);
      changes.push(`definitions of ${revisions.map(({ did }) => did).join(', ')}`);
      return revisions.map(() => true);
    },
    definitions: async (did) => (did === 'did:plc:newer' ? [{ did, seenAt: micros(9), content: '{}' }] : []),
  };
  return { changes, live, writer };
}

const filledIn = new FilledIn();

test('a replay stores keys before rows, because repeats depend on the keys, and stores rows before the positions that follow the rows', async () => {
  const { changes, writer } = recordingWriter();
  const repeated: PageChanges = {
    changesAt: () => [{ source: did, endpoint: 'repeats', value: 'one repeat' }],
    committed: () => undefined,
  };
  const repeats = { find: async () => (changes.includes('k') ? repeated : noChanges) };
  const result = await replay(keptPage(), writer, {
    clock: () => micros(2),
    refused: unchanged,
    repeats,
    filledIn,
    isKnown,
    shares,
    stored: [],
  });
  expect(changes).toEqual(['k', 'spam', 'one repeat', 'p']);
  expect(result).toEqual({ rows: 1, known: 0 });
});

test('a replay stores definitions in few commits, and skips a labeler that was evicted or of which the writer has a newer revision', async () => {
  const { changes, writer } = recordingWriter();
  const kept = keptPage();
  const revision = (name: string, content = '{}') => ({ did: `did:plc:${name}`, seenAt: micros(2), content });
  const large = 'x'.repeat(1024 * 1024);
  kept.putDefinitions([
    revision('a', large),
    revision('newer'),
    revision('evicted'),
    revision('b', large),
    revision('c'),
  ]);
  const repeats = { find: async () => noChanges };
  const options = { clock: () => micros(3), refused: unchanged, repeats, filledIn, isKnown, shares, stored: [] };
  await replay(kept, writer, options);
  expect(changes.slice(-2)).toEqual(['definitions of did:plc:a', 'definitions of did:plc:b, did:plc:c']);
});

test('a replay stores no key of a labeler that was evicted', async () => {
  const { changes, writer } = recordingWriter();
  const kept = keptPage();
  const key = (labeler: string, value: string) => ({
    did: labeler,
    key: value,
    firstSeen: micros(1),
    lastSeen: micros(1),
  });
  kept.putKeys([key('did:plc:evicted', 'of evicted'), key('did:plc:b', 'of b')]);
  const repeats = { find: async () => noChanges };
  const options = { clock: () => micros(3), refused: unchanged, repeats, filledIn, isKnown, shares, stored: [] };
  await replay(kept, writer, options);
  expect(changes).toEqual(['k', 'of b', 'spam', 'p']);
});

test('a replay dates pages, positions and marks at the time of the pages that the standby accepted, or of a later page of the writer', async () => {
  const batches: Batch[] = [];
  const { writer } = recordingWriter();
  const append: StoreWriter['append'] = async (batch) => {
    batches.push(batch);
    return { accepted: batch.observations.length, duplicates: [], first: null, last: null };
  };
  const kept = keptPage();
  const other = { source: 'did:plc:o', endpoint: 'https://o.example', value: 'q' };
  kept.append({ at: micros(2 * second), observations: [], refusals: [], positions: [other] });
  kept.append({
    at: micros(3 * second),
    observations: [],
    refusals: [],
    positions: [{ ...other, endpoint: 'x', value: null }],
  });
  const refused = { refusals: [{ source: did, reason: 'late' as const, print: 'f', number: 0 }], changes: [] };
  const repeats = { find: async () => noChanges };
  const stored = [{ ...other, value: 'r', acceptedAt: micros(4 * second) }];
  const clock = () => micros(5 * minute);
  await replay(
    kept,
    { ...writer, append },
    { ...{ clock, refused, repeats, filledIn: new FilledIn() }, isKnown, shares, stored },
  );
  expect(batches.map(({ at, pagesAt, positions }) => ({ at, pagesAt, positions }))).toEqual([
    {
      ...{ at: 5 * minute, pagesAt: 2 * second },
      positions: [{ source: did, endpoint: 'filled-in', value: '1.6', acceptedAt: 1 }],
    },
    { at: 5 * minute, pagesAt: 2 * second, positions: [] },
    {
      ...{ at: 5 * minute, pagesAt: 2 * second },
      positions: [
        { ...other, endpoint: 'x', value: null },
        { source: did, endpoint: 'https://a.example', value: 'p', acceptedAt: 1 },
        { ...other, acceptedAt: 4 * second },
      ],
    },
  ]);
});

test('a replay marks the rows that a standby kept for longer than 90 seconds as read late and not live', async () => {
  const replayedAt = async (now: number) => {
    const { changes, live, writer } = recordingWriter();
    const repeats = { find: async () => noChanges };
    const options = {
      clock: () => micros(now),
      refused: unchanged,
      repeats,
      filledIn: new FilledIn(),
      isKnown,
      shares,
      stored: [],
    };
    await replay(keptPage(), writer, options);
    return { changes, live };
  };
  expect(await replayedAt(90 * second)).toEqual({ changes: ['k', 'spam', 'p'], live: [true] });
  expect(await replayedAt(5 * minute)).toEqual({ changes: ['k', 'spam', '1.6', 'p'], live: [false] });
});

function row(src: string, at: number): KeptRow {
  const label = { src, uri: 'did:plc:x', val: 'spam', cts: '2026-11-22T00:00:00.000Z' };
  return { observation: { label, signature: 'verified' }, acceptedAt: micros(at), emittedAfter: micros(0) };
}

function purge(source: string, requestedAt: number): Purge {
  return { source, requestedAt: micros(requestedAt), completedAt: null, rows: 0, daysLeft: 1 };
}

test('buffered rows are omitted if a purge of their labeler would have removed them', () => {
  const [before, noticing] = [row('did:plc:a', 1), row('did:plc:a', 100 + 9 * second)];
  const [other, afterwards] = [row('did:plc:b', 1), row('did:plc:a', 100 + 11 * second)];
  const rows = [before, other, noticing, afterwards];
  expect(withoutPurged(rows, [purge('did:plc:a', 100)])).toEqual([other, afterwards]);
  expect(withoutPurged(rows, [])).toEqual(rows);
});

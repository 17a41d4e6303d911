import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { frames } from '../../harness/classifier/frames.ts';
import { createReader, type Meaning, meaningOf, productionCounts } from '../../harness/classifier/reference.ts';
import { metricNames, tracked } from '../../src/weather/classify/metric-names.ts';

const production = recorded('production_v1.jsonl');
const golden = recorded('golden_v1.jsonl');

describe('the recorded events of a production host', () => {
  it('are counted exactly as a production Jetstream served them', () => {
    const { outcomes, metrics, firstUs, lastUs } = total(production);
    expect({ outcomes, firstUs, lastUs }).toEqual({
      outcomes: { counted: 152 },
      firstUs: 1_783_175_888_085_434,
      lastUs: 1_783_175_888_403_568,
    });
    expect(metrics).toEqual(productionCounts);
  });

  it('include the known number of events of each kind', () => {
    const { outcomes, metrics } = total(golden);
    expect(outcomes).toEqual({ counted: 10 });
    expect(metrics).toEqual({
      'post.create': 1,
      'post.create.reply': 1,
      'like.create': 1,
      'repost.create': 1,
      'follow.create': 1,
      'block.create': 1,
      'profile.update': 1,
      'identity.event': 1,
      'account.event': 1,
      'account.active.true': 1,
      'untracked.collection': 2,
    });
  });

  it('have the same result in one pass as in a full parse', () => {
    const read = createReader();
    for (const frame of [...production, ...golden]) expect(read(frame)).toEqual(meaningOf(frame));
  });

  it('have the same result at any offset of their bytes', () => {
    const read = createReader();
    const all = Buffer.concat(production);
    let at = 0;
    for (const frame of production) {
      expect(read(all.subarray(at, at + frame.length))).toEqual(meaningOf(frame));
      at += frame.length;
    }
  });

  it('lead to parse errors if they are truncated at any byte', () => {
    const read = createReader();
    const nothing: Meaning = { outcome: 'parse_error', timeUs: 0, seq: null, metrics: [] };
    for (const frame of [...production.slice(0, 20), ...production.slice(-10), ...golden]) {
      for (let length = 0; length < frame.length; length += 1) {
        const meaning = read(frame.subarray(0, length));
        if (!isDeepStrictEqual(meaning, nothing)) expect(meaning).toEqual(nothing);
      }
    }
  });

  it('have the same result as in a full parse after any single byte is changed', () => {
    const read = createReader();
    const bytes = [
      0x00, 0x09, 0x0a, 0x20, 0x22, 0x2c, 0x2d, 0x30, 0x3a, 0x5b, 0x5c, 0x5d, 0x65, 0x75, 0x7b, 0x7d, 0x7f, 0xff,
    ];
    for (const frame of golden) {
      for (let at = 0; at < frame.length; at += 1) {
        for (const byte of bytes) {
          const changed = Buffer.from(frame);
          changed[at] = byte;
          same(read(changed), changed);
        }
      }
    }
  });
});

it('events of all kinds, operations and collections increment every metric, with the same result as in a full parse', () => {
  const read = createReader();
  const commits = [...tracked.collections.map(([, nsid]) => nsid), 'com.example.thing', ''].flatMap((collection) =>
    [...tracked.operations, 'upsert'].map((operation) => ({ kind: 'commit', commit: { operation, collection } })),
  );
  const posts = ['create', 'update'].flatMap((operation) =>
    [...tracked.embeds.map(([, type]) => type), 'other'].map(($type) => {
      const record = { reply: {}, embed: { $type } };
      return { kind: 'commit', commit: { operation, collection: 'app.bsky.feed.post', record } };
    }),
  );
  const accounts = [...tracked.statuses, 'throttled', ''].flatMap((status) =>
    [true, false, null].map((active) => ({ kind: 'account', account: { active, status } })),
  );
  const seen = new Set<string>();
  for (const event of [
    ...commits,
    ...posts,
    ...accounts,
    { kind: 'identity' },
    { kind: 'sync' },
    { kind: 'weather' },
    { kind: 'commit' },
  ]) {
    const frame = Buffer.from(JSON.stringify({ time_us: 1, ...event }));
    for (const metric of same(read(frame), frame).metrics) seen.add(metric);
  }
  expect(metricNames.filter((name) => !seen.has(name))).toEqual([]);
});

describe('generated frames', () => {
  it('have the same result in one pass as in a full parse, whole and damaged', () => {
    const read = createReader();
    const counts = { counted: 0, refused: 0, accepted: 0 };
    const damage = fc.array(fc.tuple(fc.nat(), fc.nat(2), fc.nat(255)), { minLength: 1, maxLength: 3 });
    fc.assert(
      // Each frame is read whole and damaged, because creating it takes longer than reading it.
      fc.property(frames, damage, (frame, changes) => {
        if (same(read(frame), frame).outcome === 'counted') counts.counted += 1;
        const damaged = changes.reduce(damagedBy, frame);
        if (same(read(damaged), damaged).outcome === 'parse_error') counts.refused += 1;
        else counts.accepted += 1;
      }),
      { numRuns: 20_000 },
    );
    expect(counts.counted).toBeGreaterThan(5000);
    expect(counts.refused).toBeGreaterThan(1000);
    expect(counts.accepted).toBeGreaterThan(1000);
  });

  it('always have a result, whatever bytes they contain', () => {
    const read = createReader();
    const jsonBytes = fc.array(fc.constantFrom(...Buffer.from('{}[]",:\\u0e1-+.truefalsn \n')), { maxLength: 40 });
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      jsonBytes.map((list) => Uint8Array.from(list)),
    );
    fc.assert(
      fc.property(bytes, (list) => {
        same(read(list), Buffer.from(list));
      }),
      { numRuns: 20_000 },
    );
  });
});

/** Returns a frame with one byte inserted, removed or changed. */
function damagedBy(frame: Buffer, [place, how, byte]: [number, number, number]): Buffer {
  const at = place % (frame.length + 1);
  const put = how === 1 ? [] : [byte];
  return Buffer.concat([frame.subarray(0, at), Buffer.from(put), frame.subarray(how === 0 ? at : at + 1)]);
}

/**
 * Compares a meaning with that of a full parse. Calls `expect` only if they differ, because `expect` takes longer than
 * the comparison.
 */
function same(meaning: Meaning, frame: Buffer): Meaning {
  const expected = meaningOf(frame);
  if (!isDeepStrictEqual(meaning, expected)) expect(meaning, frame.toString('latin1')).toEqual(expected);
  return meaning;
}

function total(all: readonly Buffer[]) {
  const read = createReader();
  const outcomes: Record<string, number> = {};
  const metrics: Record<string, number> = {};
  const times: number[] = [];
  for (const frame of all) {
    const meaning = read(frame);
    outcomes[meaning.outcome] = (outcomes[meaning.outcome] ?? 0) + 1;
    for (const metric of meaning.metrics) metrics[metric] = (metrics[metric] ?? 0) + 1;
    times.push(meaning.timeUs);
  }
  return { outcomes, metrics, firstUs: Math.min(...times), lastUs: Math.max(...times) };
}

function recorded(name: string): Buffer[] {
  const text = readFileSync(new URL(`../fixtures/jetstream/${name}`, import.meta.url), 'utf8');
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Buffer.from(line));
}

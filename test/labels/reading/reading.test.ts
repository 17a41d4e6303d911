import { afterEach, describe, expect, test } from 'vitest';
import {
  answer,
  answered,
  caughtUp,
  type LabelReader,
  type LabelScript,
  labelReader,
  never,
  pagesOf,
  resumeAt,
  row,
  type ScriptedStream,
} from '../../../harness/labels/label-reader.ts';
import { until } from '../../../harness/process/until.ts';
import { errorFrame } from '../../../sim/labelers/wire.ts';
import { wait } from '../../../src/labels/clock/clock.ts';
import { day, hour, micros, minute } from '../../../src/store/time.ts';

let reader: LabelReader | null = null;

afterEach(async () => {
  await reader?.close();
  reader = null;
});

async function made(script: LabelScript): Promise<LabelReader> {
  reader = await labelReader(script);
  return reader;
}

const rows = (count: number, ageMs = 1_000) =>
  Array.from({ length: count }, (_, i) => ({ n: i + 1, label: row(i + 1, (count - i) * ageMs) }));

describe('the fill-in before a first connection', () => {
  test('does not delay live frames, even if the stream was quiet before these frames', async () => {
    const filled = Promise.withResolvers<undefined>();
    const quiet = Promise.withResolvers<undefined>();
    const past = rows(3);
    let live: ScriptedStream | null = null;
    const observed = await made({
      timings: { confirmMs: 333, resumeMs: 333 },
      wait: (ms, signal) => wait(ms, signal).then(() => void (ms === 333 && quiet.resolve(undefined))),
      page: async (cursor, limit, asked) => {
        await Promise.race([filled.promise, never(asked)]);
        return pagesOf(past, cursor, limit);
      },
      connected: (stream) => {
        live = stream;
      },
    });
    observed.read();
    await quiet.promise;
    (live as ScriptedStream | null)?.send(4, row(4));
    await until('the live row is stored', () => observed.stored.has('v4'));
    expect(observed.stored.size).toBe(1);
    filled.resolve(undefined);
    await until('the filled-in rows are stored', () => observed.stored.size === 4);
    await until('the position is stored', () => observed.source.position.seq === 4);
    expect(observed.connections).toBe(1);
  });

  test('is completed by later connections if the first connection ends early', async () => {
    const [old, last] = [row(1, 3_600_000), row(2)];
    const ended = Promise.withResolvers<undefined>();
    const observed = await made({
      // The first connection sends a live frame and ends while its polls hang.
      page: async (_, __, asked) => {
        if (observed.connections === 1) await never(asked);
        return { kind: 'status', status: 501, retryAfterMs: null, error: null };
      },
      connected: ({ connection, cursor, send, end }) => {
        if (cursor === 0) send(1, old);
        send(2, last);
        if (connection === 1) void ended.promise.then(end);
      },
    });
    observed.read();
    await until('the live frame is stored', () => observed.stored.has('v2'));
    expect(observed.source.position.seq).toBe(null);
    ended.resolve(undefined);
    await until('the filled-in rows are stored', () => observed.stored.has('v1'));
    await until('the reading has ended', () => observed.withdrawn.length > 0);
    expect(observed.misses({ start: micros(observed.epoch), end: micros(observed.epoch + 8 * day - minute) })).toBe(
      false,
    );
  });

  test('continues after a page request has timed out, without a gap', async () => {
    const all = rows(900, 60_000);
    const looked = Promise.withResolvers<undefined>();
    let asked = 0;
    const observed = await made({
      page: async (cursor, limit) => {
        if (cursor > 0) asked += 1;
        if (asked !== 2) return pagesOf(all, cursor, limit);
        await looked.promise;
        asked += 1;
        return { kind: 'timeout', phase: 'answer' };
      },
    });
    const { tracker } = observed.source;
    observed.read();
    await until('the second page has been asked for', () => asked === 2);
    const { lastAnswered } = tracker.tracked;
    expect((lastAnswered ?? 0) - (tracker.unreadSince ?? 0)).toBeGreaterThan(47 * hour);
    looked.resolve(undefined);
    await until('all rows are stored', () => observed.stored.size === 900);
    await until(
      'the reading has ended',
      () => tracker.unreadSince !== null && tracker.unreadSince > (lastAnswered ?? 0),
    );
    expect(observed.misses({ start: micros(observed.epoch), end: micros(observed.epoch + 8 * day) })).toBe(false);
  });
});

test('a reset after a live frame causes a gap that begins when the source was last read to its end', async () => {
  const tail = Promise.withResolvers<undefined>();
  const observed = await made({
    page: async (cursor, limit) => {
      await tail.promise;
      return pagesOf(rows(51), cursor, limit);
    },
    connected: ({ send }) => send(51, row(51)),
  });
  const { source } = observed;
  const since = micros(observed.epoch + 10 * day - 10 * minute);
  source.tracker.apply(answered(since, { dated: 1, undated: 0 }));
  source.tracker.apply(caughtUp(since, since));
  resumeAt(source, { seq: null, seqTail: null, cursor: 100, cursorTail: 'f'.repeat(32) });
  const session = observed.session();
  await until('the live frame is stored', () => observed.stored.has('v51'));
  tail.resolve(undefined);
  expect((await session).kind).toBe('reset');
  expect(observed.gaps).toMatchObject([{ start: since, reason: 'cursor_reset' }]);
});

test('polls read the rows between two connections, although pages contain rows of the first connection', async () => {
  const all = rows(905);
  const label = (n: number) => all[n - 1]?.label;
  let there = 400;
  const observed = await made({
    days: 1,
    page: async (cursor, limit, asked) => {
      // The second page hangs. During the second connection, the pages after the first connection's frames also hang.
      if (observed.connections === 1 && cursor >= 50) return never(asked);
      if (observed.connections === 2) await until('a live frame is stored', () => observed.stored.has('v900'));
      if (observed.connections === 2 && cursor >= 300) return never(asked);
      return pagesOf(all.slice(0, there), cursor, observed.connections === 1 ? 50 : limit);
    },
    connected: ({ connection, cursor, send, raw, end }) => {
      const from = connection === 1 ? 100 : Math.max(900, (cursor ?? 899) + 1);
      for (let n = from; n <= there; n += 1) send(n, label(n));
      if (connection === 1) {
        there = 905;
        // The second frame exceeds the maximum size.
        raw(Buffer.alloc(13 * 1024 * 1024));
      } else if (connection === 2) void until('the rows are stored', () => observed.stored.has('v300')).then(end);
    },
  });
  resumeAt(observed.source, { seq: null, seqTail: null, cursor: 1, cursorTail: null });
  await observed.session();
  expect([observed.stored.has('v400'), observed.source.position.seq]).toEqual([true, null]);
  await observed.session();
  observed.read();
  await until('all rows are stored', () => observed.stored.size >= 904);
});

test('frames that arrive with the handshake are all read, even if they exceed the queue', async () => {
  const observed = await made({
    connected: ({ cursor, send }) => {
      for (let n = cursor ?? 1; n <= 3_000; n += 1) send(n, row(n));
    },
  });
  observed.read();
  await until('all rows are stored', () => observed.stored.size === 3_000);
});

test('rows with decreasing numbers are stored without decreasing the position', async () => {
  const observed = await made({
    days: 1,
    page: () => answer([]),
    connected: ({ send }) => {
      const go = async (): Promise<void> => {
        for (const n of [10, 11, 5, 6, 7, 8]) {
          send(n, row(n));
          await until(`row ${n}`, () => observed.stored.has(`v${n}`));
        }
      };
      void go();
    },
  });
  observed.read();
  await until('all rows are stored', () => observed.stored.size === 6);
  await until('the position is stored', () => observed.source.position.seq === 11);
  expect(observed.quirks).toContain('seq_not_advancing');
});

test("the order of a source's rows is unverified after a full page of known rows without a cursor", async () => {
  const all = rows(200);
  const observed = await made({
    days: 1,
    page: (cursor, limit) =>
      answer(
        all
          .filter(({ n }) => n > cursor)
          .map(({ label }) => label)
          .slice(0, limit),
      ),
  });
  const { tracker } = observed.source;
  observed.read();
  await until('a short page is read', () => tracker.state === 'established');
  all.push(...rows(1_000).slice(200));
  await until('a full page is read', () => observed.stored.size === 250);
  await until('the order of pages is doubtful', () => tracker.state === 'cursor_order_unverified');
  const asked = tracker.tracked.stateSince;
  await until('more pages are read', () => observed.quirks.filter((quirk) => quirk === 'no_cursor').length > 10);
  expect([tracker.state, tracker.tracked.stateSince]).toEqual(['cursor_order_unverified', asked]);
});

describe('a source without a dated label', () => {
  const undated = row(1, 0, { cts: 'nonsense' });
  test.each([
    ['the same row over a different transport', [undated]],
    ['a malformed row', [{ src: 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa' }]],
    ['a row of a different labeler', [row(2, 0, { src: 'did:plc:cccccccccccccccccccccccc' })]],
  ])('stays in the state undated_only (after %s)', async (_, more) => {
    const observed = await made({});
    await observed.take([undated], 'stream');
    await observed.take(more, 'poll');
    expect(observed.source.tracker.state).toBe('undated_only');
    await observed.take([row(3, 49 * 3_600_000)], 'poll');
    expect(observed.source.tracker.state).toBe('established');
  });
});

test('a labeler that is reset repeatedly is read at increasing intervals', async () => {
  const [waits, silence]: [number[], number] = [[], 60_000];
  const observed = await made({
    days: 1,
    page: () => answer([]),
    connected: ({ raw }) => raw(errorFrame('FutureCursor', 'of another database')),
    timings: { tailMs: 3_600_000, firstRetryMs: 1_000, maxRetryMs: 10_000, resumeMs: silence, confirmMs: silence },
    random: 0.5,
    wait: (ms, signal) => {
      if (ms === silence) return wait(ms, signal);
      waits.push(ms);
      return waits.length < 7 ? Promise.resolve() : wait(silence, signal);
    },
  });
  observed.read();
  await until('some resets have occurred', () => waits.length >= 7);
  expect(waits).toEqual([100, 600, 1_100, 2_100, 4_100, 5_100, 5_100]);
});

describe('a poll without a free slot', () => {
  const busy = { kind: 'busy' } as const;
  const rejecting = (stream: ScriptedStream) => {
    for (let n = 0; n < 20; n++) stream.raw(Buffer.from('no frame'));
  };

  test('does not change the state of its source even if the stream is rejected, and is retried soon', async () => {
    let polls = 0;
    const observed = await made({
      random: 0.5,
      timings: { pollMs: 20, maxRetryMs: 3_600_000, notEnrolledMs: 3_600_000 },
      connected: rejecting,
      page: (cursor, limit) => {
        polls += 1;
        return polls > 1 && polls < 20 ? busy : pagesOf(rows(3), cursor, limit);
      },
    });
    const states = new Set<string>();
    observed.read();
    await until('a first answer is stored', () => observed.stored.size === 3);
    await until('many polls have ended', () => {
      states.add(observed.source.tracker.state);
      return polls > 25;
    });
    expect([[...states], observed.gaps.filter(({ reason }) => reason === 'source_unavailable')]).toEqual([
      ['established'],
      [],
    ]);
  });

  test("does not begin its source's trial", async () => {
    let polls = 0;
    const paused = Promise.withResolvers<undefined>();
    const observed = await made({
      random: 0.5,
      timings: { pollMs: 5, streamRetryMs: 600_000 },
      connected: rejecting,
      page: () => {
        polls += 1;
        return busy;
      },
      // Stop the reader in its pause after the fourth poll, because an attempt in progress would have begun a trial.
      wait: async (ms, signal) => {
        if (polls < 4) return wait(ms, signal);
        paused.resolve(undefined);
        await never({ signal });
      },
    });
    const before = observed.source.tracker.tracked;
    observed.read();
    await paused.promise;
    expect(observed.source.tracker.tracked).toEqual(before);
  });

  test('causes no gap while the stream is live, and lets the fill-in continue once a slot is free', async () => {
    let polls = 0;
    const observed = await made({
      random: 0.5,
      timings: { pollMs: 5, streamRetryMs: 600_000 },
      connected: (stream) => stream.send(4, row(4)),
      page: (cursor, limit) => {
        polls += 1;
        return polls < 10 ? busy : pagesOf([...rows(3), { n: 4, label: row(4) }], cursor, limit);
      },
    });
    observed.read();
    await until('all rows are stored', () => observed.stored.size === 4);
    await until('the position is stored', () => observed.source.position.seq === 4);
    expect(observed.gaps.filter(({ reason }) => reason === 'source_unavailable')).toEqual([]);
  });
});

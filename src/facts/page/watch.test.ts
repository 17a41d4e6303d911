import { describe, expect, it } from 'vitest';
import { ServiceClock } from '../../client/staleness.ts';
import { contractIds } from '../../contract/identifiers.ts';
import { watchFact } from './watch.ts';

/**
 * Creates a watched fact whose `fetch` returns the given responses in order and records the `If-None-Match` field of each
 * request.
 */
function service(answers: readonly (() => Response)[]) {
  let now = 1_000_000;
  const asked: (string | undefined)[] = [];
  const waiting = [...answers];
  const watch = watchFact('./v1/weather/metrics', contractIds.weatherMetrics, {
    clock: () => now,
    service: new ServiceClock(),
    origin: undefined,
    fetch: async (_url, init) => {
      asked.push(new Headers(init?.headers).get('If-None-Match') ?? undefined);
      const next = waiting.shift();
      if (!next) throw new TypeError('Failed to fetch');
      return next();
    },
  });
  return {
    asked,
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
    ask: watch.ask,
    usableFor: () => watch.dueAt() - now,
  };
}

const fact = (total: number) => ({ contract: contractIds.weatherMetrics, facts: { total } });

function ok(total: number, headers: Record<string, string> = {}): () => Response {
  return () =>
    Response.json(fact(total), {
      headers: { ETag: `W/"${total}"`, 'Cache-Control': 'public, max-age=60', ...headers },
    });
}

function refusal(): Response {
  return Response.json({ error: { status: 503, code: 'source_unavailable', message: 'none' } }, { status: 503 });
}

const unchanged = () => new Response(null, { status: 304, headers: { 'Cache-Control': 'public, max-age=60' } });

describe('a watched fact', () => {
  it('is revalidated with its ETag, and remains cached after a 304', async () => {
    const { ask, asked } = service([ok(1), unchanged, ok(2)]);
    expect(await ask()).toEqual({ kind: 'served', envelope: fact(1) });
    expect(await ask()).toEqual({ kind: 'served', envelope: fact(1) });
    expect(await ask()).toEqual({ kind: 'served', envelope: fact(2) });
    expect(asked).toEqual([undefined, 'W/"1"', 'W/"1"']);
  });

  it('is usable for the max-age of its response minus the time it spent in a cache, but at least for 5 s', async () => {
    const { ask, usableFor } = service([
      ok(1),
      ok(1, { Age: '45' }),
      ok(1, { Age: '60' }),
      ok(1, { 'Cache-Control': 'no-store' }),
      ok(1, { Age: 'old' }),
    ]);
    const usable: number[] = [];
    for (let at = 0; at < 5; at++) {
      await ask();
      usable.push(usableFor());
    }
    expect(usable).toEqual([60_000, 15_000, 5_000, 5_000, 60_000]);
  });

  it('is discarded with its validator when the service refuses it', async () => {
    const { ask, asked, usableFor } = service([ok(1), refusal, ok(3)]);
    await ask();
    expect(await ask()).toEqual({
      kind: 'refused',
      error: { status: 503, code: 'source_unavailable', message: 'none' },
    });
    expect(usableFor()).toBe(60_000);
    expect(await ask()).toEqual({ kind: 'served', envelope: fact(3) });
    expect(asked).toEqual([undefined, 'W/"1"', undefined]);
  });

  it.each([
    ['missing', []],
    ['a page of another service', [() => new Response('<h1>Bad gateway</h1>', { status: 502 })]],
    ['another contract', [() => Response.json({ contract: 'atproto.facts.weather.metrics/v2', facts: {} })]],
    ['an error outside the contract', [() => Response.json({ error: 'down' }, { status: 500 })]],
    ['a 304 to a request without a validator', [unchanged]],
    ['null', [() => Response.json(null)]],
    [
      'larger than the maximum size of an artifact',
      [() => new Response(new Uint8Array(4 * 1024 * 1024 + 1).fill(0x20))],
    ],
  ])('is unavailable if the response is %s, and is requested again soon', async (_name, answers) => {
    const { ask, usableFor, asked } = service(answers);
    expect(await ask()).toEqual({ kind: 'unreached' });
    expect(usableFor()).toBe(15_000);
    await ask();
    expect(asked.at(-1)).toBeUndefined();
  });

  it('is discarded if no response arrives', async () => {
    const { ask } = service([ok(1)]);
    await ask();
    expect(await ask()).toEqual({ kind: 'unreached' });
  });
});

describe('the origin of a watched fact', () => {
  it('stays known when the fact is refused or cannot be reached', async () => {
    const body = { ...fact(1), provenance: { origin: 'simulated' } };
    const { ask } = service([() => Response.json(body), refusal]);
    await ask();
    expect(await ask()).toMatchObject({ kind: 'refused', origin: 'simulated' });
    expect(await ask()).toMatchObject({ kind: 'unreached', origin: 'simulated' });
  });
});

describe('a watched fact behind a cache that repeats expired responses', () => {
  const built = (at: number): (() => Response) => {
    const body = { ...fact(1), retrieved_at: new Date(at).toISOString() };
    return () => Response.json(body, { headers: { ETag: 'W/"1"', 'Cache-Control': 'public, max-age=60' } });
  };
  const held = (at: number) => () =>
    Response.json(
      { error: { status: 503, code: 'source_held', message: 'held' } },
      { status: 503, headers: { Date: new Date(at).toUTCString(), 'Cache-Control': 'no-store' } },
    );

  it('is not shown once its response is older than caches may keep it, even if the cache confirms it', async () => {
    const old = built(1_000_000);
    const { ask, pass, asked, usableFor } = service([old, old, unchanged, old, built(1_300_000)]);
    expect(await ask()).toMatchObject({ kind: 'served' });
    pass(180_000);
    expect(await ask()).toMatchObject({ kind: 'served' });
    pass(1_000);
    for (const _time of [1, 2]) {
      expect(await ask()).toEqual({ kind: 'unreached', expired: expect.stringContaining('built 181 s ago') });
      expect(usableFor()).toBe(15_000);
    }
    pass(119_000);
    expect(await ask()).toMatchObject({ kind: 'served' });
    expect(asked.at(-1)).toBeUndefined();
  });

  it('is not shown with a response from before its refusal', async () => {
    const old = built(1_000_000);
    const { ask, pass } = service([old, held(1_010_000), old, built(1_020_000)]);
    expect(await ask()).toMatchObject({ kind: 'served' });
    pass(10_000);
    expect(await ask()).toMatchObject({ kind: 'refused' });
    expect(await ask()).toMatchObject({ kind: 'unreached', expired: expect.stringContaining('refused this fact') });
    pass(10_000);
    expect(await ask()).toMatchObject({ kind: 'served' });
  });
});

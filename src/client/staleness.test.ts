import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { scene } from '../../harness/client/scene.ts';

describe('a response that a cache repeats', () => {
  it.each([
    ['public, max-age=60', 180],
    ['max-age=60, s-maxage=300', 420],
    ['max-age=999999', 3720],
    ['no-store', 120],
    ['', 180],
  ])('is rejected once it is older than caches may keep it (%s: %d s)', async (control, limit) => {
    const { serve, advance, outcome, restart } = scene();
    serve({ control });
    advance(limit);
    expect(await outcome()).toEqual(['fetched']);
    advance(1);
    restart();
    expect(await outcome()).toEqual(['expired', 'client', limit + 1]);
  });

  it.each([{ age: 7140 }, { collectionAge: 7140 }, { age: 7300 - 160, collectionAge: 30 }])(
    'is rejected once its artifact or its collection exceeds its limit (%j)',
    async (built) => {
      const { serve, advance, outcome } = scene();
      serve(built);
      advance(120);
      expect(await outcome()).toEqual(['fetched']);
      advance(1);
      expect((await outcome())[0]).toBe('older_than_bound');
    },
  );

  it('is rejected while it is kept, although its headers allow an hour', async () => {
    const { serve, advance, outcome } = scene();
    serve({ age: 7000, control: 'max-age=3600' });
    expect(await outcome()).toEqual(['fetched']);
    advance(260);
    expect(await outcome()).toEqual(['kept']);
    advance(1);
    expect((await outcome())[0]).toBe('older_than_bound');
  });

  it('is rejected if the cache confirms it with 304, and is then not confirmed again', async () => {
    const { serve, advance, outcome, confirm, response, replay } = scene();
    serve();
    const first = response();
    expect(await outcome()).toEqual(['fetched']);
    confirm();
    advance(180);
    expect(await outcome()).toEqual(['revalidated']);
    advance(61);
    expect((await outcome())[0]).toBe('expired');
    replay(first);
    expect((await outcome())[0]).toBe('expired');
  });

  it.each<Readonly<Record<string, string>>>([
    { 'Cache-Control': 'no-store' },
    // Varnish and Fastly state this age in every response, also in those that they do not store.
    { 'Cache-Control': 'no-store', Age: '0' },
  ])('is rejected at any age after the service refused the fact (%j)', async (headers) => {
    const { serve, advance, outcome, refuse, response, replay } = scene();
    serve();
    const first = response();
    expect(await outcome()).toEqual(['fetched']);
    advance(60);
    refuse(headers);
    expect(await outcome()).toEqual(['source_held']);
    replay(first);
    expect(await outcome()).toEqual(['refused_since', 'service', 0]);
    serve();
    expect(await outcome()).toEqual(['fetched']);
  });

  it('is rejected after a refusal in the second in which it was built', async () => {
    const { serve, advance, outcome, refuse, response, replay } = scene();
    advance(0.4);
    serve({ control: 'max-age=0' });
    const first = response();
    expect(await outcome()).toEqual(['fetched']);
    advance(0.2);
    refuse();
    expect(await outcome()).toEqual(['source_held']);
    replay(first);
    expect((await outcome())[0]).toBe('refused_since');
  });

  it('makes the client throw an error that states the remedy, the clock and its difference', async () => {
    const { serve, advance, error } = scene();
    serve();
    advance(3600);
    expect(await error()).toMatchObject({
      name: 'StaleCacheError',
      kind: 'stale_cache',
      code: 'served_by_stale_cache',
      path: '/v1/labels/overview',
      message: expect.stringMatching(
        /built 3600 s ago, but caches may keep it for 120 s.*CacheStaleOnError off.*this client's clock is 3600 s ahead of the service's: correct it$/,
      ),
    });
  });
});

describe('a wrong clock of the client', () => {
  it('that is ahead is reported with its difference, until a refusal states the time of the service', async () => {
    const { serve, advance, outcome, refuse } = scene(600);
    serve();
    expect(await outcome()).toEqual(['expired', 'client', 600]);
    refuse();
    expect(await outcome()).toEqual(['source_held']);
    advance(60);
    serve();
    expect(await outcome()).toEqual(['fetched']);
    advance(181);
    expect(await outcome()).toEqual(['expired', 'service', 600]);
  });

  it.each<Readonly<Record<string, string>>>([
    { 'Cache-Control': 'no-store', Age: '50' },
    { 'Cache-Control': 'max-age=60' },
  ])('is not measured with a refusal that may come from a cache (%j)', async (headers) => {
    const { serve, outcome, refuse } = scene(600);
    refuse(headers);
    expect(await outcome()).toEqual(['source_held']);
    serve();
    expect(await outcome()).toEqual(['expired', 'client', 600]);
  });

  it('that is behind does not hide the age of a response', async () => {
    const { serve, advance, outcome } = scene(-3600);
    serve();
    expect(await outcome()).toEqual(['fetched']);
    advance(181);
    expect(await outcome()).toEqual(['expired', 'service', null]);
    serve();
    expect(await outcome()).toEqual(['fetched']);
  });

  it('does not make new responses old once it is corrected', async () => {
    const { serve, advance, outcome, correctClock } = scene(-3600);
    serve();
    expect(await outcome()).toEqual(['fetched']);
    correctClock();
    advance(61);
    serve();
    expect(await outcome()).toEqual(['fetched']);
  });

  it('that is set back does not make a kept response new', async () => {
    let ticks = 0;
    const spy = vi.spyOn(performance, 'now').mockImplementation(() => ticks);
    onTestFinished(() => spy.mockRestore());
    const { serve, outcome, refuse, advance } = scene();
    serve();
    expect(await outcome()).toEqual(['fetched']);
    refuse();
    advance(30);
    ticks = 59_999;
    expect(await outcome()).toEqual(['kept']);
    // An hour has passed, and the clock shows half a minute.
    ticks = 3_600_000;
    expect(await outcome()).toEqual(['source_held']);
  });

  it('of less than a minute is tolerated', async () => {
    const { serve, outcome, restart, advance } = scene(60);
    serve();
    advance(120);
    expect(await outcome()).toEqual(['fetched']);
    advance(1);
    restart();
    expect(await outcome()).toEqual(['expired', 'client', 181]);
  });
});

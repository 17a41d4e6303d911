import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scene } from '../../harness/client/scene.ts';

describe('a clock of the service that was ahead and is set back', () => {
  const day = 86_400;

  /** Receives a response a minute from the corrected service, and returns the outcomes after 0, 60 … 240 seconds. */
  async function corrected({ serve, advance, outcome }: ReturnType<typeof scene>) {
    const outcomes: unknown[] = [];
    for (let minute = 0; minute < 5; minute += 1) {
      if (minute > 0) advance(60);
      serve({ control: 'max-age=60' });
      outcomes.push((await outcome())[0]);
    }
    return outcomes;
  }

  it('is detected within minutes after a response that it dated', async () => {
    const world = scene();
    const { serve, advance, outcome, stepService } = world;
    stepService(day);
    serve();
    expect(await outcome()).toEqual(['fetched']);
    stepService(-day);
    advance(180);
    const stale = 'older_than_bound';
    expect(await corrected(world)).toEqual(['kept_newer', stale, stale, 'fetched', 'fetched']);
  });

  it('is detected within minutes after a refusal that it dated', async () => {
    const world = scene();
    const { advance, outcome, refuse, stepService } = world;
    stepService(day);
    refuse();
    expect(await outcome()).toEqual(['source_held']);
    stepService(-day);
    advance(60);
    const stale = 'refused_since';
    expect(await corrected(world)).toEqual([stale, stale, stale, 'fetched', 'fetched']);
  });

  it('is detected by a client that calls once an hour', async () => {
    const { serve, advance, outcome, stepService } = scene();
    stepService(day);
    serve();
    expect(await outcome()).toEqual(['fetched']);
    stepService(-day);
    advance(3600);
    serve();
    expect((await outcome())[0]).toBe('older_than_bound');
    advance(3600);
    serve();
    expect(await outcome()).toEqual(['fetched']);
  });

  it('is not assumed because a cache repeats one response, however long', async () => {
    const { serve, advance, outcome } = scene(-day);
    serve();
    expect(await outcome()).toEqual(['fetched']);
    advance(day);
    // This client's clock is a day behind, so a response of yesterday agrees with it.
    for (let minute = 0; minute < 10; minute += 1) {
      advance(60);
      expect((await outcome())[0]).toBe('older_than_bound');
    }
  });

  it('does not make responses current that a cache has kept since it was ahead', async () => {
    const world = scene();
    const { serve, advance, outcome, stepService, response, replay } = world;
    stepService(day);
    serve({ control: 'max-age=60' });
    const received = response();
    expect(await outcome()).toEqual(['fetched']);
    advance(30);
    // Another client has received this response.
    serve();
    const other = response();
    stepService(-day);
    advance(30);
    await corrected(world);
    for (const seconds of [60, 3600, day - 3600 - 400]) {
      advance(seconds);
      for (const kept of [received, other, received]) {
        replay(kept);
        expect((await outcome())[0]).toMatch(/^(expired|older_than_bound)$/);
      }
      serve();
      expect(await outcome()).toEqual(['fetched']);
    }
    // The service's clock reaches the time of the response a second time.
    for (let minute = 0; minute < 10; minute += 1) {
      advance(60);
      replay(received);
      expect((await outcome())[0]).toMatch(/^(expired|older_than_bound)$/);
    }
  });

  it('does not refuse a new response because the last refusal arrived while this clock was ahead', async () => {
    const { serve, advance, outcome, refuse, correctClock } = scene(3600);
    refuse();
    expect(await outcome()).toEqual(['source_held']);
    correctClock();
    advance(61);
    serve();
    expect(await outcome()).toEqual(['fetched']);
  });

  it('does not make a response valid that the service refused', async () => {
    const world = scene();
    const { serve, advance, outcome, refuse, stepService, response, replay } = world;
    stepService(day);
    serve({ control: 'max-age=60' });
    expect(await outcome()).toEqual(['fetched']);
    stepService(-day);
    advance(60);
    expect(await corrected(world)).toContain('fetched');
    advance(60);
    serve({ control: 'max-age=60' });
    const before = response();
    advance(1);
    refuse();
    expect(await outcome()).toEqual(['source_held']);
    replay(before);
    expect((await outcome())[0]).toBe('refused_since');
    serve();
    expect(await outcome()).toEqual(['fetched']);
  });

  it('does not make a response valid that the service refused, although it states a later time', async () => {
    const world = scene();
    const { serve, advance, outcome, refuse, stepService, response, replay } = world;
    stepService(330);
    serve({ control: 'max-age=60, s-maxage=300' });
    const before = response();
    expect(await outcome()).toEqual(['fetched']);
    stepService(-330);
    advance(60);
    expect(new Set(await corrected(world))).toEqual(new Set(['kept_newer']));
    refuse();
    advance(60);
    expect(await outcome()).toEqual(['source_held']);
    replay(before);
    expect((await outcome())[0]).toBe('refused_since');
  });

  it('may be ahead again: a client that knew it to be right accepts its responses after minutes', async () => {
    const world = scene();
    const { stepService, serve, outcome, advance } = world;
    stepService(day);
    serve();
    expect(await outcome()).toEqual(['fetched']);
    stepService(-day);
    advance(60);
    await corrected(world);
    advance(60);
    stepService(3600);
    expect(await corrected(world)).toEqual(['expired', 'expired', 'expired', 'fetched', 'fetched']);
  });

  it('is not assumed because caches repeat different responses', async () => {
    for (const seconds of [100, 500]) {
      const { serve, advance, outcome, response, replay } = scene(-day);
      serve();
      const first = response();
      advance(seconds);
      serve();
      const second = response();
      advance(60);
      serve();
      expect(await outcome()).toEqual(['fetched']);
      // This client's clock is a day behind: it shows the time of these responses, which it has not received.
      advance(day - seconds - 60);
      replay(first);
      expect((await outcome())[0]).toBe('older_than_bound');
      advance(240);
      replay(second);
      expect((await outcome())[0]).toBe('older_than_bound');
    }
  });

  it('is not assumed because a cache repeats a sequence that the client has received', async () => {
    const { serve, advance, outcome, response, replay } = scene(-day);
    const received: (() => Response)[] = [];
    for (const seconds of [0, 240, 30]) {
      advance(seconds);
      serve();
      received.push(response());
      if (seconds !== 30) expect(await outcome()).toEqual(['fetched']);
    }
    advance(60);
    serve();
    expect((await outcome())[0]).toBe('fetched');
    advance(day - 330);
    for (const [place, seconds] of [0, 240, 30].entries()) {
      advance(seconds);
      replay(received[place] ?? response());
      expect((await outcome())[0]).toBe('older_than_bound');
    }
  });

  it('is proved again after a response was accepted in the meantime', async () => {
    const { serve, advance, outcome, stepService } = scene();
    const outcomes: unknown[] = [];
    for (const seconds of [7200, -7200, 7200, -7200]) {
      advance(181);
      stepService(seconds);
      serve();
      outcomes.push((await outcome())[0]);
    }
    expect(outcomes).toEqual(['fetched', 'expired', 'fetched', 'expired']);
  });

  it('is detected a second time, also if a cache still repeats a response from the first', async () => {
    const world = scene();
    const { serve, advance, outcome, stepService, response, replay } = world;
    stepService(2 * day);
    serve();
    expect(await outcome()).toEqual(['fetched']);
    advance(30);
    serve();
    const other = response();
    stepService(-day);
    advance(181);
    expect(await corrected(world)).toContain('fetched');
    advance(181);
    replay(other);
    const stale = 'older_than_bound';
    expect((await outcome())[0]).toMatch(/^(expired|older_than_bound)$/);
    stepService(-day);
    expect(await corrected(world)).toEqual([stale, stale, stale, 'fetched', 'fetched']);
  });

  it('is detected if both clocks are set back again before it was proved', async () => {
    const world = scene();
    const { serve, advance, outcome } = world;
    for (const seconds of [0, 10 * 3600, -3600]) {
      advance(seconds);
      serve({ control: 'max-age=60' });
      await outcome();
    }
    advance(-3600);
    expect(await corrected(world)).toEqual(['expired', 'expired', 'expired', 'fetched', 'fetched']);
  });

  it('is detected in steps, also if the first step was still ahead', async () => {
    const world = scene();
    const { serve, advance, outcome, stepService } = world;
    stepService(day);
    serve();
    expect(await outcome()).toEqual(['fetched']);
    advance(181);
    stepService(600 - day);
    serve();
    expect((await outcome())[0]).toBe('older_than_bound');
    advance(900);
    stepService(-600);
    const stale = 'older_than_bound';
    expect(await corrected(world)).toEqual([stale, stale, stale, 'fetched', 'fetched']);
  });

  it('is detected within minutes if the clock of the client was set back too', async () => {
    const world = scene();
    const { serve, advance, outcome, response, replay } = world;
    advance(3 * 3600);
    serve();
    const received = response();
    expect(await outcome()).toEqual(['fetched']);
    // Both clocks were two hours ahead.
    advance(-2 * 3600);
    const stale = 'expired';
    expect(await corrected(world)).toEqual([stale, stale, stale, 'fetched', 'fetched']);
    advance(2 * 3600 - 240);
    replay(received);
    expect((await outcome())[0]).toBe('expired');
    advance(1);
    serve();
    expect(await outcome()).toEqual(['fetched']);
  });

  it('never lets a response pass that has expired or was refused, whatever caches repeat, and is always detected', async () => {
    const lifetimes = { 'max-age=0': 0, 'max-age=60': 60, 'max-age=60, s-maxage=300': 300 } as const;
    const controls = Object.keys(lifetimes) as (keyof typeof lifetimes)[];
    const step = fc.record({
      seconds: fc.constantFrom(2, 20, 60, 61, 170, 181, 300, 900),
      // The service's clock is set forward; -1: it is corrected.
      service: fc.constantFrom(0, 0, 0, 0, 90, 120, 300, 600, 3600, -1),
      repeated: fc.option(fc.nat(), { freq: 2 }),
      refuses: fc.integer({ min: 0, max: 5 }).map((found) => found === 0),
      control: fc.constantFrom(...controls),
    });
    const accepted = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(0, 0, 90, 3600), fc.array(step, { maxLength: 60 }), async (behind, steps) => {
        const { serve, advance, outcome, stepService, response, replay, refuse } = scene(-behind);
        const received: { readonly response: () => Response; readonly builtAt: number; readonly limit: number }[] = [];
        let [now, ahead, refusedAt] = [0, 0, 0];
        for (const { seconds, service, repeated, refuses, control } of steps) {
          advance(seconds);
          now += seconds;
          const by = service === -1 ? -ahead : service;
          stepService(by);
          ahead += by;
          const earlier = repeated === null ? undefined : received[repeated % received.length];
          if (earlier) replay(earlier.response);
          else if (refuses) refuse();
          else serve({ control });
          // A minute in the service, the lifetime in caches, and a minute of tolerance.
          const sent = earlier ?? { response: response(), builtAt: now, limit: 120 + lifetimes[control] };
          const [found] = await outcome();
          if (found === 'source_held') refusedAt = now;
          else if (found !== 'kept' && !earlier) received.push(sent);
          if (found !== 'fetched') continue;
          accepted.add(earlier ? 'repeated' : 'new');
          expect([now - sent.builtAt <= sent.limit, sent.builtAt >= refusedAt]).toEqual([true, true]);
        }
        stepService(-ahead);
        // No new response has the same time as an earlier one.
        advance(0.5);
        const outcomes: unknown[] = [];
        for (let minute = 0; minute < 7; minute += 1) {
          advance(60);
          serve();
          outcomes.push((await outcome())[0]);
        }
        expect(['fetched', 'kept']).toContain(outcomes.at(-1));
      }),
      { numRuns: 500 },
    );
    expect(accepted).toEqual(new Set(['new', 'repeated']));
  });
});

import { describe, expect, it } from 'vitest';
import { describeChanges, watchPage } from './watch.ts';

const start = Date.parse('2026-11-20T12:00:00Z');

/** Creates a watched page that the browser loaded with some HTML, and whose `fetch` returns the given responses in order. */
function service(answers: readonly (() => Response)[], loaded = '', now = start) {
  const waiting = [...answers];
  const fetch = async (_url: unknown, init?: RequestInit) => {
    expect(init).toMatchObject({ cache: 'no-store', signal: expect.any(AbortSignal) });
    const next = waiting.shift();
    if (!next) throw new TypeError('Failed to fetch');
    return next();
  };
  const watch = watchPage('./', { clock: () => now, fetch }, loaded);
  return {
    pass: (milliseconds: number) => {
      now += milliseconds;
    },
    ...watch,
    /** Returns true if the page is requested again exactly after a time, which passes. */
    isDueIn(milliseconds: number): boolean {
      now += milliseconds - 1;
      const isEarly = watch.isDue();
      now += 1;
      return !isEarly && watch.isDue();
    },
  };
}

const page = (builtAt: number, content = '') =>
  `<main><div class="intro" data-built="${new Date(builtAt).toISOString()}"></div>${content}</main>`;
const built = (builtAt: number, content?: string) => () => new Response(page(builtAt, content));

describe('a watched page', () => {
  it('is shown as it arrives, and is requested again after a minute', async () => {
    const { ask, isDueIn } = service([built(start), built(start + 60_000)]);
    expect(await ask()).toEqual({ kind: 'served', html: page(start) });
    expect(isDueIn(60_000)).toBe(true);
    expect(await ask()).toEqual({ kind: 'served', html: page(start + 60_000) });
  });

  it.each([
    ['missing', 'The service did not respond.', []],
    ['an error', 'The response is not this page.', [() => new Response(page(start), { status: 502 })]],
    ['another page', 'The response is not this page.', [() => new Response('<h1>Sign in</h1>')]],
    ['a fact', 'The response is not this page.', [() => Response.json({ facts: {} })]],
    [
      'built at no time',
      'The response is not this page.',
      [() => new Response('<div class="intro" data-built="now">')],
    ],
    ['too long', 'The response is not this page.', [built(start, ' '.repeat(4 * 1024 * 1024))]],
  ])('is unavailable if the response is %s, and is requested again soon', async (_name, why, answers) => {
    const { ask, isDueIn } = service(answers);
    expect(await ask()).toEqual({ kind: 'unreached', why });
    expect(isDueIn(15_000)).toBe(true);
  });
});

describe('a watched page behind a cache that repeats expired responses', () => {
  it('is not shown once it is older than the service sends it, whatever the clock of the computer', async () => {
    for (const ahead of [0, -3_600_000]) {
      const old = built(start - ahead);
      const { ask, pass, isDueIn } = service([old, old, old, built(start - ahead + 300_000)]);
      expect(await ask()).toMatchObject({ kind: 'served' });
      pass(180_000);
      expect(await ask()).toMatchObject({ kind: 'served' });
      pass(1_000);
      expect(await ask()).toEqual({ kind: 'unreached', why: expect.stringContaining('built 181 s ago') });
      expect(isDueIn(15_000)).toBe(true);
      pass(104_000);
      expect(await ask()).toMatchObject({ kind: 'served' });
    }
  });

  it('is not shown if it was built before the last refusal', async () => {
    const refused = '<p data-refused="labels">';
    const { ask } = service([built(start), built(start + 10_000, refused), built(start), built(start + 20_000)]);
    await ask();
    expect(await ask()).toEqual({ kind: 'served', html: page(start + 10_000, refused) });
    expect(await ask()).toEqual({ kind: 'unreached', why: expect.stringContaining('older than the last refusal') });
    expect(await ask()).toMatchObject({ kind: 'served' });
  });

  it('is not shown if it was built before a refusal in the page that the browser loaded', async () => {
    const loaded = page(start + 10_000, '<p data-refused="labels">');
    const { ask } = service([built(start), built(start + 20_000)], `<html><body>${loaded}</body></html>`);
    expect(await ask()).toEqual({ kind: 'unreached', why: expect.stringContaining('older than the last refusal') });
    expect(await ask()).toMatchObject({ kind: 'served' });
  });
});

describe('a watched page after a time in which no timer ran', () => {
  const limit = 250_000;

  it('is outdated and due, whether it was loaded or requested, and no longer once the next page has arrived', async () => {
    const { ask, pass, isDue, isOld } = service([built(start), built(start + 10 * 60_000)], page(start));
    expect([isDue(), isOld()]).toEqual([true, false]);
    await ask();
    pass(limit);
    expect([isDue(), isOld()]).toEqual([true, false]);
    pass(1);
    expect(isOld()).toBe(true);
    pass(10 * 60_000 - limit - 1);
    await ask();
    expect([isDue(), isOld()]).toEqual([false, false]);
  });

  it('is outdated at any difference of the clock of the computer that was tolerated on arrival', async () => {
    for (const ahead of [-3_600_000, 180_000]) {
      const { ask, pass, isOld } = service([built(start)], '', start + ahead);
      expect(await ask()).toMatchObject({ kind: 'served' });
      pass(70_000);
      expect(isOld()).toBe(false);
      pass(limit - 69_999);
      expect(isOld()).toBe(true);
    }
  });

  it('is due if the clock was set back, and is not outdated for that', async () => {
    const { ask, pass, isDue, isOld } = service([built(start), built(start)]);
    await ask();
    pass(-3_600_000);
    expect([isDue(), isOld()]).toEqual([true, false]);
    await ask();
    expect(isDue()).toBe(false);
  });
});

it('a change names the facts that are refused now or shown again, and nothing else', () => {
  const words = (before: string[], now: string[]) => describeChanges(new Set(before), new Set(now));
  expect(words([], [])).toBe('');
  expect(words([], ['labels', 'archived-labels'])).toBe('The label overview: now refused; the numbers were removed.');
  expect(words(['labels'], [])).toBe('The label overview: shown again.');
  expect(words([], ['everything'])).toBe('No response from the service; the numbers were removed.');
  expect(words(['everything'], ['everything'])).toBe('');
  expect(words(['everything'], ['conditions'])).toBe('Rates and totals: shown again. The label overview: shown again.');
});

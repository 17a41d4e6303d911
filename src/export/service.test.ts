import { describe, expect, it } from 'vitest';
import { askExports } from './service.ts';

/** Requests an export from a service that answers with these responses in turn, and returns the delays in milliseconds. */
async function delaysFor(responses: readonly Response[], random: () => number): Promise<number[]> {
  const delays: number[] = [];
  let now = 0;
  const queue = [...responses];
  await askExports(
    { subject: 'did:plc:a' },
    {
      base: 'http://service.test',
      fetch: () => Promise.resolve(queue.shift() ?? new Response('no response is left', { status: 404 })),
      timeoutMs: 1000,
      giveUpMs: 120_000,
      clock: () => now,
      random,
      wait: (milliseconds) => {
        now += milliseconds;
        return Promise.resolve();
      },
      waiting: (_why, milliseconds) => delays.push(milliseconds),
      signal: new AbortController().signal,
    },
  );
  return delays;
}

const busy = (headers: Record<string, string> = {}): Response => new Response('', { status: 503, headers });
const done = (): Response => new Response('{}', { status: 200 });

describe('a request to a busy service', () => {
  it('is repeated after exactly the delay in Retry-After, whatever number is drawn', async () => {
    const responses = () => [busy({ 'Retry-After': '1' }), busy({ 'Retry-After': '7' }), done()];
    expect([await delaysFor(responses(), () => 0), await delaysFor(responses(), () => 0.999)]).toEqual([
      [1000, 7000],
      [1000, 7000],
    ]);
  });

  it('is repeated after random delays with a growing maximum if no delay is stated', async () => {
    const responses = () => [busy(), busy({ 'Retry-After': '0' }), busy(), done()];
    expect([await delaysFor(responses(), () => 0), await delaysFor(responses(), () => 0.5)]).toEqual([
      [100, 100, 100],
      [600, 1100, 2100],
    ]);
  });
});

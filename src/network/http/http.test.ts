import { expect, onTestFinished, test } from 'vitest';
import type { Resolve } from '../guard/address-policy.ts';
import { createHttpClient } from './http.ts';

const never = new AbortController().signal;
const limits = { maxBytes: 100, timeoutMs: 50, signal: never };

/** Creates a client with a single slot and the given name resolution. No test opens a connection. */
function clientWith(resolve: Resolve) {
  const client = createHttpClient({
    ...{ policy: { allowLoopback: false }, userAgent: 'Almanac/test', resolve },
    ...{ total: 1, perHost: 1, maxWaiting: 0 },
  });
  onTestFinished(() => client.close());
  return client;
}

const hang: Resolve = () => undefined;

test.each<[string, Resolve]>([
  ['a name that does not resolve', (_name, _options, done) => done(new Error('no such name'), [])],
  ['a name with a private address', (_name, _options, done) => done(null, [{ address: '10.0.0.1', family: 4 }])],
  ['a name server that does not respond', hang],
])('the slot of a request is free again after the request fails because of %s', async (_, resolve) => {
  const client = clientWith(resolve);
  const first = await client.getText('https://a.example', limits);
  expect(first.kind).not.toBe('busy');
  expect(await client.getText('https://a.example', limits)).toEqual(first);
});

test('the slot of a request is free again after its caller aborted', async () => {
  const client = clientWith(hang);
  const over = new AbortController();
  const asked = client.getText('https://a.example', { ...limits, timeoutMs: 60_000, signal: over.signal });
  expect(await client.getText('https://a.example', limits)).toEqual({ kind: 'busy' });
  over.abort();
  expect(await asked).toEqual({ kind: 'aborted' });
  expect((await client.getText('https://a.example', limits)).kind).toBe('timeout');
});

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { listenForTest } from '../../harness/net/listen.ts';
import { createFactsClient, type FactsClientOptions } from '../../src/client/index.ts';

/** Start of the clients' clock, in milliseconds since 1970. The clock advances only when a test advances it. */
const noon = Date.UTC(2026, 10, 20, 12);

/** Starts a client whose requests are answered by a proxy, a cache or a hanging server instead of a facts service. */
async function against(
  answer: (response: ServerResponse, request: IncomingMessage, nth: number) => void,
  options: FactsClientOptions = {},
) {
  const asked: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    asked.push(request);
    answer(response, request, asked.length);
  });
  const { port } = await listenForTest(server);
  let now = noon;
  return {
    client: createFactsClient(`http://127.0.0.1:${port}`, { now: () => now, ...options }),
    asked,
    pass: (seconds: number): void => {
      now += seconds * 1000;
    },
  };
}

const index = { contract: 'atproto.facts.instruments/v1', retrieved_at: '2026-11-20T12:00:00.000Z', instruments: [] };
const refusal = { error: { status: 503, code: 'source_unavailable', message: 'None.' } };

function give(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  response.writeHead(status, headers).end(typeof body === 'string' ? body : JSON.stringify(body));
}

describe('Retry-After', () => {
  it.each([
    ['in seconds', () => '30'],
    ['as a date', () => new Date(noon + 30_000).toUTCString()],
  ])('keeps the fact refused and prevents requests until the given time (%s)', async (_how, header) => {
    const { client, asked, pass } = await against((response, _request, nth) =>
      nth === 1 ? give(response, 503, refusal, { 'Retry-After': header() }) : give(response, 200, index),
    );
    const first = await client.instruments().catch((error: unknown) => error);
    expect(first).toMatchObject({ name: 'FactsError', code: 'source_unavailable' });
    expect(await client.instruments().catch((error: unknown) => error)).toBe(first);
    pass(28);
    expect(await client.instruments().catch((error: unknown) => error)).toBe(first);
    expect(asked).toHaveLength(1);
    pass(3);
    expect((await client.instruments()).value).toEqual(index);
  });

  it.each(['-3', '1.5', 'soon', ''])('is ignored if its value is neither seconds nor a date (%j)', async (header) => {
    const { client, asked } = await against((response) => give(response, 503, refusal, { 'Retry-After': header }));
    for (const _time of [1, 2]) {
      await expect(client.instruments()).rejects.toMatchObject({ name: 'FactsError', retryAfterSeconds: null });
    }
    expect(asked).toHaveLength(2);
  });

  it('is honoured in the response of a proxy, but for at most one hour', async () => {
    const { client, asked, pass } = await against((response, _request, nth) =>
      nth === 1
        ? give(response, 429, '<h1>slow down</h1>', { 'Retry-After': '999999' })
        : give(response, 200, { ...index, retrieved_at: new Date(noon + 3601_000).toISOString() }),
    );
    await expect(client.instruments()).rejects.toMatchObject({
      name: 'AnswerError',
      status: 429,
      retryAfterSeconds: 3600,
    });
    pass(3599);
    await expect(client.instruments()).rejects.toMatchObject({ status: 429 });
    expect(asked).toHaveLength(1);
    pass(2);
    await client.instruments();
  });
});

describe('a reading', () => {
  it.each([
    ['max-age=60', undefined, 60],
    ['public, MAX-AGE=60', '45', 15],
    ['max-age=60', '61', 0],
    ['no-store, max-age=60', undefined, 0],
    ['no-cache', undefined, 0],
    ['max-age=99999999', undefined, 3600],
    ['max-age=-5', undefined, 0],
    ['max-age=soon', undefined, 0],
    [undefined, undefined, 0],
  ])(
    'is reused for as long as its headers allow (Cache-Control: %s, Age: %s, seconds: %s)',
    async (control, age, seconds) => {
      const { client, asked, pass } = await against((response) =>
        give(response, 200, index, { ...(control ? { 'Cache-Control': control } : {}), ...(age ? { Age: age } : {}) }),
      );
      await client.instruments();
      if (seconds > 0) {
        pass(seconds - 1);
        await client.instruments();
        expect(asked).toHaveLength(1);
        pass(1);
      }
      await client.instruments();
      expect(asked).toHaveLength(2);
    },
  );
});

describe('a response outside the contract', () => {
  it.each<[string, number, unknown, string]>([
    ["a proxy's page", 502, '<h1>Bad gateway</h1>', 'the response is not from this service (status 502)'],
    ['an error of another shape', 500, { error: 'no' }, 'the response is not from this service (status 500)'],
    ['a body that is not JSON', 200, '{"contract":', 'the response is not a JSON object (status 200)'],
    ['a list', 200, [], 'the response is not a JSON object (status 200)'],
    [
      'another contract',
      200,
      { contract: 'x/v2' },
      'the response does not conform to atproto.facts.instruments/v1 (status 200)',
    ],
    ['304 to a request without a validator', 304, '', 'the response is not from this service (status 304)'],
  ])('makes the client throw an AnswerError (%s)', async (_what, status, body, why) => {
    const { client } = await against((response) => give(response, status, body));
    await expect(client.instruments()).rejects.toMatchObject({
      name: 'AnswerError',
      kind: 'answer',
      status,
      message: `/v1/instruments: ${why}`,
    });
  });

  it('makes the client throw an AnswerError if it is invalid UTF-8', async () => {
    const { client } = await against((response) => response.end(Buffer.from([0x22, 0xff, 0x22])));
    await expect(client.instruments()).rejects.toThrow('the response is not UTF-8');
  });

  it('is read only up to the size limit', async () => {
    let closed: Promise<unknown> = Promise.resolve();
    const { client } = await against(
      (response) => {
        closed = new Promise((resolve) => response.once('close', resolve));
        const more = (): void => {
          while (!response.destroyed && response.write('x'.repeat(65_536)));
          if (!response.destroyed) response.once('drain', more);
        };
        more();
      },
      { maxBytes: 1000 },
    );
    await expect(client.instruments()).rejects.toThrow('the response is larger than 1000 bytes (status 200)');
    await closed;
  });

  it('does not discard the cached reading, so the next request is conditional', async () => {
    const { client, asked } = await against((response, request, nth) => {
      if (nth === 1) give(response, 200, index, { ETag: 'W/"a"' });
      else if (nth === 2) give(response, 502, '');
      else give(response, request.headers['if-none-match'] === 'W/"a"' ? 304 : 500, '');
    });
    await client.instruments();
    await expect(client.instruments()).rejects.toMatchObject({ name: 'AnswerError' });
    expect((await client.instruments()).via).toBe('revalidated');
    expect(asked.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, 'W/"a"', 'W/"a"']);
  });
});

describe('a missing or truncated response', () => {
  it.each([
    ['the response has no byte', () => undefined],
    ['the response has no end', (response: ServerResponse) => response.write('{"contract":')],
  ])('is reported as a NetworkError after the timeout (%s)', async (_what, begin) => {
    const { client } = await against((response) => void begin(response), { timeoutMs: 50 });
    await expect(client.instruments()).rejects.toMatchObject({ name: 'NetworkError', reason: 'timeout' });
  });

  it('is reported as a NetworkError if the connection closes early', async () => {
    const { client } = await against((response) => {
      response.writeHead(200, { 'Content-Length': '100' }).write('{');
      setImmediate(() => response.destroy());
    });
    await expect(client.instruments()).rejects.toMatchObject({ name: 'NetworkError', reason: 'unreachable' });
  });
});

describe('an abort signal', () => {
  it('prevents the request if it is already aborted', async () => {
    const { client, asked } = await against((response) => give(response, 200, index));
    await expect(client.instruments({ signal: AbortSignal.abort(new Error('gone')) })).rejects.toThrow('gone');
    expect(asked).toEqual([]);
  });

  it('rejects only the promise of its caller, while the other callers get the response', async () => {
    const gone = new AbortController();
    const held: ServerResponse[] = [];
    let arrived = (): void => undefined;
    const here = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const { client, asked } = await against((response) => {
      held.push(response);
      arrived();
    });
    const leaving = client.instruments({ signal: gone.signal });
    const staying = client.instruments();
    await here;
    gone.abort(new Error('gone'));
    await expect(leaving).rejects.toThrow('gone');
    for (const response of held) give(response, 200, index);
    expect((await staying).value).toEqual(index);
    expect(asked).toHaveLength(1);
  });

  it('aborts the request if no other caller is waiting, so that the next caller starts a new request', async () => {
    const gone = new AbortController();
    let closed: Promise<unknown> = Promise.resolve();
    const { client } = await against((response, _request, nth) => {
      if (nth === 2) return give(response, 200, index);
      closed = new Promise((resolve) => response.once('close', resolve));
      gone.abort(new Error('gone'));
      next = client.instruments();
    });
    let next: ReturnType<typeof client.instruments> | undefined;
    await expect(client.instruments({ signal: gone.signal })).rejects.toThrow('gone');
    // The next caller gets a response, although it called in the turn in which the last caller aborted.
    expect((await next)?.value).toEqual(index);
    await closed;
  });
});

it.each([
  { provenance: 'x' },
  { provenance: null },
  { facts: 'x' },
  { facts: { acquisition: null } },
  { facts: { acquisition: 'x' } },
  { age_seconds: 'x' },
])('an older reading with a field of the wrong type does not replace the newer reading (%j)', async (fields) => {
  const at = (hour: number) => ({ ...index, ...fields, generated_at: `2026-11-20T${hour}:00:00Z` });
  const { client } = await against((response, _request, nth) => give(response, 200, at(nth === 1 ? 12 : 11)));
  await client.instruments();
  expect(await client.instruments()).toMatchObject({ via: 'kept_newer', value: at(12) });
});

it('an older reading with a deeply nested field does not replace the newer reading', async () => {
  const nested = '['.repeat(100_000) + ']'.repeat(100_000);
  const at = (hour: number): string =>
    `{"contract":"${index.contract}","generated_at":"2026-11-20T${hour}:00:00Z","provenance":{"origin":${nested}}}`;
  const { client } = await against((response, _request, nth) => give(response, 200, at(nth === 1 ? 12 : 11)));
  await client.instruments();
  expect((await client.instruments()).via).toBe('kept_newer');
});

it('the client does not send a validator that is too long for a request header', async () => {
  const { client, asked } = await against((response, _request, nth) =>
    give(response, 200, index, nth === 1 ? { ETag: `"${'a'.repeat(2_000)}"` } : { ETag: '"b"' }),
  );
  for (const _time of [1, 2, 3]) await client.instruments();
  expect(asked.map(({ headers }) => headers['if-none-match'])).toEqual([undefined, undefined, '"b"']);
});

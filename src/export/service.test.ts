import { describe, expect, it } from 'vitest';
import { accountExportSchema } from '../contract/account.ts';
import { createExport, readPage, type ServiceOptions } from './service.ts';

const manifest = {
  schema: accountExportSchema,
  account: 'did:web:a.example',
  interval: { start: '2026-11-19T00:00:00Z', end: '2026-11-20T00:00:00Z' },
  frontier: '2026-11-20T00:00:00Z',
  created_at: '2026-11-20T00:00:00Z',
  expires_at: '2026-11-21T00:00:00Z',
  clipped: false,
  count_bound: 1,
  filters: {},
  coverage: { status: 'unknown' },
  acquisition: { generation_id: '5f4b8f04-6a0f-4d7e-9d5c-0d5a4c1f9b11' },
};

const options: ServiceOptions = {
  base: 'http://service.test',
  fetch: () => Promise.reject(new Error('no request is expected')),
  timeoutMs: 1000,
  giveUpMs: 120_000,
  clock: () => 0,
  monotonic: () => 0,
  random: () => 0,
  wait: () => Promise.resolve(),
  waiting: () => undefined,
  signal: new AbortController().signal,
};

/** Requests an export from a service that answers with these responses in turn, and returns the delays in milliseconds. */
async function delaysFor(responses: readonly Response[], random: () => number): Promise<number[]> {
  const delays: number[] = [];
  let now = 0;
  const queue = [...responses];
  await createExport(
    { subject: 'did:plc:a' },
    {
      ...options,
      fetch: () => Promise.resolve(queue.shift() ?? new Response('no response is left', { status: 404 })),
      clock: () => now,
      monotonic: () => now,
      random,
      wait: (milliseconds) => {
        now += milliseconds;
        return Promise.resolve();
      },
      waiting: (_why, milliseconds) => delays.push(milliseconds),
    },
  );
  return delays;
}

const busy = (headers: Record<string, string> = {}): Response => new Response('', { status: 503, headers });
const done = (): Response => new Response(JSON.stringify({ manifest, cursor: 'a' }), { status: 200 });

describe('a request to a busy service', () => {
  it('is given up after the same time, whatever the clock of the machine shows', async () => {
    let monotonic = 0;
    let clock = 1e12;
    const save = createExport(
      { subject: 'did:plc:a' },
      {
        ...options,
        fetch: () => Promise.resolve(busy({ 'Retry-After': '50' })),
        clock: () => clock,
        monotonic: () => monotonic,
        wait: (milliseconds) => {
          monotonic += milliseconds;
          // The clock is set back by an hour during each wait.
          clock -= 3_600_000;
          return monotonic > 1e6 ? Promise.reject(new Error('the request was not given up')) : Promise.resolve();
        },
      },
    );
    await expect(save).rejects.toMatchObject({ kind: 'unreachable' });
    expect(monotonic).toBe(100_000);
  });

  it('is given up with the whole delay in Retry-After, also one of hours', async () => {
    const refused = createExport(
      { subject: 'did:plc:a' },
      { ...options, fetch: () => Promise.resolve(busy({ 'Retry-After': '43200' })) },
    );
    await expect(refused).rejects.toThrow(/exceed the limit of \d+ s; retry in 43200 s$/);
    const longer = createExport(
      { subject: 'did:plc:a' },
      { ...options, fetch: () => Promise.resolve(busy({ 'Retry-After': '604800' })) },
    );
    await expect(longer).rejects.toThrow(/; retry in 86400 s$/);
  });

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

const row = {
  labeler_did: 'did:web:l.example',
  uri: 'did:web:a.example',
  value: 'spam',
  action: 'apply',
  source_timestamp: '2026-11-19T10:00:00Z',
  observed_at: '2026-11-19T10:00:00Z',
  signature: 'verified',
};
const nested = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
/** Returns an object as JSON, with an unknown property of the given depth. */
const withDepth = (object: object, depth: number): string =>
  `${JSON.stringify(object).slice(0, -1)},"later":${nested(depth)}}`;

/** Options for requests to a service that answers with this text. */
const answering = (text: string): ServiceOptions => ({
  ...options,
  fetch: () => Promise.resolve(new Response(text)),
});

describe('a response with properties of a later version', () => {
  it('is accepted', async () => {
    const created = `{"manifest":${withDepth(manifest, 20)},"cursor":"a","later":${nested(20)}}`;
    expect(await createExport({}, answering(created))).toMatchObject({ manifest, cursor: 'a' });
    const page = `{"manifest":${withDepth(manifest, 20)},"rows":[${withDepth(row, 20)}],"terminal":false,"next_cursor":"b","later":${nested(20)}}`;
    expect(await readPage('a', answering(page))).toMatchObject({ manifest, rows: [row], next: { cursor: 'b' } });
  });

  it.each([33, 100_000])(
    'counts as damaged if it is nested too deeply to compute its digest (%i levels)',
    async (depth) => {
      const created = `{"manifest":${withDepth(manifest, depth)},"cursor":"a"}`;
      await expect(createExport({}, answering(created))).rejects.toThrow('nested too deeply');
      const page = `{"manifest":${JSON.stringify(manifest)},"rows":[${withDepth(row, depth)}],"terminal":false,"next_cursor":"b"}`;
      await expect(readPage('a', answering(page))).rejects.toThrow('nested too deeply');
    },
  );
});

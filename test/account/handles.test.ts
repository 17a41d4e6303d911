import { describe, expect, it } from 'vitest';
import { linesOf } from '../../harness/accounts/account-view.ts';
import { createClientBudget, createCostBudget } from '../../src/account/budget/budgets.ts';
import { createLookUps } from '../../src/account/budget/look-ups.ts';
import { createCursors } from '../../src/account/cursor/cursor.ts';
import { rememberManifests } from '../../src/account/export/manifest.ts';
import { accountPages, type FindHandle } from '../../src/account/page/pages.tsx';
import { StoreBusy } from '../../src/account/reading/reading-pool.ts';
import type { AccountServices } from '../../src/account/services.ts';
import { parseInstant } from '../../src/contract/timestamp.ts';
import { StoreError } from '../../src/store/errors.ts';

const did = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz';
const document = {
  did,
  handle: 'alice.example.com',
  labelerDeclared: false,
  labelerEndpoint: null,
  pds: null,
  labelKeys: [],
};

/**
 * Creates a function that requests the page of an account. Every read of the store rejects with `trouble`. `accounts`
 * is a client's daily limit.
 */
function asking(findHandle: FindHandle | null, accounts = 10, trouble: Error = new StoreBusy('full', 1)) {
  const budget = createClientBudget(accounts);
  const services: AccountServices = {
    read: () => Promise.reject(trouble),
    readPatiently: () => Promise.reject(trouble),
    readWhileSending: () => Promise.reject(trouble),
    sent: () => undefined,
    lookUp: createLookUps({ cost: createCostBudget(null), clock: () => 0, monotonic: () => 0 }),
    waitFor: ({ client, now }, account) => budget.waitFor(client, account, now),
    cursors: createCursors([Buffer.alloc(32, 1)]),
    manifests: rememberManifests(),
    bounds: { maxExportRows: 10, pageRows: 10, ttlMs: 1_000 },
  };
  const alarm = (_: string, error: unknown): void => {
    throw error;
  };
  const pages = accountPages({ base: '/at', styles: new Map(), findHandle, alarm })(services);
  return async (search: string, client = '192.0.2.1') => {
    const request = {
      search,
      acceptEncoding: undefined,
      now: 0,
      client,
      gone: new AbortController().signal,
      reserve: () => true,
    };
    const reply = await pages.get('/account')?.(request);
    if (!reply || !('body' in reply)) throw new Error('no page');
    const header = (name: string): string | undefined => reply.headers[reply.headers.indexOf(name) + 1];
    const html = reply.body?.toString() ?? '';
    return { status: reply.status, header, html, lines: linesOf(html) };
  };
}

/** Requests the page of an account once. See `asking`. */
function ask(search: string, ...options: Parameters<typeof asking>) {
  return asking(...options)(search);
}

const found: FindHandle = () => Promise.resolve({ kind: 'resolved', did, document });

describe('a handle given instead of a DID', () => {
  it('is redirected to its DID with all other parameters', async () => {
    const asked: string[] = [];
    const { status, header, lines } = await ask('did=%40Alice.Example.com&days=7&value=a+b', (handle) => {
      asked.push(handle);
      return found(handle, new AbortController().signal);
    });
    expect([status, header('Location'), lines]).toEqual([
      303,
      '/at/account?did=did%3Aplc%3Aewvi7nxzyoun6zhxrhs64oiz&days=7&value=a+b',
      [],
    ]);
    expect(['Cache-Control', 'Referrer-Policy', 'X-Robots-Tag', 'Content-Security-Policy'].map(header)).toEqual([
      'no-store',
      'no-referrer',
      'noindex, nofollow',
      expect.stringContaining("default-src 'none'"),
    ]);
    expect(asked).toEqual(['alice.example.com']);
  });

  it.each([
    ['labeler=did:web:a.example&labeler=did:web:b.example', 'invalid_filter'],
    ['value=%e2%82', 'invalid_filter'],
    ['days=7&days=30', 'invalid_interval'],
    ['days=9', 'unsupported_interval'],
    ['days=7&color=red', 'unknown_parameter'],
  ])('is not resolved if another parameter is invalid (%s)', async (rest, code) => {
    const { status, lines } = await ask(`did=alice.example.com&${rest}`, () => Promise.reject(new Error('looked up')));
    expect(status).toBe(409);
    expect(lines).toContain(code);
  });

  it('is refused with advice if it does not resolve', async () => {
    const { status, lines } = await ask('did=alice.example.com', () => Promise.resolve({ kind: 'not_found' }));
    expect(status).toBe(409);
    expect(lines).toContain(
      'This handle does not lead to an account: neither its DNS record nor its website names a DID. Check its spelling, or enter the DID.',
    );
  });

  it('is not resolved if handle resolution is disabled, and the form reports this', async () => {
    const { status, lines } = await ask('did=alice.example.com', null);
    expect(status).toBe(409);
    expect(lines).toContain('DID of an account');
    expect(lines.join(' ')).toContain('This service does not resolve handles.');
  });

  it("counts against the client's daily limit", async () => {
    const { status, header, lines } = await ask('did=alice.example.com', found, 0);
    expect([status, header('Retry-After')]).toEqual([503, '86400']);
    expect(lines).toEqual(expect.arrayContaining(['Try again in 24 hours.', 'client_budget']));
  });

  it('is not resolved while two look-ups of the client are in progress, and is resolved for another client', async () => {
    const asked: string[] = [];
    const request = asking((handle) => {
      asked.push(handle);
      return new Promise(() => undefined);
    });
    const unanswered = Promise.withResolvers<null>();
    const answers = [1, 2, 3].map((n) => request(`did=silent-${n}.example`));
    void request('did=alice.example', '192.0.2.2');
    setImmediate(() => unanswered.resolve(null));
    const [first, second, third] = await Promise.all(
      answers.map((answer) => Promise.race([answer, unanswered.promise])),
    );
    expect([first, second]).toEqual([null, null]);
    expect([third?.status, third?.header('Retry-After')]).toEqual([503, '1']);
    expect(third?.lines).toEqual(expect.arrayContaining(['Try again in 1 second.', 'client_budget']));
    expect(asked).toEqual(['silent-1.example', 'silent-2.example', 'alice.example']);
  });
});

describe('a pasted DID', () => {
  const never: FindHandle = () => Promise.reject(new Error('looked up'));

  it.each([never, null])(
    'is redirected to its canonical form with all other parameters and without a look-up',
    async (findHandle) => {
      for (const text of [
        ` ${did}`,
        `@${did}`,
        `at://${did}/app.bsky.feed.post/3k`,
        `DID:${did.slice(4)}`,
        `\u2068${did}\u2069`,
      ]) {
        const { status, header } = await ask(`days=7&value=a+b&did=${encodeURIComponent(text)}`, findHandle, 0);
        expect([status, header('Location')]).toEqual([
          303,
          '/at/account?did=did%3Aplc%3Aewvi7nxzyoun6zhxrhs64oiz&days=7&value=a+b',
        ]);
      }
    },
  );

  it.each([
    ['days=9', 'unsupported_interval'],
    ['color=red', 'unknown_parameter'],
    [`did=${did}`, 'invalid_account'],
  ])('is refused if another parameter is invalid (%s)', async (rest, code) => {
    const { status, lines } = await ask(`did=%20${did}&${rest}`, never);
    expect(status).toBe(409);
    expect(lines).toContain(code);
  });

  it('is not redirected if it is already canonical', async () => {
    const { status, lines } = await ask(`did=${did}`, never);
    expect(status).toBe(503);
    expect(lines).toContain('store_busy');
  });
});

describe('an invalid interval', () => {
  const query = (change: Readonly<Record<string, string>>): string =>
    new URLSearchParams({ did, start: '2026-11-10T00:00:00Z', end: '2026-11-11T00:00:00Z', ...change }).toString();
  const filters = { labeler: 'did:web:a.example', value: 'a "b" ', action: 'removal_observed', target_kind: 'post' };

  /** Returns the interval fields of the form: name, value and visibility. */
  function fields(html: string): string[] {
    const [form = ''] = html.match(/<form(?:(?!<\/form>).)*name="start".*?<\/form>/s) ?? [];
    return (form.match(/<input[^>]*>/g) ?? []).map((field) => {
      const [name, value = ''] = ['name', 'value'].map((of) => new RegExp(`${of}="([^"]*)"`).exec(field)?.[1]);
      return `${name}${field.includes('type="hidden"') ? ' unseen' : ''}: ${value}`;
    });
  }

  it.each(['2026-11-10', '2026-11-10T00:00Z', '10.11.2026 <b'])(
    'is repeated in the form exactly as it was typed (%s)',
    async (start) => {
      const { status, html, lines } = await ask(query({ start, ...filters }), null);
      expect(status).toBe(409);
      expect(lines).toContain('invalid_interval');
      expect(fields(html)).toEqual([
        `did unseen: ${did}`,
        'labeler unseen: did:web:a.example',
        'value unseen: a &quot;b&quot; ',
        'action unseen: removal_observed',
        'target_kind unseen: post',
        `start: ${start.replace('<', '&lt;')}`,
        'end: 2026-11-11T00:00:00Z',
      ]);
      // The message names the labels of the form and contains an example, which each field references.
      expect(lines.join(' ')).toContain('Enter both From and To');
      const [, example] = /For example (\S+):/.exec(lines.join(' ')) ?? [];
      expect(parseInstant(example ?? '')).not.toBeNull();
      expect(html.match(/aria-describedby="interval-hint"/g)).toHaveLength(2);
      expect(html.match(/id="interval-hint"/g)).toHaveLength(1);
    },
  );

  it('is not repeated in the form if it is too long for a field or was given twice', async () => {
    const { html } = await ask(`${query({ end: 'x'.repeat(301) })}&start=1&days=7&value=a&value=b&before=1`, null);
    expect(fields(html)).toEqual(['did unseen: '.concat(did), 'start: ', 'end: ']);
  });

  it('is the only invalid input for which the error page contains the interval form', async () => {
    for (const change of [{ action: 'seen' }, { color: 'red' }, { did: 'alice' }]) {
      const { status, html } = await ask(query(change), null);
      expect([status, fields(html)]).toEqual([409, []]);
    }
  });

  it('is not reported for valid bounds with surrounding white space', async () => {
    const { lines } = await ask(
      query({ start: ' 2026-11-10T00:00:00Z', end: '2026-11-11T00:00:00Z\t', days: ' ' }),
      null,
    );
    expect(lines).toContain('store_busy');
  });
});

describe('a failed read of the store', () => {
  it('leads to an error page that states when to retry', async () => {
    const { status, header, lines } = await ask(`did=${did}`, null);
    expect([status, header('Retry-After')]).toEqual([503, '1']);
    expect(lines).toEqual(
      expect.arrayContaining(['The observations cannot be read at the moment', 'Try again in 1 second.', 'store_busy']),
    );
  });

  it('leads to the error message of the page, not of an export, if the oldest day expires during the request', async () => {
    const { status, lines } = await ask(`did=${did}`, null, 10, new StoreError('out_of_window', 'of the store'));
    expect(status).toBe(410);
    expect(lines.join(' ')).toContain('left the window while the page was rendered');
    expect(lines.join(' ')).not.toMatch(/This export|of the store/);
  });
});

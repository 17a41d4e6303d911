import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { errorBody } from '../contract/errors.ts';
import { factsDocuments } from './documents.ts';

let assets = '';
beforeEach(() => {
  assets = mkdtempSync(join(tmpdir(), 'almanac-assets-'));
});
afterEach(() => rmSync(assets, { recursive: true }));

const common = ['X-Common', 'yes'];
const documents = () =>
  factsDocuments(assets, common, 'https://facts.example', { userAgent: 'Almanac/1.2.3', contact: null });

describe('a document', () => {
  it('is served with the current content of its file', () => {
    const { answer } = documents();
    writeFileSync(join(assets, 'openapi.json'), '{"openapi":"3.1.0"}');
    expect(answer('/openapi.json', 'identity')?.reply).toMatchObject({
      status: 200,
      headers: expect.arrayContaining(['public, max-age=3600', 'Content-Length', '19']),
      body: Buffer.from('{"openapi":"3.1.0"}'),
    });
    writeFileSync(join(assets, 'openapi.json'), '{"openapi":"3.1.0","info":{}}');
    expect(answer('/openapi.json', 'identity')?.reply.body).toEqual(Buffer.from('{"openapi":"3.1.0","info":{}}'));
    rmSync(join(assets, 'openapi.json'));
    expect(answer('/openapi.json', 'identity')?.reply.status).toBe(503);
  });

  it('is refused with 503 asset_unavailable and no Cache-Control if its file is missing', () => {
    const reply = documents().answer('/openapi.json', 'br')?.reply;
    expect(reply?.status).toBe(503);
    expect(JSON.parse(reply?.body?.toString('utf8') ?? '')).toEqual(errorBody('asset_unavailable'));
    expect(reply?.headers).not.toContain('Cache-Control');
    expect(reply?.headers).not.toContain('ETag');
    expect(reply?.headers).toEqual(expect.arrayContaining(common));
  });

  it('named robots.txt is served as plain text that caches may store', () => {
    writeFileSync(join(assets, 'robots.txt'), 'User-agent: *\nAllow: /\n');
    const reply = documents().answer('/robots.txt', 'identity')?.reply;
    expect(reply).toMatchObject({
      status: 200,
      headers: expect.arrayContaining(['text/plain; charset=utf-8', 'public, max-age=3600']),
    });
  });

  it('named llms.txt contains links that begin with the public address', () => {
    writeFileSync(join(assets, 'llms.txt'), 'see {base}/docs');
    expect(documents().answer('/llms.txt', 'identity')?.reply.body?.toString('utf8')).toBe(
      'see https://facts.example/docs',
    );
  });
});

describe('the page for operators of labelers', () => {
  const pageFor = (contact: string | null) => {
    writeFileSync(join(assets, 'for-labelers.html'), '<p>{user-agent}. {contact}</p>');
    const reader = { userAgent: `Almanac/1.2.3${contact === null ? '' : ` (+${contact})`}`, contact };
    return factsDocuments(assets, common, '', reader).answer('/for-labelers', 'identity')?.reply.body?.toString('utf8');
  };

  it("shows the operator's contact address with its markup escaped", () => {
    expect(pageFor('https://a.example/?b=1&c=$&')).toBe(
      '<p>Almanac/1.2.3 (+https://a.example/?b=1&amp;c=$&amp;). ' +
        'The operator of this service can be reached at <code>https://a.example/?b=1&amp;c=$&amp;</code>.</p>',
    );
  });
  it('states that the operator has not set a contact address', () => {
    expect(pageFor(null)).toBe('<p>Almanac/1.2.3. The operator of this service has not set a contact address.</p>');
  });
});

describe('an asset of a page', () => {
  const asked = (etag?: string) => documents().answer('/assets/docs.js', 'identity', etag)?.reply;
  const etagOf = (headers: readonly string[] = []) => headers[headers.indexOf('ETag') + 1] ?? '';

  it('is revalidated on each use and sent again after a release has changed it', () => {
    writeFileSync(join(assets, 'docs.js'), 'one');
    const first = asked();
    const etag = etagOf(first?.headers);
    expect(first).toMatchObject({ status: 200, headers: expect.arrayContaining(['public, no-cache']) });
    expect(asked(etag)).toMatchObject({ status: 304, body: null, headers: expect.arrayContaining([etag, ...common]) });
    writeFileSync(join(assets, 'docs.js'), 'another');
    expect(asked(etag)).toMatchObject({ status: 200, body: Buffer.from('another') });
  });

  it('has the same validator in every content coding', () => {
    writeFileSync(join(assets, 'docs.js'), 'one'.repeat(1000));
    const tags = (['identity', 'gzip', 'br'] as const).map((coding) =>
      etagOf(documents().answer('/assets/docs.js', coding)?.reply.headers),
    );
    expect(new Set(tags).size).toBe(1);
    expect(tags[0]).toMatch(/^W\/"[\w-]{27}"$/);
  });
});

describe('the API reference', () => {
  const openapi = (title: string): string =>
    JSON.stringify({
      info: { title, version: '1.0.0', description: title },
      paths: {},
      components: { schemas: {}, responses: {}, parameters: {} },
    });
  const write = (title: string): void => {
    for (const name of ['openapi.json', 'labelers-openapi.json', 'account-openapi.json']) {
      writeFileSync(join(assets, name), openapi(title));
    }
  };
  const etagOf = (headers: readonly string[] = []) => headers[headers.indexOf('ETag') + 1] ?? '';

  it('is rendered once, and again only after a document has changed', () => {
    write('First');
    const { answer } = documents();
    const first = answer('/docs', 'br')?.reply;
    expect(first).toMatchObject({ status: 200, headers: expect.arrayContaining(['public, no-cache', ...common]) });
    // `toBe` proves that the bytes are the same object, not equal bytes of a second rendering.
    expect(answer('/docs', 'br')?.reply.body).toBe(first?.body);
    write('Second one');
    expect(answer('/docs', 'identity')?.reply.body?.toString('utf8')).toContain('Second one');
    expect(etagOf(answer('/docs', 'br')?.reply.headers)).not.toBe(etagOf(first?.headers));
  });

  it('has a different strong validator for each content coding, and is answered with 304 if the request contains that validator', () => {
    write('Title');
    const tags = (['identity', 'gzip', 'br'] as const).map((coding) => {
      const etag = etagOf(documents().answer('/docs', coding)?.reply.headers);
      expect(documents().answer('/docs', coding, etag)?.reply).toMatchObject({ status: 304, body: null });
      return etag;
    });
    expect(new Set(tags).size).toBe(3);
    for (const tag of tags) expect(tag).toMatch(/^"[\w-]+"$/);
  });

  it('is refused with 503 asset_unavailable if one of its OpenAPI documents is missing', () => {
    write('Title');
    rmSync(join(assets, 'account-openapi.json'));
    expect(documents().answer('/docs', 'br')?.reply.status).toBe(503);
  });
});

it('a path that is not in the list of documents gets no response', () => {
  for (const path of ['/', '/assets/', '/assets/nothing.js', '/openapi.json/', '/docs/', '/etc/passwd']) {
    expect(documents().answer(path, 'identity'), path).toBeNull();
  }
});

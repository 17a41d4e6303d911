import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { artifactFolder } from '../../harness/artifacts/artifacts.ts';
import { hasBrowser, inspect, openPage, startBrowser } from '../../harness/pages/browser.ts';
import { root } from '../../harness/process/imports.ts';
import { type Server, startServer } from '../../harness/process/program.ts';
import { accountExportSchema } from '../../src/contract/account.ts';
import { contractIds } from '../../src/contract/identifiers.ts';
import { packageVersion } from '../../src/main/command.ts';

/** Tests that the compatibility policy uses the names and fields of the contract, and that it is served. */

const policy = readFileSync(join(root, 'docs/compatibility.md'), 'utf8');

/** Returns the names of all fields that a document marks as deprecated. */
function deprecatedFields(file: string): string[] {
  const found = new Set<string>();
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      if (typeof member === 'object' && member !== null && 'deprecated' in member && member.deprecated === true) {
        found.add(name);
      }
      walk(member);
    }
  };
  walk(JSON.parse(readFileSync(join(root, 'assets', file), 'utf8')));
  return [...found];
}

describe('docs/compatibility.md', () => {
  it('names every contract that clients depend on', () => {
    const named = [...policy.matchAll(/`(atproto\.[a-z.]+\/v\d+)`/g)].map(([, name]) => name);
    expect(named).toEqual([...Object.values(contractIds), accountExportSchema]);
  });

  it('lists exactly the fields that the OpenAPI documents mark as deprecated', () => {
    const section = policy.split('\n## Deprecated now\n')[1]?.split('\n## ')[0] ?? '';
    const listed = [...section.matchAll(/^\| `(\w+)`/gm)].map(([, name]) => name);
    expect(listed).toEqual([...deprecatedFields('openapi.json'), ...deprecatedFields('account-openapi.json')]);
  });
});

describe('/policy', () => {
  const folder = artifactFolder();
  let program: Server;

  beforeAll(async () => {
    program = await startServer([
      'facts',
      '--port',
      '0',
      '--artifacts',
      folder.path,
      '--base-path',
      '/atproto',
      '--contact',
      'ops@example.org',
    ]);
  });
  afterAll(async () => {
    await program?.stop();
    folder.remove();
  });

  it('shows the compatibility policy, with its own content security policy', async () => {
    const response = await fetch(`${program.url}/policy`);
    const { headers } = response;
    expect([response.status, headers.get('content-type'), headers.get('cache-control')]).toEqual([
      200,
      'text/html; charset=utf-8',
      'public, max-age=3600',
    ]);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'self'; img-src data:;/);
    const said = (await response.text()).replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
    for (const sentence of ['at least 12 months', 'at least the last 6 months', 'A 503 keeps its code']) {
      expect(said).toContain(sentence);
      expect(policy.replaceAll(/[*`]/g, '').replaceAll(/\s+/g, ' ')).toContain(sentence);
    }
  });

  it('links to a page for operators of labelers, which names the program and the contact', async () => {
    const from = `${program.url}/policy`;
    const [, link = ''] = /<a href="([^"]+)">For labelers</.exec(await (await fetch(from)).text()) ?? [];
    expect(new URL(link, from).href).toBe(`${program.url}/for-labelers`);
    const response = await fetch(new URL(link, from));
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const page = await response.text();
    expect(page).toContain(`<code>Almanac/${packageVersion()} (+ops@example.org)</code>`);
    expect(page).toContain('can be reached at <code>ops@example.org</code>');
    expect(page).not.toMatch(/\{[a-z-]+\}/);
  });

  it.skipIf(!hasBrowser).each([
    ['/policy', 'light'],
    ['/policy', 'dark'],
    ['/for-labelers', 'light'],
    ['/for-labelers', 'dark'],
    ['/method/weather', 'light'],
    ['/method/labels', 'dark'],
  ] as const)(
    'is accessible on a phone, and sends no request to another origin (%s, %s)',
    async (path, colorScheme) => {
      const browser = await startBrowser();
      onTestFinished(() => browser.close());
      const options = { javaScriptEnabled: true, colorScheme, viewport: { width: 320, height: 640 } };
      const { page, asked, complaints } = await openPage(browser, `${program.url}${path}`, options);
      expect(asked.filter((url) => !url.startsWith('data:'))).toEqual([
        `${program.url}${path}`,
        `${program.url}/assets/almanac.css`,
        ...(path.startsWith('/method/') ? [`${program.url}/assets/docs.css`] : []),
      ]);
      expect(complaints).toEqual([]);
      // A table heading must not have more lines than words, because a word would then be broken.
      const lines = await page.locator('thead th').evaluateAll((cells) =>
        cells.map((cell) => {
          const range = document.createRange();
          range.selectNodeContents(cell);
          return [cell.textContent, range.getClientRects().length];
        }),
      );
      expect(lines.length).toBeGreaterThan(1);
      expect(lines.filter(([, count]) => count !== 1)).toEqual([]);
      expect(await inspect(page)).toEqual({ found: [], tooWide: 0 });
    },
  );
});

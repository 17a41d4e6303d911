import fc from 'fast-check';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostileTexts } from '../../harness/accounts/account-history.ts';
import { account, bodyOf, labelers, viewOf } from '../../harness/accounts/account-view.ts';
import { hasBrowser, startBrowser } from '../../harness/pages/browser.ts';

/** Renders the account page of labels that have this text in every field that another party controls. */
async function pageOf(text: string): Promise<string> {
  // Replace slashes, because a slash in the URI would turn the subject into one of another kind.
  const part = `r${text.replaceAll('/', '∕')}`;
  const label = { val: `v${text}`, cts: text, exp: text, cid: text };
  const view = await viewOf({
    labels: [
      label,
      { ...label, uri: `at://${account}/app.bsky.feed.post/${part}` },
      { ...label, uri: `at://${account}/c${part}/r`, src: text },
    ],
    definitions: [[label.val, { name: text, description: text, lang: 'en' }]],
  });
  const filters = { labeler: labelers[0], value: text };
  const values = [{ value: text, applied: 1, removed: 0 }];
  return bodyOf({ ...view, query: { ...view.query, filters }, tally: { ...view.tally, values } });
}

/**
 * Returns the elements of a page with the names of their attributes, as the browser parses them. Elements with
 * untrusted text are returned separately.
 */
function shape(page: Page, html: string): Promise<{ elements: string; taken: number; proposed: string[] }> {
  const script = (source: string) => {
    const parsed = new DOMParser().parseFromString(`<!doctype html><main>${source}</main>`, 'text/html');
    // Options are compared separately, because a value with invisible or direction-changing characters is not
    // suggested.
    const all = [...parsed.querySelectorAll('*')].filter((one) => !one.matches('.cut, .mono, datalist option'));
    return {
      elements: all.map((one) => `${one.localName}[${one.getAttributeNames().join()}]`).join('\n'),
      taken: [...parsed.querySelectorAll('bdi')].filter((one) =>
        [...one.children].some((child) => child.className !== 'cut'),
      ).length,
      proposed: [...parsed.querySelectorAll('datalist *')].map((one) => one.outerHTML.replace(/ value="[^"]*"/, '')),
    };
  };
  return page.evaluate(`(${script.toString()})(${JSON.stringify(html)})`) as Promise<{
    elements: string;
    taken: number;
    proposed: string[];
  }>;
}

describe.skipIf(!hasBrowser)('untrusted text on a page', () => {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await startBrowser();
    page = await browser.newPage();
  });
  afterAll(() => browser?.close());

  const markup = fc
    .array(
      fc.oneof(
        fc.constantFrom(
          '<',
          '>',
          '"',
          "'",
          '&',
          '</',
          '<!--',
          '-->',
          ']]>',
          '</bdi>',
          '</main>',
          '<script>',
          '&lt;',
          '&#60;',
          '\u0000',
          '\u202E',
          '`',
          '=',
        ),
        fc.constantFrom(...hostileTexts),
        fc.string({ unit: 'binary', maxLength: 8 }),
      ),
      { minLength: 1, maxLength: 8 },
    )
    .map((parts) => parts.join('').toWellFormed());

  it('never becomes an element, an attribute or the end of one, and leaves the structure of the page as with plain text', async () => {
    const plain = await shape(page, await pageOf('plain'));
    expect(plain.elements.split('\n').length).toBeGreaterThan(150);
    expect(plain.proposed).toEqual(['<option></option>']);
    await fc.assert(
      fc.asyncProperty(markup, async (text) => {
        const found = await shape(page, await pageOf(text));
        expect(found.taken).toBe(0);
        expect(found.proposed.filter((html) => html !== '<option></option>')).toEqual([]);
        expect(found.proposed.length).toBeLessThanOrEqual(plain.proposed.length);
        expect(found.elements).toBe(plain.elements);
      }),
      { numRuns: 150 },
    );
  });
});

import fc from 'fast-check';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hostileTexts } from '../../harness/accounts/account-history.ts';
import { account, bodyOf, labelers, viewOf } from '../../harness/accounts/account-view.ts';
import { hasBrowser, startBrowser } from '../../harness/pages/browser.ts';
import { maxValueBytes } from '../../src/contract/account.ts';

/** Renders the page of an account whose labels have `text` in every field that another party controls. */
async function pageOf(text: string): Promise<string> {
  // Replace slashes, because a slash in the URI would change the kind of the subject.
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
 * Parses a page with the browser. Returns its elements with the names of their attributes, the number of untrusted
 * texts that contain elements, and the suggested options.
 */
function shape(page: Page, html: string): Promise<{ elements: string; taken: number; proposed: string[] }> {
  const script = (source: string) => {
    const parsed = new DOMParser().parseFromString(`<!doctype html><main>${source}</main>`, 'text/html');
    // Options are compared separately, because a value with invisible or direction-changing characters is not
    // suggested.
    const all = [...parsed.querySelectorAll('*')].filter((one) => !one.matches('.cut, dd code, datalist option'));
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

  it('never creates or closes an element or attribute, and does not change the structure of the page', async () => {
    const plain = await shape(page, await pageOf('plain'));
    // The page links to a value only if the value is short enough for a filter.
    const long = await shape(page, await pageOf('x'.repeat(maxValueBytes)));
    expect(plain.elements.split('\n').length).toBeGreaterThan(150);
    expect(plain.proposed).toEqual(['<option></option>']);
    await fc.assert(
      fc.asyncProperty(markup, async (text) => {
        const found = await shape(page, await pageOf(text));
        expect(found.taken).toBe(0);
        expect(found.proposed.filter((html) => html !== '<option></option>')).toEqual([]);
        expect(found.proposed.length).toBeLessThanOrEqual(plain.proposed.length);
        const isLong = Buffer.byteLength(`v${text}`) > maxValueBytes;
        expect(found.elements).toBe((isLong ? long : plain).elements);
      }),
      { numRuns: 150 },
    );
  });
});

import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';

/** A page in a browser, with the requests that it sent, and its console messages and uncaught errors. */
interface Opened {
  readonly page: Page;
  readonly asked: readonly string[];
  readonly complaints: readonly string[];
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** Opens a URL in a new page. Scripts are disabled by default. */
export async function openPage(browser: Browser, url: string, options: BrowserContextOptions = {}): Promise<Opened> {
  const page = await browser.newPage({ javaScriptEnabled: false, ...options });
  const asked: string[] = [];
  const complaints: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(String(error)));
  const response = await page.goto(url);
  return { page, asked, complaints, status: response?.status(), headers: response?.headers() ?? {} };
}

/** Clicks a link or button and waits until the next page has loaded. A click alone waits only for the first bytes. */
export async function toNext(page: Page, way: Locator): Promise<void> {
  const whole = page.waitForEvent('load');
  await way.click();
  await whole;
}

/** Opens all `details` elements. Returns the number of pixels by which the page is wider than the window. */
export async function pixelsTooWide(page: Page): Promise<number> {
  await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
  return Number(await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth'));
}

/**
 * Opens all `details` elements. Returns the violations that axe found, and the number of pixels by which the page is
 * wider than the window.
 */
export async function inspect(page: Page): Promise<{ readonly found: readonly string[]; readonly tooWide: number }> {
  const tooWide = await pixelsTooWide(page);
  if (!(await page.evaluate("'axe' in globalThis"))) await page.addScriptTag({ content: axe.source });
  // By default, axe also prepares the details of every passed rule, which no test reads.
  const found = await page.evaluate(
    "axe.run({ resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))",
  );
  return { found: found as string[], tooWide };
}

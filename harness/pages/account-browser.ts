import axe from 'axe-core';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';

/** An opened page with its requests and the browser's messages. */
export interface Opened {
  readonly page: Page;
  readonly asked: readonly string[];
  readonly complaints: readonly string[];
  readonly status: number | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** Opens an address; scripts are disabled by default. */
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

/** Follows a link or submits a form, and waits for the complete next page: a click waits only for its beginning. */
export async function toNext(page: Page, way: Locator): Promise<void> {
  const whole = page.waitForEvent('load');
  await way.click();
  await whole;
}

/** Returns axe's findings on a page with hidden parts opened, and the width by which it exceeds the window. */
export async function inspect(page: Page): Promise<{ readonly found: readonly string[]; readonly tooWide: number }> {
  await page.evaluate('for (const one of document.querySelectorAll("details")) one.open = true');
  const tooWide = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
  await page.addScriptTag({ content: axe.source });
  const found = await page.evaluate(
    'axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ": " + nodes[0].html))',
  );
  return { found: found as string[], tooWide: Number(tooWide) };
}

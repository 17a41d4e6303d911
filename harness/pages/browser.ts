import { existsSync } from 'node:fs';
import axe from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';

/**
 * Paths of Debian's browsers, in order of preference. The headless shell uses the same engine as Chromium. The shell
 * opens and checks a page in less than half of Chromium's processor time, because it renders no browser windows.
 */
const browserPaths = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];
const executablePath = browserPaths.find((path) => existsSync(path));

/** True if browser tests can run. In CI, a missing browser is an error instead of a reason to skip tests. */
export const hasBrowser = executablePath !== undefined || process.env.CI !== undefined;

/** Starts a headless browser without background requests of its own. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: executablePath ?? '/usr/bin/chromium',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

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

/** Returns the violations that axe finds by the rules of WCAG 2.2 AA and its own best practices. */
export async function violations(page: Page): Promise<string[]> {
  // Inject the script through the debugger, because a page's policy may reject foreign scripts.
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe.source);
  // By default, axe also prepares the details of every passed rule, which no test reads.
  return page.evaluate<string[]>(
    "axe.run({ resultTypes: ['violations'], rules: { 'target-size': { enabled: true } } }).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))",
  );
}

/** Opens all `details` elements. Returns the violations of the page, and the number of pixels by which it is too wide. */
export async function inspect(page: Page): Promise<{ readonly found: readonly string[]; readonly tooWide: number }> {
  const tooWide = await pixelsTooWide(page);
  return { found: await violations(page), tooWide };
}

/** Returns the size of the smallest text on a page, in pixels. Texts in elements that match `except` do not count. */
export function smallestText(page: Page, except?: string): Promise<number> {
  return page.evaluate((excepted) => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    let smallest = Number.POSITIVE_INFINITY;
    while (texts.nextNode()) {
      const { parentElement, textContent } = texts.currentNode;
      if (parentElement === null || textContent?.trim() === '' || (excepted && parentElement.closest(excepted)))
        continue;
      smallest = Math.min(smallest, Number.parseFloat(getComputedStyle(parentElement).fontSize));
    }
    return smallest;
  }, except);
}

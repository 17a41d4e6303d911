import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

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

import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Path of Debian's Chromium. */
const executablePath = '/usr/bin/chromium';

/** True if browser tests can run. In CI, a missing browser is an error instead of a reason to skip tests. */
export const hasBrowser = existsSync(executablePath) || process.env.CI !== undefined;

/** Starts a headless browser without background requests of its own. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath,
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

import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Path of Chromium in Debian's package. */
const executablePath = '/usr/bin/chromium';

/** True if browser tests must run. In CI, a missing browser is an error and not a reason to skip them. */
export const hasBrowser = existsSync(executablePath) || process.env.CI !== undefined;

/** Starts a headless browser that sends no background requests. */
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

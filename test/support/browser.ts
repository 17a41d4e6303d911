import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Debian's Chromium, which the machine's packages bring. */
const executablePath = '/usr/bin/chromium';

/** Whether a browser is here. Where every test must run, a missing one is a fault and not a reason to skip. */
export const hasBrowser = existsSync(executablePath) || process.env.CI !== undefined;

/** Starts a headless browser that asks nothing of its own. */
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

/**
 * Draws the committed pictures with Debian's Chromium: `npm run pictures`. `assets/card.png` is the preview of the page
 * in social networks, and `docs/observatory.webp` shows the page of the demo. The pictures depend on the fonts and the
 * browser, so run this script only after a change to the pictured pages.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { startBrowser } from '../harness/pages/browser.ts';
import { startProgram } from '../harness/process/program.ts';
import { packageRoot } from '../src/main/command.ts';

/** HTML of the preview. It shows bars for the hours of an observed day with two gaps, but no numbers. */
const card = `<!doctype html><style>
  body { margin: 0; width: 1200px; height: 630px; background: #14171a; color: #e7e9ea; font-family: DejaVu Sans, sans-serif; }
  main { padding: 84px 80px 0; }
  h1 { margin: 0; font-size: 104px; letter-spacing: -3px; }
  p { margin: 18px 0 0; font-size: 35px; line-height: 1.4; color: #a9b0b6; }
  svg { position: absolute; left: 80px; bottom: 76px; }
</style><main><h1>Almanac</h1>
<p>Observations of the AT Protocol network:<br>what was observed, how completely,<br>and what cannot be known.</p></main>
<svg width="1040" height="112"><defs><pattern id="h" width="12" height="12" patternUnits="userSpaceOnUse"
 patternTransform="rotate(45)"><rect width="4" height="12" fill="#8f959a"/></pattern></defs>BARS</svg>`;

function bars(): string {
  const hours = Array.from({ length: 24 }, (_, hour) => {
    const x = hour * 43.6;
    if (hour === 7 || hour === 8 || hour === 17) return `<rect x="${x}" y="0" width="36" height="112" fill="url(#h)"/>`;
    const height = 46 + 40 * Math.sin(((hour - 5) / 24) * 2 * Math.PI);
    return `<rect x="${x}" y="${112 - height}" width="36" height="${height}" fill="#58c4ae"/>`;
  });
  return hours.join('');
}

async function drawCard(browser: Browser): Promise<Buffer> {
  const page = await browser.newPage({ viewport: { width: 1200, height: 630 } });
  await page.setContent(card.replace('BARS', bars()));
  return page.screenshot({ type: 'png' });
}

/** Draws the top of the page of a demo that has just started. */
async function drawPage(browser: Browser, url: string): Promise<Buffer> {
  const page = await browser.newPage({ viewport: { width: 1100, height: 1150 }, colorScheme: 'light' });
  await page.goto(`${url}/`);
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 60 });
  return Buffer.from(data, 'base64');
}

const browser = await startBrowser();
const demo = startProgram(['demo', '--port', '0', '--account-port', '0']);
try {
  const { url } = await demo.listening();
  for (const [name, picture] of [
    ['assets/card.png', await drawCard(browser)],
    ['docs/observatory.webp', await drawPage(browser, url)],
  ] as const) {
    writeFileSync(join(packageRoot(), name), picture);
    console.log(`${name}: ${picture.length} bytes`);
  }
} finally {
  await browser.close();
  await demo.stop();
}

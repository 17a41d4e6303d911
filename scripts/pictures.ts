/**
 * Draws the committed pictures with Debian's Chromium: `npm run pictures`. `assets/card.png` is the preview of the page
 * in social networks, and `docs/observatory.webp` shows the page of the demo. The pictures depend on the fonts and the
 * browser, so run this script only after a change to the pictured pages.
 *
 * `npm run pictures -- --cases DIR` instead draws every page with charts into a directory, at three widths, light and
 * dark: with a storm, with holes, with a refused fact, and an hour after the observation began. The pages with a hole are
 * also drawn in forced colours and as they are printed.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser } from 'playwright-core';
import { writeClosedArchive } from '../harness/archive/closed-archive.ts';
import { artifactFolder, youngArtifact } from '../harness/artifacts/artifacts.ts';
import { type ChartCaseName, chartCaseFiles, chartCases } from '../harness/artifacts/chart-cases.ts';
import { startBrowser } from '../harness/pages/browser.ts';
import { startProgram, startServer } from '../harness/process/program.ts';
import { artifactNames } from '../src/artifact/write.ts';
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

const looks = [320, 768, 1280].flatMap((width) =>
  (['light', 'dark'] as const).map((colorScheme) => ({ width, colorScheme })),
);

/** Draws a page in every look. */
async function drawLooks(browser: Browser, url: string, path: string): Promise<void> {
  for (const { width, colorScheme } of looks) {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    await page.goto(url);
    await page.screenshot({ path: `${path}-${width}-${colorScheme}.png`, fullPage: true });
    await page.close();
  }
}

/** Draws a page in forced colours and for print. */
async function drawMedia(browser: Browser, url: string, path: string): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 768, height: 900 }, colorScheme: 'dark' });
  await page.emulateMedia({ forcedColors: 'active' });
  await page.goto(url);
  await page.screenshot({ path: `${path}-forced.png`, fullPage: true });
  // Browsers print in light colours.
  await page.emulateMedia({ forcedColors: 'none', colorScheme: 'light', media: 'print' });
  await page.screenshot({ path: `${path}-print.png`, fullPage: true });
  await page.close();
}

/** Writes an archive of a year with gaps of an hour to 30 hours. */
function writeYear(root: string): void {
  const now = Date.now();
  const gaps = Array.from({ length: 30 }, (_, at) => {
    const start = now - (at * 241 + 100) * 3_600_000;
    return { start, end: start + (at % 4 === 0 ? 60 : 3) * 3_600_000 };
  });
  writeClosedArchive({
    ...{ before: now, days: 364, faults: { weather: gaps, labels: gaps.slice(3, 20) } },
    write(path, bytes) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      writeFileSync(join(root, path), bytes);
    },
  });
}

/** Draws the pages with charts in every case and look into a directory. */
async function drawCases(browser: Browser, folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const artifacts = artifactFolder();
  const archive = mkdtempSync(join(tmpdir(), 'almanac-pictures-'));
  writeYear(archive);
  const month = new Date(Date.now() - 40 * 86_400_000).toISOString().slice(0, 7);
  const server = await startServer(['facts', '--port', '0', '--artifacts', artifacts.path, '--archive', archive]);
  try {
    for (const name of [...Object.keys(chartCases), 'refused']) {
      const recent = youngArtifact('recent') as { acquisition: { generation_id: string } };
      const files = chartCaseFiles(name === 'refused' ? 'storm' : (name as ChartCaseName), {
        generatedAt: Date.now() - 30_000,
        generationId: recent.acquisition.generation_id,
      });
      artifacts.put(artifactNames.weather, youngArtifact('weather'));
      artifacts.put(artifactNames.labels, { ...recent, hold: name === 'refused' });
      artifacts.put(artifactNames.weatherHours, files.weather);
      artifacts.put(artifactNames.labelsHours, files.labels);
      await drawLooks(browser, `${server.url}/`, join(folder, `front-${name}`));
      await drawLooks(browser, `${server.url}/hours/24`, join(folder, `hours-24-${name}`));
      if (name === 'hole' || name === 'refused') {
        await drawLooks(browser, `${server.url}/archive`, join(folder, `archive-${name}`));
        await drawLooks(browser, `${server.url}/months/${month}`, join(folder, `month-${name}`));
      }
      if (name === 'hole') {
        await drawMedia(browser, `${server.url}/`, join(folder, 'front'));
        await drawMedia(browser, `${server.url}/archive`, join(folder, 'archive'));
      }
      console.log(`${name}: drawn`);
    }
  } finally {
    await server.stop();
    artifacts.remove();
    rmSync(archive, { recursive: true });
  }
}

async function drawCommitted(browser: Browser): Promise<void> {
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
    await demo.stop();
  }
}

const { values } = parseArgs({ options: { cases: { type: 'string' } } });
const browser = await startBrowser();
try {
  await (values.cases === undefined ? drawCommitted(browser) : drawCases(browser, values.cases));
} finally {
  await browser.close();
}

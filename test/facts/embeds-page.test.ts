import { createServer } from 'node:http';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { artifactFolder, youngArtifact } from '../../harness/artifacts/artifacts.ts';
import { listenForTest } from '../../harness/net/listen.ts';
import { hasBrowser, inspect, startBrowser } from '../../harness/pages/browser.ts';
import { type Server, startServer } from '../../harness/process/program.ts';
import { artifactNames } from '../../src/artifact/write.ts';

/** Tests the images and the page that offers them, in a browser. */

const images = ['conditions', 'labels', 'observatory', 'hours'] as const;
const publicUrl = 'https://observatory.example/atproto';
const folder = artifactFolder();
let program: Server;
let browser: Browser;

beforeAll(async () => {
  const args = ['facts', '--port', '0', '--artifacts', folder.path, '--base-path', '/atproto'];
  program = await startServer([...args, '--public-url', publicUrl]);
  if (hasBrowser) browser = await startBrowser();
});
afterAll(async () => {
  await browser?.close();
  await program?.stop();
  folder.remove();
});
beforeEach(() => {
  folder.put(artifactNames.labels, youngArtifact('recent'));
  folder.put(artifactNames.weather, youngArtifact('weather'));
});

interface Box {
  readonly text: string;
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

/** Returns the position of every text in an image that the browser shows as a document. */
function textBoxes(page: Page): Promise<Box[]> {
  return page.locator('text').evaluateAll((texts) =>
    texts.map((element) => {
      const { left, right, top, bottom } = element.getBoundingClientRect();
      return { text: element.textContent ?? '', left, right, top, bottom };
    }),
  );
}

function overlap(one: Box, other: Box): boolean {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}

/** Returns the texts of an image that extend beyond it or overlap another text. */
async function misplaced(page: Page): Promise<Box[]> {
  const boxes = await textBoxes(page);
  const { width, height } = await page
    .locator('svg')
    .evaluate((svg) => ({ width: svg.clientWidth, height: svg.clientHeight }));
  return boxes.filter((box, at) => {
    const isOutside = box.left < 0 || box.right > width || box.bottom > height;
    return isOutside || boxes.slice(at + 1).some((other) => overlap(box, other));
  });
}

const paper = { light: 'rgb(253, 253, 251)', dark: 'rgb(20, 23, 26)' };

describe.skipIf(!hasBrowser)('an embeddable image in a browser', () => {
  it.each([
    ['current', {}],
    ['refused', { hold: true }],
  ])(
    'applies its style within its content security policy, without texts that overlap or extend beyond the image (%s)',
    async (_state, held) => {
      folder.put(artifactNames.labels, { ...youngArtifact('recent'), ...held });
      if ('hold' in held) folder.put(artifactNames.weather, {});
      const page = await browser.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => complaints.push(message.text()));
      for (const name of images) {
        await page.goto(`${program.url}/embed/${name}.svg`);
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.emulateMedia({ colorScheme });
          expect(await page.locator('.paper').evaluate((plate) => getComputedStyle(plate).fill)).toBe(
            paper[colorScheme],
          );
        }
        expect([name, (await textBoxes(page)).length > 2, await misplaced(page)]).toEqual([name, true, []]);
      }
      expect(complaints).toEqual([]);
      await page.close();
    },
  );

  it('is shown on a page of another origin, even if that page requires a cross-origin resource policy', async () => {
    const markup = images.map((name) => `<img src="${program.url}/embed/${name}.svg">`).join('');
    const server = createServer((_request, response) => {
      response.setHeader('Cross-Origin-Embedder-Policy', 'require-corp');
      response.setHeader('Content-Type', 'text/html');
      response.end(markup);
    });
    const { port } = await listenForTest(server);
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${port}/`);
    const widths = await page
      .locator('img')
      .evaluateAll((all) => all.map((img) => (img as HTMLImageElement).naturalWidth));
    expect(widths.filter((width) => width > 200)).toHaveLength(images.length);
    await page.close();
  });
});

describe.skipIf(!hasBrowser)('/embeds', () => {
  it.each(['light', 'dark'] as const)('shows every image, and is accessible on a phone (%s)', async (colorScheme) => {
    const page = await browser.newPage({ colorScheme, viewport: { width: 320, height: 640 } });
    const complaints: string[] = [];
    page.on('console', (message) => complaints.push(message.text()));
    await page.goto(`${program.url}/embeds`);
    const loaded = await page
      .locator('img')
      .evaluateAll((all) => all.map((img) => (img as HTMLImageElement).naturalWidth));
    expect(loaded.filter((width) => width > 200)).toHaveLength(images.length);
    expect(complaints).toEqual([]);
    expect(await inspect(page)).toEqual({ found: [], tooWide: 0 });
    await page.close();
  });

  it('offers text to copy that embeds each image from the public address', async () => {
    const page = await browser.newPage();
    await page.goto(`${program.url}/embeds`);
    const offered = await page.locator('pre code').allInnerTexts();
    expect(offered).toHaveLength(2 * images.length);
    for (const [at, text] of offered.entries()) {
      expect(text).toContain(`${publicUrl}/embed/${images[Math.floor(at / 2)]}.svg`);
      expect(text).toMatch(
        at % 2 === 0 ? /^<a href="[^"]+"><img src="[^"]+" alt="[^"]+".*><\/a>$/ : /^\[!\[.+\]\(.+\)\]\(.+\)$/,
      );
    }
    await page.close();
  });
});

describe('the preview of the observatory page', () => {
  it('has an absolute address and a picture of the stated size if the service has a public address', async () => {
    const html = await (await fetch(`${program.url}/`)).text();
    const properties = Object.fromEntries(
      [...html.matchAll(/<meta property="og:([a-z:]+)" content="([^"]*)"/g)].map(([, name, content]) => [
        name,
        content,
      ]),
    );
    expect(properties).toMatchObject({ url: `${publicUrl}/`, image: `${publicUrl}/assets/card.png`, type: 'website' });
    const response = await fetch(`${program.url}/assets/card.png`);
    expect(response.headers.get('content-type')).toBe('image/png');
    const picture = Buffer.from(await response.arrayBuffer());
    expect([String(picture.readUInt32BE(16)), String(picture.readUInt32BE(20))]).toEqual([
      properties['image:width'],
      properties['image:height'],
    ]);
    expect(picture.length).toBeLessThan(100_000);
  });

  it('is omitted for simulated facts, because they could be mistaken for live facts', async () => {
    folder.put(artifactNames.weather, { ...youngArtifact('weather'), origin: 'simulated' });
    expect(await (await fetch(`${program.url}/`)).text()).not.toContain('og:');
  });
});

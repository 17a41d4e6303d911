import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { expect, it } from 'vitest';
import { noLabelsText } from '../archive/section-texts.ts';
import { Kept, KeptArchive } from './kept-section.tsx';

/** The page's script keeps sections that the server rendered, until the refusal of the labels in them changes. */

const chart = '<h2 id="archive">The last 30 days</h2><path class="line-labels"></path>';
const shown = { id: 'archive', html: chart, refusal: null };
const withheld = { id: 'archive', html: '<h2 id="archive">The last 30 days</h2>', refusal: noLabelsText('Held.') };
const htmlOf = (section: typeof shown | typeof withheld | null, refusal: string | null): string =>
  renderToString(h(KeptArchive, { section, refusal }));

it('the archive section stays as the server rendered it until the label refusal changes', () => {
  expect(htmlOf(shown, null)).toBe(`<section aria-labelledby="archive">${chart}</section>`);
  expect(htmlOf(withheld, 'Held.')).toBe(`<section aria-labelledby="archive">${withheld.html}</section>`);
});

it('after the label refusal changes, the archive section shows neither labels nor the earlier reason', () => {
  const refused = htmlOf(shown, 'Stale.');
  expect(refused).not.toContain('line-labels');
  expect(refused).toContain('The chart shows no labels. Stale. Reload this page to show the current chart.');
  expect(htmlOf(withheld, 'Stale.')).toContain('The chart shows no labels. Stale. Reload');
  expect(htmlOf(withheld, null)).toContain('Labels are shown again. Reload this page to show the current chart.');
  expect(htmlOf(withheld, null)).not.toContain('Held.');
});

it('a missing section is rendered as an empty string', () => {
  expect([htmlOf(null, null), renderToString(h(Kept, { section: null }))]).toEqual(['', '']);
});

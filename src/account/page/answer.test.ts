import { describe, expect, it } from 'vitest';
import { account, bodyOf, frameIn, labelers, linesOf, now, viewOf } from '../../../harness/accounts/account-view.ts';
import { day, dayOf, dayStart, hour, micros } from '../../store/time.ts';
import { languages } from '../../web/language.ts';
import type { AccountView } from '../view/view.ts';
import { answerOf } from './answer.tsx';

const [careful, web] = labelers;
const post = `at://${account}/app.bsky.feed.post/3lb5xpd2ank2v`;

/** Returns the HTML of the table of labelers and values. */
function tableOf(html: string): string {
  return /<section aria-labelledby="answer">.*?<\/section>/s.exec(html)?.[0] ?? '';
}

/** Returns the targets of the links in HTML. */
function linksIn(html: string): string[] {
  return [...html.matchAll(/href="([^"]*)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'));
}

describe('the table of labelers and values', () => {
  it('counts applications and removals apart, names the first and the last observation, and gives the coverage of each labeler', async () => {
    const labels = [{}, { neg: true }, {}, { val: 'rude' }, { src: web, uri: post }];
    const view = await viewOf({ labels });
    const gap = { source: web, reason: 'source_unavailable' as const, start: micros(now - 5 * hour) };
    const gapped = view.labelers.map((one) =>
      one.labeler === web ? { ...one, state: 'unavailable', gaps: [{ ...gap, end: micros(now - 2 * hour) }] } : one,
    );
    expect(linesOf(tableOf(bodyOf({ ...view, labelers: gapped })))).toEqual([
      'By labeler and value',
      '4 applied and 1 removed, by labeler and value. Bars compare the labelers. Each value links to its observations.',
      ...['Labeler and value', 'Applied', 'Removed', 'First and last'],
      careful,
      'No unobserved time of this labeler is recorded in this interval.',
      'Show only this labeler',
      ...['All values', '3', '1', '20 Nov 2026, 08:00 UTC', '20 Nov 2026, 11:00 UTC'],
      ...['spam', '2', '1', '20 Nov 2026, 09:00 UTC', '20 Nov 2026, 11:00 UTC'],
      ...['rude', '1', '0', '20 Nov 2026, 08:00 UTC'],
      web,
      'Not observed for 3 hours of this interval. State: does not respond.',
      'Show only this labeler',
      ...['spam', '1', '0', '20 Nov 2026, 07:00 UTC'],
    ]);
  });

  it('shows at a glance which labeler has the most applications and removals', async () => {
    const labels = [{}, {}, { neg: true }, { val: 'rude' }, { src: web }];
    const html = tableOf(bodyOf(await viewOf({ labels })));
    const bars = [...html.matchAll(/<svg class="bar" aria-hidden="true">(.*?)<\/svg>/g)].map(([, bar = '']) =>
      [...bar.matchAll(/ width="([^"]*)"/g)].map(([, width]) => width),
    );
    expect(bars).toEqual([['75%', '25%'], ['25%']]);
  });

  it('links to the observations of each labeler and of each value, and keeps the interval and the other filters', async () => {
    const view = await viewOf({ labels: [{}, { val: 'a&b' }] });
    const filters = { action: 'application_observed' } as const;
    const html = tableOf(bodyOf({ ...view, query: { ...view.query, filters } }, frameIn('en', 'en')));
    const base = `/account?did=${encodeURIComponent(account)}&days=7&action=application_observed`;
    const labeler = `&labeler=${encodeURIComponent(careful)}`;
    expect(linksIn(html)).toEqual([
      `${base}${labeler}&lang=en`,
      `${base}${labeler}&value=a%26b&lang=en`,
      `${base}${labeler}&value=spam&lang=en`,
    ]);
  });

  it('has no link for a value that no filter can select', async () => {
    const html = tableOf(bodyOf(await viewOf({ labels: [{ val: '' }, { val: 'x'.repeat(129) }] })));
    expect(linksIn(html)).toEqual([
      `/account?did=${encodeURIComponent(account)}&days=7&labeler=${encodeURIComponent(careful)}`,
    ]);
  });

  it('names only the days of observations that the page does not list', async () => {
    const view = await viewOf({ labels: [{}, {}, { val: 'rude' }] });
    const parts = view.parts.map((part) => ({ ...part, rows: part.rows.slice(1) }));
    const said = linesOf(tableOf(bodyOf({ ...view, parts })));
    expect(said.slice(-9)).toEqual([
      ...['spam', '2', '0', '20 Nov 2026'],
      ...['rude', '1', '0', '20 Nov 2026, 09:00 UTC'],
      'Only the UTC day is given where this page does not list every observation.',
    ]);
  });

  it('counts only in part if days were not counted, and then names only days', async () => {
    const view = await viewOf({ labels: [{}] });
    const said = linesOf(tableOf(bodyOf({ ...view, timeline: { ...view.timeline, uncounted: 2 } })));
    expect(said[1]).toBe(
      'At least 1 applied and 0 removed (2 days not counted), by labeler and value. Bars compare the labelers. Each value links to its observations.',
    );
    expect(said).toContain('20 Nov 2026');
  });

  it('states how many values and labelers it does not list', async () => {
    const view = await viewOf({ labels: [{}, { src: web }] });
    const groups = view.tally.groups.map((group) => ({ ...group, otherValues: 7 }));
    const change: Partial<AccountView> = { tally: { ...view.tally, groups }, labelers: view.labelers.slice(0, 1) };
    const said = linesOf(tableOf(bodyOf({ ...view, ...change })));
    expect(said.slice(-2)).toEqual([
      '7 more values with fewer observations are not listed here.',
      '1 more labeler with fewer observations is not listed here.',
    ]);
  });

  it('is absent if there are no observations, and from a page that continues a list', async () => {
    expect(tableOf(bodyOf(await viewOf({})))).toBe('');
    expect(tableOf(bodyOf(await viewOf({ labels: [{}], change: { before: now } })))).toBe('');
  });

  it.each(languages)('has the numbers of the tally in every language (%s)', async (language) => {
    const html = tableOf(bodyOf(await viewOf({ labels: [{}, { neg: true }, { src: web }] }), frameIn(language)));
    const cells = [...html.matchAll(/<td class="number">([^<]*)</g)].map(([, text]) => text);
    expect(cells).toEqual(['1', '1', '1', '0']);
  });
});

describe('the coverage of a labeler in the table', () => {
  it('is the time that neither the service nor the labeler’s gaps hide, counted once', async () => {
    const between = (from: number, to: number) => ({ start: micros(now - from), end: micros(now - to) });
    const ownGaps = [{ source: null, reason: 'ingest_paused' as const, ...between(4 * hour, 2 * hour) }];
    const view = await viewOf({ labels: [{}], ownGaps });
    const gaps = [{ source: careful, reason: 'source_unavailable' as const, ...between(3 * hour, hour) }];
    const { labelers: found } = answerOf({ ...view, labelers: view.labelers.map((one) => ({ ...one, gaps })) });
    expect(found.map(({ unseen }) => unseen)).toEqual([3 * hour]);
  });

  it('includes the time since a labeler that left was last read', async () => {
    const view = await viewOf({ labels: [{}] });
    const left = view.labelers.map((one) => ({ ...one, state: null, lastAsked: micros(now - 2 * day) }));
    expect(answerOf({ ...view, labelers: left }).labelers.map(({ unseen }) => unseen)).toEqual([2 * day]);
  });
});

describe('the observations in a list', () => {
  it('are collapsed by subject: one subject with 40 observations is one card, with the newest five in view', async () => {
    const other = `at://${account}/app.bsky.feed.post/3other`;
    const labels = [{ uri: other }, ...Array.from({ length: 40 }, () => ({ uri: post })), { uri: other }];
    const html = bodyOf(await viewOf({ labels }));
    const cards = html.split('<li class="subject">').slice(1);
    expect(cards.map((card) => linesOf(`<${card}`)[0])).toEqual([other, post]);
    expect(cards.map((card) => card.split('<li class="row applied">').length - 1)).toEqual([2, 40]);
    const [inView = '', opened = ''] = (cards[1] ?? '').split('<details>');
    expect([inView, opened].map((part) => part.split('<li class="row applied">').length - 1)).toEqual([5, 35]);
    expect(linesOf(inView)[1]).toBe('40 observations in this list');
    expect(linesOf(opened)[0]).toBe('35 earlier observations of this subject in this list');
    expect(linesOf(html).filter((line) => line === post)).toHaveLength(1);
  });
});

describe('a day of the table', () => {
  it('is the first instant of the UTC day of the observation', async () => {
    const view = await viewOf({ labels: [{}, {}] });
    const { labelers: found } = answerOf({ ...view, parts: [] });
    const today = { at: dayStart(dayOf(now)), isExact: false };
    expect(found.map(({ sum }) => sum)).toEqual([{ applied: 2, removed: 0, first: today, last: today }]);
  });
});

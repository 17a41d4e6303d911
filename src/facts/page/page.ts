import { h } from 'preact';
import { type HeaderList, type Reply, withBody } from '../../http/reply.ts';
import { type Coding, encode } from '../../http/representation/negotiation.ts';
import { renderPage } from '../../web/document.tsx';
import type { PageParts } from '../../web/page-body.tsx';
import { RecentSection, recentArchive, recentDays } from '../archive/chart.tsx';
import { type ArchivedDays, hourNumber } from '../archive/model.ts';
import { labelHoursHtml, weatherHoursHtml } from '../hours/sections.tsx';
import type { HoursCharts } from '../hours/shown-hours.ts';
import { type FactOutcomes, keepPerOutcomes, oncePer } from '../resources.ts';
import { type AccountLinks, Accounts } from './accounts.tsx';
import { observatory } from './observatory.tsx';

/**
 * Headers of the page. All content comes from this origin and none is inline. No cache may store the page, because a
 * cached page could show outdated facts.
 */
const headers: HeaderList = [
  'Cache-Control',
  'no-store',
  'Content-Security-Policy',
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy',
  'no-referrer',
  'Vary',
  'Accept-Encoding',
];

/** Data of the page that does not come from the facts. */
interface PageContext {
  readonly accounts: AccountLinks | null;
  readonly publicUrl: string | null;
  /** Days of the archive; null without an archive. */
  readonly archive: ArchivedDays | null;
  /** Returns the charts of the hours files. */
  readonly hours: (outcomes: FactOutcomes) => HoursCharts;
}

/**
 * Creates the resource of the observatory page. The page is rendered again when a fact, an age in a refusal, or the
 * archive changes, and every hour if there is an archive.
 */
export function observatoryPage(common: HeaderList, { accounts, publicUrl, archive, hours }: PageContext) {
  const archived = () => archive?.days() ?? null;
  const pageAt = keepPerOutcomes(
    (facts, outcomes, now) => {
      const { labels } = outcomes;
      const charts = hours(outcomes);
      const areLabelsShown = labels.kind === 'served';
      const recent = recentArchive(archived(), { count: recentDays, now, areLabelsShown }, archive?.issues());
      const page = observatory(
        facts,
        { kind: 'loaded' },
        {
          ...hoursSections(charts),
          archive: recent && ((refusal) => h(RecentSection, { recent, refusal })),
          accounts: h(Accounts, { links: accounts }),
        },
      );
      const parts = publicUrl !== null && page.indexed ? { ...page, card: cardOf(publicUrl) } : page;
      return {
        html: Buffer.from(renderPage(parts)),
        replies: new Map<Coding, Reply>(),
      };
    },
    (now, outcomes) => {
      const days = archived();
      const { weather, labels } = hours(outcomes);
      return [weather, labels, ...(days === null ? [null] : [days, hourNumber(now)])];
    },
  );

  return (outcomes: FactOutcomes, coding: Coding, now: number): Reply => {
    const { html, replies } = pageAt(outcomes, now);
    const known = replies.get(coding);
    if (known) return known;
    const codingHeader = coding === 'identity' ? [] : ['Content-Encoding', coding];
    const reply = withBody(200, 'text/html; charset=utf-8', encode(html, coding), [
      ...codingHeader,
      ...headers,
      ...common,
    ]);
    replies.set(coding, reply);
    return reply;
  };
}

/** HTML of the sections about the last 72 hours. Each is rendered once per artifact and refusal. */
const weatherHtml = oncePer((shown: HoursCharts['weather']) => weatherHoursHtml(shown, '.'));
const labelsHtml = oncePer((shown: HoursCharts['labels']) => labelHoursHtml(shown, '.'));

function hoursSections({ weather, labels }: HoursCharts) {
  const section = (id: string, html: string) =>
    h('section', { 'aria-labelledby': id, dangerouslySetInnerHTML: { __html: html } });
  return {
    weatherHours: () => section('hours-weather', weatherHtml(weather)),
    labelHours: () => section('hours-labels', labelsHtml(labels)),
  };
}

/**
 * Returns the preview of the page for messengers and social networks. Its image has no numbers, because these services
 * cache it for weeks and would show an old number as current.
 */
function cardOf(publicUrl: string): NonNullable<PageParts['card']> {
  return {
    url: `${publicUrl}/`,
    image: `${publicUrl}/assets/card.png`,
    imageText: 'Almanac: observations of the AT Protocol network, with their limits',
    width: 1200,
    height: 630,
  };
}

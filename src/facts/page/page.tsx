import { type ComponentChildren, h } from 'preact';
import { formatTimestamp } from '../../contract/timestamp.ts';
import type { HeaderList, Reply } from '../../http/reply.ts';
import type { Coding } from '../../http/representation/negotiation.ts';
import { renderPage } from '../../web/document.tsx';
import type { PageParts } from '../../web/page-body.tsx';
import { type SampleAccount, SampleAccounts } from '../../web/sample-accounts.tsx';
import { recentArchive, recentDays, recentHtml } from '../archive/chart.tsx';
import { type ArchivedDays, hourNumber } from '../archive/model.ts';
import type { HoursCharts } from '../hours/shown-hours.ts';

import { htmlReplies } from '../representation.ts';
import { type FactOutcomes, keepPerOutcomes, oncePer } from '../resources.ts';
import { labelHoursHtml, weatherHoursHtml } from './hours-page.tsx';
import { observatory } from './observatory.tsx';

/** Data of the page that does not come from the facts. */
interface PageContext {
  readonly accounts: AccountLinks | null;
  readonly publicUrl: string | null;
  /** Days of the archive; null without an archive. */
  readonly archive: ArchivedDays | null;
  /** Returns the charts of the hours files. */
  readonly hours: (outcomes: FactOutcomes) => HoursCharts;
}

const minuteMs = 60_000;

/**
 * Creates the resource of the observatory page. The page is rendered again when a fact or the archive changes, and every
 * minute.
 */
export function observatoryPage(common: HeaderList, { accounts, publicUrl, archive, hours }: PageContext) {
  const hoursSections = hoursSectionsOf(archive !== null);
  const archiveSection = archiveSectionOf(archive);
  const archived = () => archive?.days() ?? null;
  const pageAt = keepPerOutcomes(
    (facts, outcomes, now) => {
      const refusal = facts.labels.kind === 'refused' ? facts.labels.error.message : null;
      const page = observatory(facts, formatTimestamp(now), {
        ...hoursSections(hours(outcomes)),
        archive: archiveSection(now, refusal),
        accounts: h(Accounts, { links: accounts }),
      });
      const parts = publicUrl !== null && page.indexed ? { ...page, card: cardOf(publicUrl) } : page;
      return htmlReplies(renderPage(parts), common);
    },
    (now, outcomes) => {
      const days = archived();
      const { weather, labels } = hours(outcomes);
      // The page states when it was built, so that its script recognises a copy that a cache repeats.
      return [weather, labels, Math.floor(now / minuteMs), ...(days === null ? [null] : [days, hourNumber(now)])];
    },
  );

  return (outcomes: FactOutcomes, coding: Coding, now: number): Reply => pageAt(outcomes, now)(coding);
}

/** Creates the sections about the last 72 hours. Each is rendered once per artifact and refusal. */
function hoursSectionsOf(hasArchive: boolean) {
  const place = { base: '.', length: 72, hasTables: false, hasArchive } as const;
  const weatherHtml = oncePer((shown: HoursCharts['weather']) => weatherHoursHtml(shown, place));
  const labelsHtml = oncePer((shown: HoursCharts['labels']) => labelHoursHtml(shown, place));
  const section = (id: string, html: string) =>
    h('section', { 'aria-labelledby': id, dangerouslySetInnerHTML: { __html: html } });
  return ({ weather, labels }: HoursCharts) => ({
    weatherHours: section('hours-weather', weatherHtml(weather)),
    labelHours: section('hours-labels', labelsHtml(labels)),
  });
}

/**
 * Creates the section about the archive; null without an archive. It is rendered once per list of days, hour and refusal
 * of the label overview, like the files of its charts.
 */
function archiveSectionOf(archive: ArchivedDays | null) {
  let kept: { readonly marks: readonly unknown[]; readonly section: ComponentChildren } | undefined;
  return (now: number, refusal: string | null): ComponentChildren => {
    const days = archive?.days() ?? null;
    const marks = [days, hourNumber(now), refusal];
    if (kept?.marks.every((mark, at) => mark === marks[at])) return kept.section;
    const period = { count: recentDays, now, areLabelsShown: refusal === null };
    const recent = recentArchive(days, period, archive?.issues());
    const html = recent && recentHtml(recent, refusal);
    const section =
      html === null ? null : h('section', { 'aria-labelledby': 'archive', dangerouslySetInnerHTML: { __html: html } });
    kept = { marks, section };
    return section;
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

/** Links to the account view, which has its own address. */
export interface AccountLinks {
  /** URL of the account view, without a trailing slash. */
  readonly url: string;
  readonly samples: readonly SampleAccount[];
}

/** Shows the link to the account view and to its sample accounts. Shows nothing if there is no account view. */
function Accounts({ links }: { links: AccountLinks | null }) {
  if (!links) return null;
  return (
    <section aria-labelledby="accounts">
      <h2 id="accounts">One account</h2>
      <p>
        Nothing on this page is about a single account. The labels observed on one account are available on request at{' '}
        <a href={`${links.url}/`}>another address</a>.
      </p>
      {links.samples.length === 0 ? null : <SampleAccounts samples={links.samples} base={links.url} />}
    </section>
  );
}

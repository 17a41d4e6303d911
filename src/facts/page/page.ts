import type { HeaderList } from '../../http/headers.ts';
import { type Reply, withBody } from '../../http/reply.ts';
import type { Coding } from '../../http/representation/accept-encoding.ts';
import { encode } from '../../http/representation/compress.ts';
import { renderPage } from '../../web/document.tsx';
import { recentArchive, recentDays } from '../archive/chart.tsx';
import { type ArchivedDays, hourNumber } from '../archive/model.ts';
import { type FactOutcomes, keepPerOutcomes } from '../outcomes.ts';
import type { AccountLinks } from './accounts.tsx';
import { observatory } from './observatory.tsx';

/**
 * Headers of the page. All content comes from this origin and none is inline. A cached page expires together with its
 * facts.
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
export interface PageContext {
  readonly accounts: AccountLinks | null;
  readonly publicUrl: string | null;
  /** Days of the archive; null without an archive. */
  readonly archive: ArchivedDays | null;
}

/** Creates the resource of the observatory page. The page is rendered again when a fact or the archive changes. */
export function observatoryPage(common: HeaderList, { accounts, publicUrl, archive }: PageContext) {
  const archived = () => archive?.days() ?? null;
  const pageAt = keepPerOutcomes(
    (facts, { labels }, now) => {
      const areLabelsShown = labels.kind === 'served';
      const recent = recentArchive(archived(), { count: recentDays, now, areLabelsShown }, archive?.issues());
      return {
        html: Buffer.from(renderPage(observatory(facts, { kind: 'loaded' }, accounts, publicUrl, recent))),
        replies: new Map<Coding, Reply>(),
      };
    },
    (now) => {
      const days = archived();
      return days === null ? [null] : [days, hourNumber(now)];
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

import type { FactEnvelope } from '../../contract/envelope.ts';
import { errorBody } from '../../contract/errors.ts';
import { contractIds, type FactContractId } from '../../contract/identifiers.ts';
import { bucketSeconds } from '../../contract/limits.ts';
import type { HeaderList } from '../../http/headers.ts';
import { type Reply, withBody } from '../../http/reply.ts';
import type { Coding } from '../../http/representation/accept-encoding.ts';
import { encode } from '../../http/representation/compress.ts';
import { renderPage } from '../../web/document.tsx';
import type { Outcome } from '../resource.ts';
import type { AccountLinks } from './accounts.tsx';
import type { Shown } from './model.ts';
import { observatory } from './observatory.tsx';

/** Outcomes of the three fact endpoints at one instant. */
export interface PageOutcomes {
  readonly conditions: Outcome;
  readonly metrics: Outcome;
  readonly labels: Outcome;
}

/**
 * Headers of the page. All content comes from this origin, none is inline, and a cached page expires with the facts on
 * it.
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

/**
 * Creates the resource of the observatory's page. The page is rendered once for each set of representations, which
 * change once per artifact and age bucket; a page with a refusal is rendered again once a minute, when the ages in it
 * change.
 */
export function observatoryPage(common: HeaderList, accounts: AccountLinks | null) {
  let kept: { marks: readonly unknown[]; builtAt: number; html: Buffer; replies: Map<Coding, Reply> } | undefined;

  function pageAt(outcomes: PageOutcomes, now: number) {
    const marks = [outcomes.conditions, outcomes.metrics, outcomes.labels].map(markOf);
    const known = kept;
    // Render again if the clock was set back: a response must not contain future times.
    if (known && now >= known.builtAt && marks.every((mark, at) => mark === known.marks[at])) return known;
    const html = Buffer.from(renderPage(observatory(shownFacts(outcomes), { kind: 'loaded' }, accounts)));
    kept = { marks, builtAt: now, html, replies: new Map() };
    return kept;
  }

  return (outcomes: PageOutcomes, coding: Coding, now: number): Reply => {
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

/** Returns an identifier of an outcome's content: outcomes with equal identifiers render equally. */
function markOf(outcome: Outcome): unknown {
  if (outcome.kind === 'served') return outcome.representation;
  const { state, basis, age_seconds: age, collection_age_seconds: collectionAge } = outcome.freshness ?? {};
  return [outcome.code, state, basis, minutes(age), minutes(collectionAge)].join(' ');
}

function minutes(age: number | null | undefined): number | undefined {
  return age === null || age === undefined ? undefined : Math.floor(age / bucketSeconds);
}

function shownFacts({ conditions, metrics, labels }: PageOutcomes) {
  return {
    conditions: shown(conditions, contractIds.weatherConditions),
    metrics: shown(metrics, contractIds.weatherMetrics),
    labels: shown(labels, contractIds.labelsOverview),
  };
}

function shown<C extends FactContractId>(outcome: Outcome, contract: C): Shown<Extract<FactEnvelope, { contract: C }>> {
  if (outcome.kind === 'refused') return { kind: 'refused', error: errorBody(outcome.code, outcome.freshness).error };
  const { envelope } = outcome.representation;
  if (!isOf(envelope, contract)) throw new Error('a fact is in the place of another');
  return { kind: 'served', envelope };
}

function isOf<C extends FactContractId>(
  envelope: FactEnvelope,
  contract: C,
): envelope is Extract<FactEnvelope, { contract: C }> {
  return envelope.contract === contract;
}

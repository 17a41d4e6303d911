import type { HeaderList } from '../../http/headers.ts';
import { type Reply, withBody } from '../../http/reply.ts';
import { type Coding, chooseCoding } from '../../http/representation/accept-encoding.ts';
import { encode } from '../../http/representation/compress.ts';
import { matchesEntityTag } from '../../http/representation/if-none-match.ts';
import { entityTag } from '../entity-tag.ts';
import { type FactOutcomes, keepPerOutcomes } from '../outcomes.ts';
import type { ObservatoryFacts } from '../page/model.ts';
import { cacheControl } from '../representation.ts';

/** A name of one of the three facts. */
export type FactName = keyof FactOutcomes;

/** A format of the facts in addition to JSON and the page. */
export interface FactFormat {
  /** Path of the document, which distinguishes its validators from those of other documents. */
  readonly path: string;
  /** Facts that the document contains. */
  readonly uses: readonly FactName[];
  readonly contentType: string;
  readonly headers: HeaderList;
  readonly render: (facts: ObservatoryFacts) => string;
}

type Conditions = { readonly ifNoneMatch: string | undefined; readonly acceptEncoding: string | undefined };

/**
 * Creates the resource of a format. It is cached like the facts. A document that states a refusal is a 200 that no
 * cache stores and that has no validator, so that it is replaced as soon as the fact returns. `common` are the headers
 * of every response of the facts API.
 */
export function renderedFacts({ path, uses, contentType, headers: own, render }: FactFormat, common: HeaderList) {
  const documentAt = keepPerOutcomes((facts, outcomes) => {
    const tags = uses.map((name) => {
      const outcome = outcomes[name];
      return outcome.kind === 'served' ? outcome.representation.etag : null;
    });
    const etag = tags.includes(null) ? null : entityTag(path, tags.join(' '), 0);
    const validators = etag === null ? ['Cache-Control', 'no-store'] : ['ETag', etag, 'Cache-Control', cacheControl];
    const headers = [...validators, 'Vary', 'Accept-Encoding', ...own, ...common];
    return { body: Buffer.from(render(facts)), etag, headers, replies: new Map<Coding, Reply>() };
  });

  return (outcomes: FactOutcomes, { ifNoneMatch, acceptEncoding }: Conditions, now: number): Reply => {
    const { body, etag, headers, replies } = documentAt(outcomes, now);
    if (etag !== null && matchesEntityTag(ifNoneMatch, etag)) return { status: 304, headers, body: null };
    const coding = chooseCoding(acceptEncoding);
    const known = replies.get(coding);
    if (known) return known;
    const codingHeader = coding === 'identity' ? [] : ['Content-Encoding', coding];
    const reply = withBody(200, contentType, encode(body, coding), [...codingHeader, ...headers]);
    replies.set(coding, reply);
    return reply;
  };
}

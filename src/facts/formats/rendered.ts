import type { HeaderList } from '../../http/headers.ts';
import { type Reply, withBody } from '../../http/reply.ts';
import { type Coding, chooseCoding } from '../../http/representation/accept-encoding.ts';
import { encode } from '../../http/representation/compress.ts';
import { matchesEntityTag } from '../../http/representation/if-none-match.ts';
import { entityTag } from '../entity-tag.ts';
import { type FactOutcomes, keepPerOutcomes } from '../outcomes.ts';
import type { ObservatoryFacts } from '../page/model.ts';
import { cacheControl } from '../representation.ts';

/** Name of one of the three facts. */
export type FactName = keyof FactOutcomes;

/** A format of the facts other than JSON and the page. */
export interface FactFormat {
  /** Path of the document. It is part of the validator, so that validators of different documents differ. */
  readonly path: string;
  /** Facts that the document shows. */
  readonly uses: readonly FactName[];
  readonly contentType: string;
  readonly headers: HeaderList;
  readonly render: (facts: ObservatoryFacts) => string;
}

type Conditions = { readonly ifNoneMatch: string | undefined; readonly acceptEncoding: string | undefined };

/**
 * Creates the resource of a format, which is cacheable like the facts. A document that shows a refusal has status 200,
 * but no cache may store it and it has no validator, so that it is replaced as soon as the fact is served again.
 * `common` are the headers that every response of the facts API has.
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

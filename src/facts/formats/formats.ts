import Negotiator from 'negotiator';
import type { ReadRequest } from '../../http/read-request.ts';
import type { HeaderList, Reply } from '../../http/reply.ts';
import { chooseCoding, codedReplies, matchesEntityTag } from '../../http/representation/negotiation.ts';
import { conditionsBadge, labelsBadge } from '../embeds/badge.tsx';
import { observatoryChart } from '../embeds/chart.tsx';
import { embedHeaders, svgType } from '../embeds/image.tsx';
import { factMetricsPath, factOpenMetrics, factPrometheusText } from '../metrics/fact-metrics.ts';
import { openMetricsType, prometheusTextType } from '../metrics/open-metrics.ts';
import type { ObservatoryFacts } from '../page/model.ts';
import { cacheControl, entityTag } from '../representation.ts';
import { type FactOutcomes, keepPerOutcomes } from '../resources.ts';

const all: readonly FactName[] = ['conditions', 'metrics', 'labels'];

function image(path: string, uses: readonly FactName[], render: (facts: ObservatoryFacts) => string): FactFormat {
  return { path, uses, representations: [{ contentType: svgType, render }], headers: embedHeaders };
}

/** Formats of the facts other than JSON and the page; all of them are outside the contract. */
export const factFormats: readonly FactFormat[] = [
  {
    path: factMetricsPath,
    uses: all,
    representations: [
      { contentType: openMetricsType, render: factOpenMetrics },
      { contentType: prometheusTextType, render: factPrometheusText },
    ],
    headers: [],
  },
  image('/embed/conditions.svg', ['conditions'], conditionsBadge),
  image('/embed/labels.svg', ['labels'], labelsBadge),
  image('/embed/observatory.svg', all, observatoryChart),
];

/** Name of one of the three facts. */
type FactName = keyof FactOutcomes;

/** A document in one media type. */
interface Rendering {
  readonly contentType: string;
  readonly render: (facts: ObservatoryFacts) => string;
}

/** A format of the facts other than JSON and the page. */
interface FactFormat {
  /** Path of the document. It is part of the validator, so that validators of different documents differ. */
  readonly path: string;
  /** Facts that the document shows. */
  readonly uses: readonly FactName[];
  /** The document in each media type; a client that states no preference gets the first one. */
  readonly representations: readonly [Rendering, ...Rendering[]];
  readonly headers: HeaderList;
}

type Conditions = Pick<ReadRequest, 'ifNoneMatch' | 'acceptEncoding' | 'accept'>;

/**
 * Creates the resource of a format, which is cacheable like the facts. A document that shows a refusal has status 200,
 * but no cache may store it and it has no validator, so that it is replaced as soon as the fact is served again.
 * `common` are the headers that every response of the facts API has.
 */
export function renderedFacts(format: FactFormat, common: HeaderList) {
  const { representations } = format;
  const varies = representations.length > 1 ? 'Accept, Accept-Encoding' : 'Accept-Encoding';
  const headers = ['Vary', varies, ...format.headers, ...common];
  const [first, ...others] = representations;
  const standard = renderedAs(format, first, headers);
  const alternatives = new Map(others.map((one) => [one.contentType, renderedAs(format, one, headers)]));
  const types = representations.map(({ contentType }) => contentType);

  return (outcomes: FactOutcomes, conditions: Conditions, now: number): Reply => {
    const chosen = alternatives.size > 0 ? alternatives.get(preferredType(conditions.accept, types)) : undefined;
    return (chosen ?? standard)(outcomes, conditions, now);
  };
}

/** Maximum length of a parsed `Accept` header, in characters. A longer header states no preference. */
const longestAccept = 1024;

/** Returns the type that an `Accept` header prefers (RFC 9110, section 12.5.1), or an empty string if it prefers none. */
function preferredType(accept: string | undefined, types: readonly string[]): string {
  if (accept === undefined || accept.length > longestAccept) return '';
  return new Negotiator({ headers: { accept } }).mediaType([...types]) ?? '';
}

function renderedAs({ path, uses }: FactFormat, { contentType, render }: Rendering, always: HeaderList) {
  const documentAt = keepPerOutcomes((facts, outcomes) => {
    const tags = uses.map((name) => {
      const outcome = outcomes[name];
      return outcome.kind === 'served' ? outcome.representation.etag : null;
    });
    const etag = tags.includes(null) ? null : entityTag(`${path} ${contentType}`, tags.join(' '), 0);
    const validators = etag === null ? ['Cache-Control', 'no-store'] : ['ETag', etag, 'Cache-Control', cacheControl];
    const headers = [...validators, ...always];
    return { etag, headers, ok: codedReplies({ contentType, body: Buffer.from(render(facts)), headers }) };
  });

  return (outcomes: FactOutcomes, { ifNoneMatch, acceptEncoding }: Conditions, now: number): Reply => {
    const { etag, headers, ok } = documentAt(outcomes, now);
    if (etag !== null && matchesEntityTag(ifNoneMatch, etag)) return { status: 304, headers, body: null };
    return ok(chooseCoding(acceptEncoding));
  };
}

import { parseUrl, type UrlRules } from '../input/url.ts';
import { OperatorError } from '../ops/errors.ts';

/**
 * Parses a URL that the operator configures. The URL may be unencrypted or refer to this machine. Throws OperatorError
 * for an invalid URL; the message repeats the text only if the text cannot contain credentials.
 */
export function operatorUrl(flag: string, text: string, rules: UrlRules): URL {
  const verdict = parseUrl(text, rules);
  if (verdict.kind === 'url') return verdict.url;
  if (verdict.rule !== 'scheme' && verdict.rule !== 'syntax') throw new OperatorError(`--${flag}: ${verdict.why}`);
  const schemes = rules.schemes.map((scheme) => scheme.slice(0, -1)).join(' or ');
  const given = text.includes('@') ? '' : `; got ${JSON.stringify(text)}`;
  throw new OperatorError(`--${flag} requires a URL (${schemes})${given}`);
}

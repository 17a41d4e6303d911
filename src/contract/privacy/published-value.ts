import { findIdentity } from './find-identity.ts';

/**
 * Rules for label values that may be published by name. A label value is untrusted text and may be a person's name. A
 * value is therefore published only if it has the syntax of the lexicon and does not look like an identity.
 */

/** Matches the lexicon's value syntax: lower-case letters and hyphens, with `!` before a global value. */
const syntax = /^!?[a-z-]{1,100}$/;
/** Matches a part between hyphens that is longer than any word, such as a key or an encoded number. */
const longPart = /[a-z]{24,}/;
/** Matches a part of at least twelve hexadecimal letters. */
const hexadecimal = /(?:^|-)[a-f]{12,}(?:-|$)/;
/** Matches a DID whose colons are replaced by hyphens. */
const spelledDid = /(?:^|-)did-(?:plc|web|key)-/;
/** Matches a handle whose dots are replaced by hyphens, under a domain in which handles are in use. */
const spelledHandle = /[a-z]-(?:com|net|org|xyz|bsky-(?:social|app|team|network))$/;

/** Returns true if a value has the syntax of the lexicon, regardless of its meaning. */
export function isValueSyntax(value: string): boolean {
  return syntax.test(value);
}

/** Returns true if a declared value may be published by name. */
export function isPublishableValue(value: string): boolean {
  if (!isValueSyntax(value)) return false;
  const shapes = [longPart, hexadecimal, spelledDid, spelledHandle];
  return shapes.every((shape) => !shape.test(value)) && findIdentity(value) === null;
}

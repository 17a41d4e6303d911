import { findIdentity } from './find-identity.ts';

/**
 * Rules for label values that may be published by name. A label value is untrusted text and may be the name of a person,
 * so that only values with the syntax of the lexicon qualify, and none that looks like an identity.
 */

/** Matches the identifiers of the lexicon: lower-case letters and hyphens; `!` begins a global value. */
const syntax = /^!?[a-z-]{1,100}$/;
/** Matches a part without hyphens that is longer than any word: a key or an encoded number. */
const longPart = /[a-z]{24,}/;
/** Matches a part of at least twelve hexadecimal letters. */
const hexadecimal = /(?:^|-)[a-f]{12,}(?:-|$)/;
/** Matches a DID in which hyphens replace the colons. */
const spelledDid = /(?:^|-)did-(?:plc|web|key)-/;
/** Matches a handle in which hyphens replace the dots: a name below a domain of handles. */
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

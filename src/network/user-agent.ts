import { httpSchemes, parseUrl } from '../input/url.ts';

/** Longest contact, in characters. */
const maxContactLength = 200;

/** Characters of a URL or a mail address that are safe in a comment of the `User-Agent` field (RFC 9110, section 5.6.5). */
const contactCharacters = /^[\w.~:/?#[\]@!$&'*+,;=%-]+$/;

/** The contact as it was given, or null when it is neither an http(s) URL nor a mail address. */
export function parseContact(text: string): string | null {
  if (text.length > maxContactLength || !contactCharacters.test(text)) return null;
  const isMail = /^[^@\s/:]+@[^@\s/:]+\.[^@\s/:]+$/.test(text);
  const isPage = parseUrl(text, { schemes: httpSchemes, admits: ['fragment'] }).kind === 'url';
  return isMail || isPage ? text : null;
}

/**
 * The `User-Agent` of every request and websocket (RFC 9110, section 10.1.5): the program, its version, and where the
 * operator of this observatory can be reached.
 */
export function userAgent(version: string, contact: string | null): string {
  return contact === null ? `Almanac/${version}` : `Almanac/${version} (+${contact})`;
}

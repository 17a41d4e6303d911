import { httpSchemes, parseUrl } from '../input/url.ts';

/** Maximum length of a contact, in characters. */
const maxContactLength = 200;

/**
 * Matches the characters of a URL or mail address that are safe in a comment of the `User-Agent` field (RFC 9110,
 * section 5.6.5).
 */
const contactCharacters = /^[\w.~:/?#[\]@!$&'*+,;=%-]+$/;

/**
 * Returns the contact unchanged, or null if it is too long, contains unsafe characters, or is neither an http(s) URL
 * nor a mail address.
 */
export function parseContact(text: string): string | null {
  if (text.length > maxContactLength || !contactCharacters.test(text)) return null;
  const isMail = /^[^@\s/:]+@[^@\s/:]+\.[^@\s/:]+$/.test(text);
  const isPage = parseUrl(text, { schemes: httpSchemes, admits: ['fragment'] }).kind === 'url';
  return isMail || isPage ? text : null;
}

/**
 * Returns the `User-Agent` of every request and websocket (RFC 9110, section 10.1.5): the program, its version, and the
 * contact of this service's operator unless it is null.
 */
export function userAgent(version: string, contact: string | null): string {
  return contact === null ? `Almanac/${version}` : `Almanac/${version} (+${contact})`;
}

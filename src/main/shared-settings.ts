import { join } from 'node:path';
import { isDid } from '../contract/identifiers.ts';
import type { ConnectionBounds } from '../http/connections/connection-table.ts';
import { httpSchemes, parseUrl, type UrlRules } from '../input/url.ts';
import { OperatorError } from '../ops/errors.ts';
import { list, type Setting } from '../ops/setting.ts';
import type { SampleAccount } from '../web/sample-accounts.tsx';
import { packageVersion } from './command.ts';

/** The `--plc` setting of every command that resolves a did:plc. */
export const plcSetting = list(
  'plc',
  'URL',
  ['https://plc.directory'],
  'did:plc directory; repeatable: the first is the primary, the others are used while it does not respond',
);

/** Directories of did:plc: the primary one, and the replicas that are used while the primary one does not respond. */
interface Directories {
  readonly plc: string;
  readonly plcReplicas: readonly string[];
}

/** Parses the URLs of the setting. Throws OperatorError if a URL is invalid or no URL is configured. */
export function directoriesOf(addresses: readonly string[]): Directories {
  const [plc = '', ...plcReplicas] = addresses;
  for (const address of [plc, ...plcReplicas]) operatorUrl('plc', address);
  return { plc, plcReplicas };
}

/** Setting for the address at which operators of other services can reach this observatory's operator. */
export const contactSetting: Setting<string | null> = {
  flag: 'contact',
  placeholder: 'URL|MAIL',
  help: 'your web or mail address: sent in the User-Agent of every request, and shown on /for-labelers',
  fallback: null,
  repeatable: false,
  parse: (texts) => {
    const contact = texts.at(-1) ?? '';
    if (!isContact(contact)) throw new Error('requires an http(s) URL or a mail address');
    return contact;
  },
};

/** Maximum length of a contact, in characters. */
const maxContactLength = 200;

/**
 * Matches the characters of a URL or mail address that are safe in a comment of the `User-Agent` field (RFC 9110,
 * section 5.6.5).
 */
const contactCharacters = /^[\w.~:/?#[\]@!$&'*+,;=%-]+$/;

function isContact(text: string): boolean {
  if (text.length > maxContactLength || !contactCharacters.test(text)) return false;
  const isMail = /^[^@\s/:]+@[^@\s/:]+\.[^@\s/:]+$/.test(text);
  return isMail || parseUrl(text, { schemes: httpSchemes, admits: ['fragment'] }).kind === 'url';
}

/**
 * Returns the `User-Agent` of every request and websocket of a command (RFC 9110, section 10.1.5): the program, its
 * version, and the contact of this service's operator unless it is null.
 */
export function userAgentFor({ contact }: { readonly contact: string | null }): string {
  const program = `Almanac/${packageVersion()}`;
  return contact === null ? program : `${program} (+${contact})`;
}

/** Returns the URL of the label store in a data directory. */
export function labelStoreIn(data: string): string {
  return `sqlite:${join(data, 'labels')}`;
}

/** The `--sample-account` setting of the services that have pages. */
export const sampleAccountSetting = list(
  'sample-account',
  'DID',
  [],
  'DID of an account of a simulated network that the pages link to, a space, and a description; repeatable',
);

/** Parses the values of the setting. Throws OperatorError if a value does not begin with a DID. */
export function parseSampleAccounts(texts: readonly string[]): SampleAccount[] {
  return texts.map((text) => {
    const [did = '', ...words] = text.trim().split(/\s+/);
    if (!isDid(did)) throw new OperatorError(`--sample-account requires a DID; got ${JSON.stringify(text)}`);
    return { did, shows: words.length === 0 ? null : words.join(' ') };
  });
}

/**
 * Returns the base URL of a service that a command contacts as a client, without a trailing slash, a query and a
 * fragment. Throws OperatorError if the text is not an HTTP URL.
 */
export function serviceBase(flag: string, text: string): string {
  const url = operatorUrl(flag, text, { schemes: httpSchemes, admits: ['fragment'] });
  return url.origin + url.pathname.replace(/\/+$/, '');
}

/**
 * Returns a configured HTTP URL without its trailing slash. Throws OperatorError if the text is not an HTTP URL.
 */
export function operatorBase(flag: string, text: string): string {
  return operatorUrl(flag, text).href.replace(/\/+$/, '');
}

/**
 * Parses a URL that the operator configures, an HTTP URL by default. The URL may be unencrypted or refer to this machine.
 * Throws OperatorError for an invalid URL; the message repeats the text only if the text cannot contain credentials.
 */
export function operatorUrl(flag: string, text: string, rules: UrlRules = { schemes: httpSchemes }): URL {
  const verdict = parseUrl(text, rules);
  if (verdict.kind === 'url') return verdict.url;
  if (verdict.rule !== 'scheme' && verdict.rule !== 'syntax') throw new OperatorError(`--${flag}: ${verdict.why}`);
  const schemes = rules.schemes.map((scheme) => scheme.slice(0, -1)).join(' or ');
  const given = text.includes('@') ? '' : `; got ${JSON.stringify(text)}`;
  throw new OperatorError(`--${flag} requires a URL (${schemes})${given}`);
}

/**
 * Returns the connection limits that the operator configured. The limit per client is null if it is configured as 0,
 * or if a proxy is trusted, because many clients then share one peer address.
 */
export function connectionBounds(settings: {
  readonly maxConnections: number;
  readonly clientConnections: number;
  readonly trustProxy: number;
}): Pick<ConnectionBounds, 'total' | 'perClient'> {
  const { maxConnections, clientConnections, trustProxy } = settings;
  return { total: maxConnections, perClient: clientConnections === 0 || trustProxy > 0 ? null : clientConnections };
}

import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { canonicalDid, didInWords, isDid } from '../../contract/identifiers.ts';
import { hostDomains } from '../../network/guard/host-rates.ts';
import { OperatorError } from '../../ops/errors.ts';

/** Target of a denial: one labeler, or every labeler of a registrable domain. */
export type DenyTarget =
  | { readonly kind: 'did'; readonly did: string }
  | { readonly kind: 'domain'; readonly domain: string };

/** Maximum length of a host name, in characters (RFC 1035). */
const maxHostLength = 253;
/** Maximum length of an operand, in characters. */
const maxOperandLength = 2_048;

/**
 * Parses the target of a denial: a DID, a host name or an address. A host name denotes its registrable domain. An IP
 * address or a name with a single label is used unchanged. Throws an OperatorError that states the expected form.
 */
export function parseDenyTarget(operand: string): DenyTarget {
  const text = operand.trim();
  if (text === '' || text.length > maxOperandLength) throw refused(text, `give a DID (${didInWords}) or a domain`);
  if (/^did:/i.test(text)) return didTarget(text);
  if (text.startsWith('@')) throw refused(text, "a handle can change; give the labeler's DID or its domain");
  const host = hostOf(text);
  if (host === null) throw refused(text, `the operand is neither a DID (${didInWords}) nor a host name`);
  const [domain] = hostDomains(host);
  if (domain === undefined) throw refused(text, 'the operand is a public suffix; give a domain below it, or a DID');
  return { kind: 'domain', domain };
}

/**
 * Parses an operand of a command that changes the list. Throws an OperatorError for a host name below a registrable
 * domain, such as the handle of one labeler, because the denial would cover every labeler of that domain.
 */
export function parseDenyOperand(operand: string): DenyTarget {
  const target = parseDenyTarget(operand);
  if (target.kind === 'did') return target;
  const host = hostOf(operand.trim());
  if (host === target.domain) return target;
  throw new OperatorError(
    `${host} is part of ${target.domain}: give ${target.domain} for every labeler of that domain, or the DID of one labeler`,
  );
}

/** Formats a target as the deny file and `almanac labels deny` write it. */
export function targetText(target: DenyTarget): string {
  return target.kind === 'did' ? target.did : target.domain;
}

/**
 * Returns the registrable domains of a labeler: the domain of its endpoint and, for a did:web, the domain in the DID.
 */
export function domainsOfLabeler({
  did,
  endpoint,
}: {
  readonly did: string;
  readonly endpoint: string | null;
}): string[] {
  const endpointHost = endpoint === null ? null : (URL.parse(endpoint)?.hostname ?? null);
  const hosts = [endpointHost, hostOfDid(did)].filter((host) => host !== null);
  return [...new Set(hosts.flatMap(hostDomains))];
}

function didTarget(text: string): DenyTarget {
  // Convert every DID except a did:plc to lower case, because the host of a did:web is not case-sensitive.
  const did = canonicalDid(text.startsWith('did:plc:') ? text : text.toLowerCase());
  if (!isDid(did)) throw refused(text, `a DID is ${didInWords}`);
  return { kind: 'did', did };
}

/**
 * Returns the host of an operand, which is a bare name, a name with a path or port, or a URL. Returns null if the
 * operand has no host.
 */
function hostOf(text: string): string | null {
  if (isIP(text) === 6) return hostOf(`[${text}]`);
  const url = URL.parse(text.includes('://') ? text : `https://${text}`);
  if (!url || url.hostname === '' || url.username !== '' || url.password !== '') return null;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  if (isIP(host) !== 0) return host;
  const ascii = domainToASCII(host);
  if (ascii === '' || ascii.length > maxHostLength) return null;
  return ascii.split('.').every((label) => /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label)) ? ascii : null;
}

function hostOfDid(did: string): string | null {
  if (!did.startsWith('did:web:')) return null;
  const [host = ''] = did.slice('did:web:'.length).split(/:|%3A/i);
  return host;
}

function refused(text: string, why: string): OperatorError {
  return new OperatorError(`${JSON.stringify(text.slice(0, 100))} does not name a labeler: ${why}`);
}

import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { canonicalDid, didInWords, isDid } from '../../contract/identifiers.ts';
import { hostDomains } from '../../network/guard/host-domains.ts';
import { OperatorError } from '../../ops/errors.ts';

/** Target of a denial: one labeler, or every labeler of a registrable domain. */
export type DenyTarget =
  | { readonly kind: 'did'; readonly did: string }
  | { readonly kind: 'domain'; readonly domain: string };

/** Longest host name, in characters (RFC 1035). */
const maxHostLength = 253;
/** Longest operand that is parsed or repeated in a message. */
const maxOperandLength = 2_048;

/**
 * Reads an operand of `almanac labels deny`: a DID, a host name or an address. A host name stands for its registrable
 * domain; an IP address or a name of one label for itself. Throws an OperatorError that says what was expected.
 */
export function parseDenyTarget(operand: string): DenyTarget {
  const text = operand.trim();
  if (text === '' || text.length > maxOperandLength) throw refused(text, `give a DID (${didInWords}) or a domain`);
  if (/^did:/i.test(text)) return didTarget(text);
  if (text.startsWith('@')) throw refused(text, "a handle can change; give the labeler's DID or its domain");
  const host = hostOf(text);
  if (host === null) throw refused(text, `it is neither a DID (${didInWords}) nor a host name`);
  const [domain] = hostDomains(host);
  if (domain === undefined) throw refused(text, 'it is a public suffix; give a domain below it, or a DID');
  return { kind: 'domain', domain };
}

/** The text of a target, as the file and the commands show it. */
export function targetText(target: DenyTarget): string {
  return target.kind === 'did' ? target.did : target.domain;
}

/** The registrable domains that a labeler belongs to: of its endpoint, and of its DID where that is a did:web. */
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
  // A DID is case-sensitive except for the host of a did:web; capitals in it are typing mistakes.
  const did = canonicalDid(text.startsWith('did:plc:') ? text : text.toLowerCase());
  if (!isDid(did)) throw refused(text, `a DID is ${didInWords}`);
  return { kind: 'did', did };
}

/** The host of an operand: a bare name, a name with a path or port, or a whole URL; null where there is none. */
function hostOf(text: string): string | null {
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

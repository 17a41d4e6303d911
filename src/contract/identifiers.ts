/** Names on which clients depend, and the syntax of identifiers in requests and responses. */

/** Contract ids. Each id includes its major version (contract, section "Versioning"). */
export const contractIds = {
  instruments: 'atproto.facts.instruments/v1',
  labelsOverview: 'atproto.facts.labels.overview/v1',
  weatherConditions: 'atproto.facts.weather.conditions/v1',
  weatherMetrics: 'atproto.facts.weather.metrics/v1',
} as const;

/** Contract id of a fact endpoint. */
export type FactContractId = (typeof contractIds)['labelsOverview' | 'weatherConditions' | 'weatherMetrics'];

/** Paths of the contract, relative to `{base_url}`. They are matched exactly. */
export const paths = {
  instruments: '/v1/instruments',
  labelsOverview: '/v1/labels/overview',
  weatherConditions: '/v1/weather/conditions',
  weatherMetrics: '/v1/weather/metrics',
  health: '/health',
  openapi: '/openapi.json',
} as const;

/** Paths of the account-view API, relative to `{account_url}`. They are matched exactly. */
export const accountPaths = {
  account: '/account',
  exports: '/exports',
  download: '/download',
  health: '/health',
  openapi: '/openapi.json',
} as const;

/** Pattern of a did:plc: its prefix and 24 base32 characters (did:plc specification). */
export const didPlcPattern = '^did:plc:[a-z2-7]{24}$';

/**
 * Pattern of a did:web, restricted as in AT Protocol to a host name without a path. Only `localhost` may have a port
 * (`%3A`).
 */
export const didWebPattern =
  '^did:web:(?:localhost(?:%3[Aa][0-9]{1,5})?|(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\\.)+[a-zA-Z](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)$';

/** Description of the DID syntax, for users who entered something else. */
export const didInWords = 'did:plc: and 24 of the letters a-z and digits 2-7, or did:web: and a host name';

/** Maximum length of a DID, in characters. */
export const maxDidLength = 261;

const didPlc = new RegExp(didPlcPattern);
const didWeb = new RegExp(didWebPattern);

/** Returns true for a valid did:plc or did:web; AT Protocol allows no other DID methods. */
export function isDid(text: string): boolean {
  return text.length <= maxDidLength && (didPlc.test(text) || didWeb.test(text));
}

/** Returns a DID in AT Protocol's normal form, in which the case-insensitive host name of a did:web is lower case. */
export function canonicalDid(did: string): string {
  return did.startsWith('did:web:') ? did.toLowerCase().replace('%3a', '%3A') : did;
}

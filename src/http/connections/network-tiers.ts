import ipaddr from 'ipaddr.js';

/** A network to which a client belongs. `share` is its allowance as a multiple of the allowance of a single client. */
export interface NetworkTier {
  readonly network: string;
  readonly share: number;
}

/** Maximum number of addresses whose networks are cached. Parsing an address takes longer than answering a request. */
const maxRemembered = 4_096;

const remembered = new Map<string, readonly NetworkTier[]>();

/**
 * Returns the networks whose allowances apply to an address, the narrowest first. An IPv4 address is one client, and so
 * is an IPv6 /64 network. Providers assign /56 or /48 networks to sites. These networks have two and four times the
 * allowance of a client; otherwise one site could act as 65,536 clients.
 */
export function networkTiers(address: string): readonly NetworkTier[] {
  const known = remembered.get(address);
  if (known) return known;
  const tiers = tiersOf(address);
  if (remembered.size >= maxRemembered) remembered.clear();
  remembered.set(address, tiers);
  return tiers;
}

/** Returns the key of a client, which is its narrowest network. */
export function clientKey(address: string): string {
  return networkTiers(address)[0]?.network ?? address;
}

/** Returns the widest network of a client, which is its site. */
export function widestNetwork(address: string): NetworkTier {
  return networkTiers(address).at(-1) ?? { network: address, share: 1 };
}

/** Returns the key of a client's site, which is its widest network. */
export function siteKey(address: string): string {
  return widestNetwork(address).network;
}

function tiersOf(address: string): readonly NetworkTier[] {
  if (!ipaddr.isValid(address)) return [{ network: address, share: 1 }];
  const parsed = ipaddr.process(address);
  if (!(parsed instanceof ipaddr.IPv6)) return [{ network: parsed.toString(), share: 1 }];
  const [a = 0, b = 0, c = 0, d = 0] = parsed.parts;
  const name = (fourth: number, bits: number): string =>
    `${[a, b, c, fourth].map((part) => part.toString(16)).join(':')}/${bits}`;
  return [
    { network: name(d, 64), share: 1 },
    { network: name(d & 0xff00, 56), share: 2 },
    { network: name(0, 48), share: 4 },
  ];
}

/** Returns true for an address of this machine or of a private network, where an operator's reverse proxy may run. */
export function isNearby(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  return ['loopback', 'private', 'uniqueLocal', 'linkLocal', 'carrierGradeNat'].includes(
    ipaddr.process(address).range(),
  );
}

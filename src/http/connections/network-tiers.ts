import ipaddr from 'ipaddr.js';

/** A network that a client belongs to, and how many times the allowance of a single client the network has. */
export interface NetworkTier {
  readonly network: string;
  readonly share: number;
}

/** Addresses whose networks are remembered: parsing one costs more than a request does. */
const maxRemembered = 4_096;

const remembered = new Map<string, readonly NetworkTier[]>();

/**
 * The networks that share the allowances of an address, the narrowest first. An IPv4 address is one client. An IPv6
 * client is a network of 64 bits; providers give sites 56 or 48 bits, so those have allowances too: two and four times
 * that of a client. Without them, one site could act as 65,536 clients.
 */
export function networkTiers(address: string): readonly NetworkTier[] {
  const known = remembered.get(address);
  if (known) return known;
  const tiers = tiersOf(address);
  if (remembered.size >= maxRemembered) remembered.clear();
  remembered.set(address, tiers);
  return tiers;
}

/** The name of a client: its narrowest network. */
export function clientKey(address: string): string {
  return networkTiers(address)[0]?.network ?? address;
}

/** The widest network that a client belongs to: its site. */
export function widestNetwork(address: string): NetworkTier {
  return networkTiers(address).at(-1) ?? { network: address, share: 1 };
}

/** The name of the site that a client belongs to. */
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

/**
 * Returns true for an address of this machine or a private network, from which an operator's reverse proxy connects.
 */
export function isNearby(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  return ['loopback', 'private', 'uniqueLocal', 'linkLocal', 'carrierGradeNat'].includes(
    ipaddr.process(address).range(),
  );
}

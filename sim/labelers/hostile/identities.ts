import { base32 } from '../../events/identifiers.ts';
import { dice } from '../../random.ts';
import type { HostileIdentity, Kind } from './attack.ts';

/** Options for a population of hostile labelers. */
interface HostilePopulation {
  readonly seed: number;
  readonly count: number;
  readonly kinds: readonly Kind[];
  /** Port for labelers with their own address. Labelers on a shared address use the following ports. */
  readonly port: number;
  /** True if a name server resolves names below `.test`. */
  readonly names: boolean;
  /** Share of labelers that become hostile only after a command. */
  readonly lateShare: number;
}

/** Address and port on which a labeler listens. */
interface Listening {
  readonly address: string;
  readonly port: number;
}

/** A labeler, and the addresses on which it listens. */
export interface PlacedIdentity {
  readonly identity: HostileIdentity;
  readonly listens: readonly Listening[];
}

/** Address that several labelers share, each on its own port. */
const sharedAddress = '127.66.6.6';
/**
 * Maximum number of labelers on the shared address, because ports are limited. Further labelers get their own
 * addresses.
 */
const maxShared = 2_000;

/**
 * Returns the labelers of a population. They cycle through the kinds and, within each kind, through four placements:
 * their own address, a shared host, their own domain, and a shared domain. Throws a RangeError if labelers are
 * requested but the list of kinds is empty.
 */
export function placeLabelers({ seed, count, kinds, port, names, lateShare }: HostilePopulation): PlacedIdentity[] {
  let shared = 0;
  return Array.from({ length: count }, (_, index) => {
    const kind = kinds[index % kinds.length];
    if (kind === undefined) throw new RangeError('the list of kinds of hostile labelers is empty');
    const turn = Math.floor(index / kinds.length);
    const late = kind.identity !== 'web' && kind.elsewhere === undefined && ((turn + 1) * lateShare) % 1 < lateShare;
    const listens: Listening[] = Array.from({ length: kind.origins ?? 1 }, (_, origin) => {
      if (kind.identity === 'web') return { address: '127.0.0.1', port: 0 };
      if (turn % 4 === 1 && origin === 0 && shared < maxShared) {
        shared += 1;
        return { address: sharedAddress, port: port + shared };
      }
      return { address: addressOf(index, origin), port };
    });
    const endpoints = listens.map((place) => originOf(place, index, turn, names));
    const identity: HostileIdentity = {
      index,
      kind: kind.name,
      did: `did:plc:${dice((seed ^ 0x5eed) + index * 6151).text(base32, 24)}`,
      late,
      endpoints: kind.elsewhere ? [kind.elsewhere(index, names)] : endpoints,
      pds: endpoints[0] ?? '',
    };
    return { identity, listens };
  });
}

function originOf({ address, port }: Listening, index: number, turn: number, names: boolean): string {
  const dashed = address.replaceAll('.', '-');
  if (names && turn % 4 === 2) return `http://a-${dashed}.hostile${index}.test:${port}`;
  if (names && turn % 4 === 3) return `http://a-${dashed}.onedomain.test:${port}`;
  return `http://${address}:${port}`;
}

function addressOf(index: number, origin: number): string {
  const at = index + 1;
  return `127.${70 + origin}.${Math.floor(at / 250)}.${(at % 250) + 1}`;
}

/** Returns the valid document of a labeler. A kind may serve another document instead. */
export function soundDocument({ did, endpoints, pds }: HostileIdentity, multikey: string): Record<string, unknown> {
  return {
    '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
    id: did,
    alsoKnownAs: [`at://hostile-${did.slice(-6).toLowerCase()}.test`],
    verificationMethod: [
      { id: `${did}#atproto_label`, type: 'Multikey', controller: did, publicKeyMultibase: multikey },
    ],
    service: [
      { id: '#atproto_pds', type: 'AtprotoPersonalDataServer', serviceEndpoint: pds },
      { id: '#atproto_labeler', type: 'AtprotoLabeler', serviceEndpoint: endpoints[0] },
    ],
  };
}

import { base32 } from '../events/identifiers.ts';
import { type Dice, dice } from '../random.ts';
import type { OddKind } from './odd-labels.ts';
import type { Curve } from './signing-key.ts';

/** Software that a labeler imitates. */
export type Software = 'ozone' | 'skyware';

/**
 * Forms in which self-made labelers send frames and labels. `types_in_full`: the header has the whole type. `nulls`:
 * absent fields are null. `other_types`: `neg` is a number, `ver` a text, and absent texts are empty. `wide_integers`:
 * the number of every third frame has eight bytes, which DAG-CBOR does not allow. `unknown_types`: the type of every
 * third frame is unknown. `two_messages`: every third frame has a second message after the first one. `null_lists`: an
 * empty list of labels is null, and the cursor of a page is a number.
 */
export const dialects = [
  'types_in_full',
  'nulls',
  'other_types',
  'wide_integers',
  'unknown_types',
  'two_messages',
  'null_lists',
] as const;
/** Form in which a self-made labeler sends frames and labels. */
export type Dialect = (typeof dialects)[number];

/** Permanent faults of a labeler. Most labelers have `none`. */
export const ailments = [
  'none',
  'dead',
  'status_401',
  'status_403',
  'status_404',
  'status_400',
  'status_503',
  'html',
  'broken_json',
  'no_stream',
  'no_query',
  'no_cursor',
  'drip',
  'endless',
  'redirect',
  'hang',
  'no_document',
  'tombstone',
  'no_service',
  'directory_down',
] as const;
/** Name of an ailment. */
export type Ailment = (typeof ailments)[number];

/** A labeler's own definition of a label value, as in its record. */
export interface LabelDefinition {
  readonly identifier: string;
  readonly severity: string;
  readonly blurs: string;
  readonly defaultSetting: string;
  readonly adultOnly: boolean;
  readonly locales: readonly { readonly lang: string; readonly name: string; readonly description: string }[];
}

/** Properties of one labeler. */
export interface LabelerProfile {
  /** Rank of the labeler by volume, starting at 0. */
  readonly index: number;
  readonly software: Software;
  readonly curve: Curve;
  /** Mean number of labels per second. */
  readonly rate: number;
  readonly values: readonly string[];
  /** True if the labeler has a did:web DID and serves its own document. */
  readonly didWeb: boolean;
  /** Share of the labeler's labels that are odd, from 0 to 1. */
  readonly oddShare: number;
  readonly oddKinds: readonly OddKind[];
  /** True if pages are not sorted, which is possible in Ozone. */
  readonly unordered: boolean;
  readonly ailment: Ailment;
  /** True if the seeds file lists the labeler. */
  readonly seeded: boolean;
  /** Indexes of the relays that list the labeler. */
  readonly relays: readonly number[];
  /** True if neither a list nor an announcement names the labeler until `declare` is called. */
  readonly unannounced?: boolean;
  /** Form in which the labeler sends frames and labels; if absent, the form of its software. */
  readonly dialect?: Dialect;
  /** Handle in the labeler's document; if absent, the handle is derived from the DID. */
  readonly handle?: string;
  /** Values in the labeler's first record; if absent, all values of its labels. */
  readonly declared?: readonly string[];
  /** Definitions in the labeler's record; if absent, one plain definition per value. */
  readonly definitions?: readonly LabelDefinition[];
  /** Declared values that look like an identity and therefore must not be published. */
  readonly unnameable?: readonly string[];
}

/**
 * Condition of a population. `plain`: no labeler has an ailment. `troubled`: the shares of ailments approximate those
 * observed on the live network.
 */
export type Population = 'plain' | 'troubled';

/** Options for a population. */
interface PopulationOptions {
  readonly seed: number;
  readonly labelers: number;
  /** Total labels per second. */
  readonly labelRate: number;
  readonly relays: number;
  readonly population: Population;
  /** Returns changes to a labeler's profile. */
  readonly shape?: (profile: LabelerProfile) => Partial<LabelerProfile>;
}

/** Label values. Most labelers use only a few of them. */
const vocabulary = [
  'spam',
  'porn',
  'sexual',
  'nudity',
  'graphic-media',
  'rude',
  'misleading',
  'intolerant',
  'threat',
  'impersonation',
  '!hide',
  '!warn',
  '!takedown',
  'engagement-farming',
  'follow-farming',
  'ai-generated',
  'screenshot',
  'bot',
  'verified-artist',
  'he-him',
  'she-her',
  'they-them',
  'joined-2023',
  'bridged',
  'unsourced-claim',
  'scam',
] as const; // prettier-ignore

/**
 * Number of labelers with each ailment among 150 labelers outside the ten largest. The numbers approximate a count from
 * June 2026.
 */
const troubles: readonly (readonly [Ailment, number])[] = [
  ['dead', 17],
  ['status_401', 10],
  ['status_403', 8],
  ['status_404', 2],
  ['status_400', 2],
  ['status_503', 2],
  ['html', 2],
  ['broken_json', 2],
  ['no_stream', 8],
  ['no_query', 2],
  ['no_cursor', 3],
  ['drip', 1],
  ['endless', 1],
  ['redirect', 1],
  ['hang', 1],
  ['no_document', 2],
  ['tombstone', 2],
  ['no_service', 4],
  ['directory_down', 1],
];
const troubledOf = 150;
/** Number of top-ranked labelers, which have no ailments because they emit most of the volume. */
const wellRanks = 10;

/** Oddities that occur permanently in a troubled population. */
const naturalOddities: readonly OddKind[] = [
  'foreign',
  'malformed',
  'undated',
  'pre_epoch',
  'late',
  'future',
  'duplicate',
  'odd_value',
  'unknown_field',
  'expired',
  'unsigned',
  'bad_signature',
  'oversized',
];

/** Creates the population of a seed, largest labeler first. */
export function createPopulation(options: PopulationOptions): LabelerProfile[] {
  const { seed, labelers, labelRate, relays, population, shape } = options;
  const troubled = population === 'troubled';
  const chance = dice(seed ^ 0x1abe1e5);
  const weights = Array.from({ length: labelers }, (_, rank) => weightOf(rank));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const ailing = troubled ? ailmentsOf(labelers, chance) : [];
  return weights.map((weight, index) => {
    const profile: LabelerProfile = {
      index,
      software: index < 2 ? (index === 0 ? 'ozone' : 'skyware') : chance.chance(0.55) ? 'ozone' : 'skyware',
      curve: index % 7 === 2 ? 'p256' : 'k256',
      rate: total > 0 ? (labelRate * weight) / total : 0,
      values: chance.shuffled(vocabulary).slice(0, 1 + chance.below(12)),
      didWeb: troubled && index % 100 === 12,
      oddShare: troubled && chance.chance(0.3) ? 0.01 : 0,
      oddKinds: chance.shuffled(naturalOddities).slice(0, 1 + chance.below(4)),
      unordered: troubled && chance.chance(0.15),
      ailment: ailing[index] ?? 'none',
      seeded: !troubled || index < 3 || chance.chance(0.7),
      relays: Array.from({ length: relays }, (_, relay) => relay).filter(() => !troubled || chance.chance(0.75)),
    };
    return { ...profile, ...shape?.(profile) };
  });
}

/** Returns a labeler's did:plc. The DID does not exist on the live network. */
export function labelerDid(seed: number, index: number): string {
  return `did:plc:${dice((seed ^ 0x0d1d) + index * 7919).text(base32, 24)}`;
}

/**
 * Returns a labeler's share of all labels in percent, following the distribution of June 2026. The largest labeler has
 * 10.8 %; the largest 3 have 32 %, 5 have 52 %, 10 have 84 %, 20 have 98 %, and 81 have 100 %.
 */
function weightOf(rank: number): number {
  if (rank < 2) return 10.8;
  if (rank < 3) return 10.4;
  if (rank < 5) return 10;
  if (rank < 10) return 6.4;
  if (rank < 20) return 1.4;
  if (rank < 30) return 0.19;
  if (rank < 81) return 0.1 / 51;
  return 0;
}

function ailmentsOf(labelers: number, chance: Dice): Ailment[] {
  const sick = troubles.flatMap(([ailment, count]) => Array.from({ length: count }, () => ailment));
  const all: Ailment[] = [...sick, ...Array.from({ length: troubledOf - sick.length }, () => 'none' as const)];
  const given: Ailment[] = Array.from({ length: Math.min(wellRanks, labelers) }, () => 'none');
  while (given.length < labelers) given.push(...chance.shuffled(all));
  return given.slice(0, labelers);
}

import { type Dice, dice } from '../random.ts';
import { accountFrame, commitFrame, type FrameStyle, type FrameText, identityFrame } from './frames.ts';
import type { EmbedAlias, Species } from './metrics.ts';
import { compileTemplate, type Template } from './template.ts';
import { accountWeights, commitWeights, identityWeight, postShares } from './traffic-mix.ts';
import { eventsTemplate, type Wire } from './wire.ts';

/** Number of random bits that select a template. */
const tableBits = 18;
/** Number of entries in the table that maps random bits to templates. */
const tableSize = 2 ** tableBits;
const plain = { reply: false, embed: null } as const;

/** Templates from which generated events are drawn. Faults add templates for the frames that they inject. */
export interface Catalogue {
  readonly templates: Template[];
  readonly species: Species[];
  /**
   * Returns the template at `index` in the format of the protocol `wire`, or undefined if there is no such template. A
   * template made of bytes is the same for both protocols.
   */
  on(wire: Wire, index: number): Template | undefined;
  /**
   * Template index for each value of the top 18 bits of a random number. The number of entries per template follows the
   * traffic mix.
   */
  readonly table: Uint16Array;
  /** Adds a template with the given meaning, and returns the index of the template. */
  add(text: string | Uint8Array, species: Species): number;
}

interface Entry {
  readonly weight: number;
  readonly variants: number;
  readonly make: (chance: Dice) => FrameText;
}

/** Builds the templates of generated traffic from a seed. */
export function createCatalogue(seed: number, style: FrameStyle): Catalogue {
  const templates: Template[] = [];
  const species: Species[] = [];
  /**
   * Texts of the templates. Templates for `subscribeEvents` are compiled on first use, because most simulations use
   * only one protocol.
   */
  const texts: (string | Uint8Array)[] = [];
  const ofMethod: Template[] = [];
  const on = (wire: Wire, index: number): Template | undefined => {
    const legacy = templates[index];
    const text = texts[index];
    if (wire === 'jetstream.legacy' || legacy === undefined || typeof text !== 'string') return legacy;
    ofMethod[index] ??= compileTemplate(eventsTemplate(text, style), legacy.species);
    return ofMethod[index];
  };
  const add = (text: string | Uint8Array, meaning: Species): number => {
    const known = species.findIndex((one) => sameMeaning(one, meaning));
    if (known < 0) species.push(meaning);
    texts.push(text);
    return templates.push(compileTemplate(text, known < 0 ? species.length - 1 : known)) - 1;
  };
  const chance = dice(seed ^ 0x0ca7);
  const entries = allEntries(style);
  const total = entries.reduce((sum, { weight }) => sum + weight, 0);
  const heaviest = Math.max(...entries.map(({ weight }) => weight));
  const table = new Uint16Array(tableSize);
  let from = 0;
  for (const { weight, variants, make } of entries.toSorted((one, other) => one.weight - other.weight)) {
    const made = Array.from({ length: variants }, () => {
      const { text, species: meaning } = make(chance);
      return add(text, meaning);
    });
    const share = Math.max(1, Math.round((weight / total) * tableSize));
    // The most frequent entry comes last and absorbs rounding errors.
    const to = weight === heaviest ? tableSize : from + share;
    for (let at = from; at < to; at++) table[at] = made[at % made.length] ?? 0;
    from = to;
  }
  return { templates, species, table, add, on };
}

function sameMeaning(one: Species, other: Species): boolean {
  return (
    one.outcome === other.outcome &&
    one.methodOnly === other.methodOnly &&
    one.collection === other.collection &&
    one.metrics.join() === other.metrics.join()
  );
}

function allEntries(style: FrameStyle): Entry[] {
  const commits = Object.entries(commitWeights).flatMap(([collection, byOperation]) =>
    (['create', 'update', 'delete'] as const).flatMap((operation): Entry[] => {
      const weight = byOperation[operation] ?? 0;
      if (weight === 0) return [];
      if (collection === 'app.bsky.feed.post' && operation !== 'delete') return postEntries(operation, weight, style);
      const variants = operation === 'delete' ? 1 : weight > 10_000 ? 64 : 8;
      const make = (chance: Dice) => commitFrame(collection, operation, plain, style, chance);
      return [{ weight, variants, make }];
    }),
  );
  const accounts = accountWeights.map(({ active, status, weight }) => ({
    weight,
    variants: 4,
    make: (chance: Dice) => accountFrame(active, status, style, chance),
  }));
  const identities = { weight: identityWeight, variants: 6, make: (chance: Dice) => identityFrame(style, chance) };
  return [...commits, ...accounts, identities];
}

/** Returns the shapes of posts with their weights. Replies and embeds are independent of each other. */
function postEntries(operation: 'create' | 'update', weight: number, style: FrameStyle): Entry[] {
  const embeds: [EmbedAlias | null, number][] = Object.entries(postShares.embeds).map(([alias, share]) => [
    alias as EmbedAlias,
    share,
  ]);
  embeds.push([null, 1 - embeds.reduce((sum, [, share]) => sum + share, 0)]);
  return embeds.flatMap(([embed, share]) =>
    [true, false].map((reply) => ({
      weight: weight * share * (reply ? postShares.reply : 1 - postShares.reply),
      variants: operation === 'update' ? 2 : 32,
      make: (chance: Dice) => commitFrame('app.bsky.feed.post', operation, { reply, embed }, style, chance),
    })),
  );
}

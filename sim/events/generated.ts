import { hash } from '../random.ts';
import type { Range } from '../ranges.ts';
import { type Catalogue, createCatalogue } from './catalogue.ts';
import type { FrameStyle } from './frames.ts';
import { accountBytes } from './identifiers.ts';
import type { Species } from './metrics.ts';
import { createRhythm, epochSecond, type Rhythm } from './rhythm.ts';
import { type Block, type EventSource, lowerBound, type Plan } from './source.ts';
import { Stamper } from './stamper.ts';
import type { Wire } from './wire.ts';

/** Default size of the cache for blocks that several consumers read, in megabytes. */
const defaultCacheMegabytes = 32;

/** Options for generated traffic. */
interface GeneratedOptions extends FrameStyle {
  readonly seed: number;
  /** Mean number of events per second. */
  readonly rate: number;
  readonly historyHours: number;
  /** Size of the cache for encoded events, in megabytes of frames. */
  readonly cacheMegabytes?: number;
}

interface Sketch extends Plan {
  readonly templates: Uint16Array;
}

/** Interval in which every `size` consecutive events share the `time_us` of the first event. */
interface Batching {
  readonly fromUs: number;
  readonly toUs: number;
  readonly size: number;
}

/** Generated traffic. The events of a second depend only on the seed, the second, and the changes that faults made. */
export class GeneratedSource implements EventSource {
  readonly catalogue: Catalogue;
  readonly #rhythm: Rhythm;
  readonly #stamper: Stamper;
  readonly #seed: number;
  readonly #historyUs: number;
  readonly #cacheBytes: number;
  readonly #replaced = new Map<number, Map<number, number>>();
  readonly #batchings: Batching[] = [];
  readonly #blocks: Record<Wire, Map<number, Block>> = {
    'jetstream.legacy': new Map(),
    'jetstream.subscribeEvents': new Map(),
  };
  /**
   * Maps the number of an event to the number of the event whose account and time it copies. A re-sync row copies its
   * `sync` event.
   */
  readonly #stampedAs = new Map<number, number>();
  #cached = 0;
  #speciesTable: Uint16Array | null = null;
  #lastSecond = epochSecond;

  constructor(options: GeneratedOptions) {
    const { seed, rate, historyHours, cacheMegabytes = defaultCacheMegabytes } = options;
    this.#seed = seed;
    this.#cacheBytes = cacheMegabytes * 1_000_000;
    this.#historyUs = historyHours * 3_600_000_000;
    this.#rhythm = createRhythm(seed, rate);
    this.#stamper = new Stamper(accountBytes(seed));
    this.catalogue = createCatalogue(seed, options);
  }

  get species(): readonly Species[] {
    return this.catalogue.species;
  }

  plan(seq: number): Plan {
    return this.#sketch(this.#secondOf(seq));
  }

  block(seq: number, wire: Wire = 'jetstream.legacy'): Block {
    const second = this.#secondOf(seq);
    const known = this.#blocks[wire].get(second);
    if (known) return known;
    const made = this.#render(second, this.#sketch(second), wire);
    this.#keep(second, made, wire);
    return made;
  }

  edge(nowUs: number): number {
    return this.seek(Math.floor(nowUs) + 1);
  }

  seek(timeUs: number): number {
    const second = Math.max(epochSecond, Math.floor(timeUs / 1_000_000));
    const { first, timeUs: times } = this.#blocks['jetstream.legacy'].get(second) ?? this.#sketch(second);
    return first + lowerBound(times, timeUs);
  }

  span(fromUs: number, toUs: number): Range {
    return { from: this.seek(fromUs), to: this.seek(toUs) };
  }

  oldest(nowUs: number): number {
    return this.seek(nowUs - this.#historyUs);
  }

  tally(fromSecond: number, toSecond: number): Uint32Array {
    this.#speciesTable ??= Uint16Array.from(this.catalogue.table, (template) => this.#speciesOf(template));
    const table = this.#speciesTable;
    const counts = new Uint32Array(this.species.length);
    let next = this.#rhythm.seqAt(fromSecond);
    for (let second = fromSecond; second < toSecond; second++) {
      const first = next;
      next = this.#rhythm.seqAt(second + 1);
      if (this.#replaced.has(second)) {
        for (const species of this.#sketch(second).species) counts[species] = (counts[species] ?? 0) + 1;
        continue;
      }
      // Make the same random choices as `#sketch`, but skip the times: batching changes only times within a second.
      let state = hash(this.#seed, 10, second) | 0;
      for (let seq = first; seq < next; seq++) {
        state = (state + 0x6d2b79f5) | 0;
        let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
        mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
        const species = table[(mixed ^ (mixed >>> 14)) >>> 14] ?? 0;
        counts[species] = (counts[species] ?? 0) + 1;
      }
    }
    return counts;
  }

  /**
   * Replaces events with other frames, starting at number `seq`. Must not be called for events that were already read.
   */
  replace(seq: number, templates: readonly number[]): void {
    for (const [step, template] of templates.entries()) {
      const second = this.#secondOf(seq + step);
      const bySecond = this.#replaced.get(second) ?? new Map<number, number>();
      bySecond.set(seq + step, template);
      this.#replaced.set(second, bySecond);
    }
    this.#forget();
  }

  /**
   * Gives the events in `seqs` the account and time of the event `model`. Must not be called for events that were
   * already read.
   */
  stampAs(seqs: readonly number[], model: number): void {
    for (const seq of seqs) this.#stampedAs.set(seq, model);
    this.#forget();
  }

  /**
   * Groups events into batches with equal times within an interval. Must not be called for events that were already
   * read.
   */
  batch(fromUs: number, toUs: number, size: number): void {
    this.#batchings.push({ fromUs, toUs, size });
    this.#forget();
  }

  #secondOf(seq: number): number {
    // Try the last second and the next one: only the first read and jumps need the search.
    for (const second of [this.#lastSecond, this.#lastSecond + 1]) {
      if (this.#rhythm.seqAt(second) <= seq && seq < this.#rhythm.seqAt(second + 1)) {
        this.#lastSecond = second;
        return second;
      }
    }
    this.#lastSecond = this.#rhythm.secondOf(seq);
    return this.#lastSecond;
  }

  #sketch(second: number): Sketch {
    const first = this.#rhythm.seqAt(second);
    const count = this.#rhythm.seqAt(second + 1) - first;
    const { table } = this.catalogue;
    const timeUs = new Float64Array(count);
    const templates = new Uint16Array(count);
    const startUs = second * 1_000_000;
    const width = 1_000_000 / count;
    let state = hash(this.#seed, 10, second) | 0;
    let previous = startUs - 1;
    for (let at = 0; at < count; at++) {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      mixed ^= mixed >>> 14;
      const time = startUs + Math.floor((at + ((mixed & 0x3fff) / 0x4000) * 0.9) * width);
      // Events are spaced evenly except for a random shift within their slot, so times strictly increase if each slot
      // lasts at least one microsecond.
      previous = time > previous ? time : previous + 1;
      timeUs[at] = previous;
      templates[at] = table[mixed >>> 14] ?? 0;
    }
    for (const [seq, template] of this.#replaced.get(second) ?? []) templates[seq - first] = template;
    for (const batching of this.#batchings) stampBatches(timeUs, batching);
    const species = new Uint16Array(count);
    for (let at = 0; at < count; at++) species[at] = this.#speciesOf(templates[at] ?? 0);
    return { first, count, timeUs, species, templates };
  }

  #speciesOf(template: number): number {
    return this.catalogue.templates[template]?.species ?? 0;
  }

  #render(second: number, { first, count, timeUs, species, templates }: Sketch, wire: Wire): Block {
    const { catalogue } = this;
    const offsets = new Float64Array(count + 1);
    let length = 0;
    for (let at = 0; at < count; at++) {
      offsets[at] = length;
      length += catalogue.on(wire, templates[at] ?? 0)?.bytes.length ?? 0;
    }
    offsets[count] = length;
    const bytes = Buffer.allocUnsafeSlow(length);
    const view = new DataView(bytes.buffer, bytes.byteOffset, length);
    this.#stamper.second(second);
    const state = hash(this.#seed, 11, second);
    for (let at = 0; at < count; at++) {
      const template = catalogue.on(wire, templates[at] ?? 0);
      if (template === undefined) continue;
      const from = offsets[at] ?? 0;
      bytes.set(template.bytes, from);
      const random = randomAt(state, at);
      const more = Math.imul(random, 0x9e3779b1) >>> 0;
      const model = this.#stampedAs.size === 0 ? undefined : this.#stampedAs.get(first + at);
      if (model === undefined) {
        this.#stamper.stamp(view, from, template.slots, timeUs[at] ?? 0, first + at, random, more);
      } else {
        const { time, actor } = this.#stampOf(model);
        this.#stamper.stamp(view, from, template.slots, time, first + at, actor, more);
      }
    }
    return { first, count, timeUs, species, offsets, bytes };
  }

  #stampOf(seq: number): { time: number; actor: number } {
    const second = this.#secondOf(seq);
    const { first, timeUs } = this.#sketch(second);
    return { time: timeUs[seq - first] ?? 0, actor: randomAt(hash(this.#seed, 11, second), seq - first) };
  }

  #keep(second: number, block: Block, wire: Wire): void {
    const blocks = this.#blocks[wire];
    blocks.set(second, block);
    this.#cached += block.bytes.length;
    for (const [oldest, { bytes }] of blocks) {
      if (this.#cached <= this.#cacheBytes || oldest === second) break;
      blocks.delete(oldest);
      this.#cached -= bytes.length;
    }
  }

  #forget(): void {
    for (const blocks of Object.values(this.#blocks)) blocks.clear();
    this.#cached = 0;
  }
}

/** Returns 32 random bits for the event at index `at` of a second. */
function randomAt(state: number, at: number): number {
  const step = (state + Math.imul(at + 1, 0x6d2b79f5)) | 0;
  let mixed = Math.imul(step ^ (step >>> 15), 1 | step);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return (mixed ^ (mixed >>> 14)) >>> 0;
}

/**
 * Gives each group of `size` consecutive events within the interval the time of its first event. `timeUs` contains the
 * times of one second, so no group extends into the next second.
 */
function stampBatches(timeUs: Float64Array, { fromUs, toUs, size }: Batching): void {
  const from = lowerBound(timeUs, fromUs);
  const to = lowerBound(timeUs, toUs);
  for (let at = from; at < to; at += size) timeUs.fill(timeUs[at] ?? 0, at, Math.min(at + size, to));
}

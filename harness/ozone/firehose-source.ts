import type { Species } from '../../sim/events/metrics.ts';
import { parseFrame } from '../../sim/events/parsed.ts';
import type { Block, EventSource } from '../../sim/events/source.ts';
import { framed, slot } from '../../sim/events/template.ts';
import { productionJson } from '../../sim/events/texts.ts';
import { eventsTemplate, type Wire } from '../../sim/events/wire.ts';
import type { Range } from '../../sim/ranges.ts';
import type { FirehoseEvent } from './firehose.ts';

/** An event as one block for each protocol. */
type Blocks = Readonly<Record<Wire, Block>>;

/** Events that arrive while a Jetstream host serves them. They are numbered from 1, as a Jetstream numbers them. */
export class FirehoseSource implements EventSource {
  readonly species: Species[] = [];
  readonly events: FirehoseEvent[] = [];
  readonly #blocks: Blocks[] = [];
  readonly #timeUs: number[] = [];

  /** Appends an event that arrived at `nowUs`. */
  append(event: FirehoseEvent, nowUs: number): void {
    const seq = this.#blocks.length + 1;
    const timeUs = Math.max(nowUs, (this.#timeUs.at(-1) ?? 0) + 1);
    const { did, kind, body } = event;
    const members = `"kind":"${kind}","${kind}":${productionJson(body)}`;
    const legacy = `{"did":"${did}","time_us":${slot.time},"cursor":${slot.seq},${members}}`;
    const iso = new Date(timeUs / 1000).toISOString().replace('Z', `${String(timeUs % 1000).padStart(3, '0')}Z`);
    const stamped = (template: string): string =>
      template.replaceAll(slot.time, String(timeUs)).replaceAll(slot.seq, String(seq)).replaceAll(slot.iso, iso);
    const text = stamped(legacy);
    const at = { first: seq, count: 1, timeUs: Float64Array.of(timeUs), species: Uint16Array.of(this.species.length) };
    const block = (frame: string): Block => {
      const bytes = Buffer.from(framed(Buffer.from(frame)));
      return { ...at, offsets: Float64Array.of(0, bytes.length), bytes };
    };
    this.species.push(parseFrame(text).species);
    this.events.push(event);
    this.#timeUs.push(timeUs);
    this.#blocks.push({
      'jetstream.legacy': block(text),
      'jetstream.subscribeEvents': block(stamped(eventsTemplate(legacy, { variedKeys: false }))),
    });
  }

  plan(seq: number): Block {
    return this.block(seq);
  }

  block(seq: number, wire: Wire = 'jetstream.legacy'): Block {
    const blocks = this.#blocks[seq - 1];
    if (blocks === undefined) throw new Error(`event ${seq} has not arrived`);
    return blocks[wire];
  }

  edge(): number {
    return this.#blocks.length + 1;
  }

  seek(timeUs: number): number {
    const found = this.#timeUs.findIndex((time) => time >= timeUs);
    return found < 0 ? this.edge() : found + 1;
  }

  span(): Range {
    return { from: 1, to: this.edge() };
  }

  oldest(): number {
    return 1;
  }
}

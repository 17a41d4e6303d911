import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../net/ports.ts';
import { killAtExit, temporaryFolder } from '../process/at-exit.ts';
import { type Program, startProgram } from '../process/program.ts';
import { readStore } from '../weather/weather-kept.ts';
import {
  type JetstreamPlace,
  metricOf,
  type Peer,
  processorSeconds,
  servesSubscriptions,
  startJetstream,
  startNetwork,
} from './peers.ts';
import { argsOf, endpointOf, type Files, isReading, type Wire, wiresOf } from './scene.ts';

/** Rate that the network cannot reach, so that it sends as fast as it can. */
const unreachable = 100_000;
/** Duration of the live measurement, in seconds: in less time, much of the cost is that of code which is not compiled yet. */
const liveSeconds = 30;
/** Time in which a reader reaches the present, in milliseconds. */
const settleMs = 4_000;
/** Greatest share of Jetstream's processor time that Almanac should need for the same events. */
const limit = 1 / 3;
/** Number of times that the history is read over each wire. */
const replays = 5;

type Print = (line: string) => void;

/** Processor time of both programs for the same events, in seconds. */
interface Cost {
  readonly events: number;
  readonly almanac: number;
  readonly jetstream: number;
}

/**
 * Measures the processor time of one instrument and of Jetstream for the same events: live, as fast as the network
 * sends, and in a replay of the history, as fast as Jetstream delivers.
 */
export async function measureProcessorTime(files: Files, print: Print): Promise<void> {
  const { folder: home, remove } = temporaryFolder('processor');
  const cleaning: (() => unknown)[] = [remove];
  try {
    const { peer: network, url } = await startNetwork(files.network, home, { rate: unreachable });
    cleaning.push(() => network.signal('SIGKILL'));
    const [port, debugPort] = [await freePort(), await freePort()];
    const place = { file: files.jetstream, home, relay: url, directory: url, port, debugPort, args: [] };
    const jetstream = await startJetstream(place);
    cleaning.push(() => jetstream.signal('SIGKILL'));
    await servesSubscriptions(place);
    const bench = new Bench(place, jetstream);
    cleaning.push(() => bench.stop());
    print(`A ratio above ${limit.toFixed(2)} is more than a third of Jetstream's own processor time.`);
    print('| what | events | Almanac µs/event | Jetstream µs/event | ratio |\n| --- | ---: | ---: | ---: | ---: |');
    for (const wire of wiresOf(files)) print(lineOf('live', wire, await bench.live(wire)));
    await network.signal('SIGSTOP');
    await wait(settleMs);
    for (const wire of wiresOf(files)) print(lineOf('replay', wire, await bench.replay(wire)));
  } finally {
    for (const clean of cleaning.reverse()) await clean();
  }
}

function lineOf(what: string, { name }: Wire, { events, almanac, jetstream }: Cost): string {
  const each = (processor: number): string => ((processor * 1e6) / events).toFixed(1);
  const ratio = almanac / jetstream;
  const verdict = ratio <= limit ? '' : ', above';
  return `| ${what}, ${name} | ${events} | ${each(almanac)} | ${each(jetstream)} | ${ratio.toFixed(2)}${verdict} |`;
}

/** A Jetstream, and the instrument that is measured with it. */
class Bench {
  readonly #place: JetstreamPlace;
  readonly #jetstream: Peer;
  #program: Program | null = null;

  constructor(place: JetstreamPlace, jetstream: Peer) {
    this.#place = place;
    this.#jetstream = jetstream;
  }

  /** Ends the present instrument. */
  async stop(): Promise<void> {
    await this.#program?.stop();
    this.#program = null;
  }

  /** Measures an instrument at the present, without its start. Its first position is kept for the replay. */
  async live(wire: Wire): Promise<Cost> {
    const folder = this.#folder(wire);
    mkdirSync(folder);
    await this.#start(wire, folder);
    await wait(settleMs);
    await this.stop();
    cpSync(folder, `${folder}-early`, { recursive: true });
    const program = await this.#start(wire, folder);
    await wait(settleMs);
    const stored = async (): Promise<number> => (await metricOf(this.#place, 'jetstream_ingest_next_seq')) ?? 0;
    const [almanac, jetstream, events] = [processorOf(program), processorOf(this.#jetstream), await stored()];
    await wait(liveSeconds * 1000);
    const cost = {
      events: (await stored()) - events,
      almanac: processorOf(program) - almanac,
      jetstream: processorOf(this.#jetstream) - jetstream,
    };
    await this.stop();
    return cost;
  }

  /** Measures instruments that read everything since the first position, minus the cost of a start without history. */
  async replay(wire: Wire): Promise<Cost> {
    const folder = this.#folder(wire);
    const counted = (path: string): number =>
      readStore(path, endpointOf(this.#place, wire.protocol)).rows.reduce((sum, { events }) => sum + events, 0);
    const before = counted(`${folder}-early`);
    const cost = { events: 0, almanac: 0, jetstream: 0 };
    for (let round = 0; round < replays; round += 1) {
      rmSync(folder, { recursive: true });
      cpSync(`${folder}-early`, folder, { recursive: true });
      const full = await this.#run(wire, folder);
      const idle = await this.#run(wire, folder);
      cost.events += counted(folder) - before;
      cost.almanac += full.almanac - idle.almanac;
      cost.jetstream += full.jetstream - idle.jetstream;
    }
    return cost;
  }

  async #run(wire: Wire, folder: string): Promise<Omit<Cost, 'events'>> {
    const jetstream = processorOf(this.#jetstream);
    const program = await this.#start(wire, folder);
    await this.#isSettled();
    const cost = { almanac: processorOf(program), jetstream: processorOf(this.#jetstream) - jetstream };
    await this.stop();
    return cost;
  }

  /** Resolves once Jetstream has sent everything that it has stored, and the instrument has had time to read it. */
  async #isSettled(): Promise<void> {
    for (let before = -1, sent = 0; before !== sent; ) {
      before = sent;
      await wait(settleMs);
      sent = (await metricOf(this.#place, 'jetstream_subscribe_events_sent_total')) ?? 0;
    }
  }

  #folder({ name }: Wire): string {
    return join(this.#place.home, `instrument-${name.replace(', ', '-')}`);
  }

  async #start(wire: Wire, folder: string): Promise<Program> {
    const address = `ws://127.0.0.1:${this.#place.port}`;
    this.#program = startProgram([...argsOf(wire, address, folder), '--backfill-hours', '1']);
    killAtExit(this.#program.child);
    await isReading(this.#program);
    return this.#program;
  }
}

function processorOf({ child }: Pick<Program, 'child'>): number {
  return processorSeconds(child.pid);
}

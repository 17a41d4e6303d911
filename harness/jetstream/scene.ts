import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { SmallDisk } from '../faults/small-disk.ts';
import { freePort } from '../net/ports.ts';
import { atExit, killAtExit, temporaryFolder } from '../process/at-exit.ts';
import { type Program, startProgram } from '../process/program.ts';
import { until } from '../process/until.ts';
import { readStore } from '../weather/weather-kept.ts';
import { AlteredRelay } from './altered-relay.ts';
import { type Comparison, compare } from './compare.ts';
import { FirehoseWitness } from './firehose-witness.ts';
import {
  type JetstreamPlace,
  type NetworkOptions,
  type Peer,
  processorSeconds,
  servesSubscriptions,
  startJetstream,
  startNetwork,
} from './peers.ts';
import { type Protocol, paths, StreamWitness } from './stream-witness.ts';

/** Time without a new event after which the network counts as quiet, in milliseconds. */
const quietMs = 2_000;

/** Paths of the foreign files. */
export interface Files {
  readonly jetstream: string;
  readonly network: string;
  /** Network with adversarial traffic, or null to leave its cases out. */
  readonly adversary: string | null;
  /** Dictionary of Jetstream's legacy protocol, or null to leave the compressed legacy protocol out. */
  readonly dictionary: string | null;
}

/** One way to observe a Jetstream. */
export interface Wire {
  readonly name: string;
  readonly protocol: Protocol;
  readonly args: readonly string[];
}

/** One instrument of a scene. */
interface Instrument {
  readonly wire: Wire;
  readonly folder: string;
  program: Program;
  /** Starts the program again on the same directory. */
  restart(): void;
}

/** Result of one instrument in one scene. */
export interface SceneResult extends Comparison {
  readonly wire: string;
  /** Number of unobserved seconds between the first observed moment and the relay's last event. */
  readonly gapSeconds: number;
  /** Frames that are not events, and ends of connections, that the witness of this protocol saw. */
  readonly notices: string;
  readonly processorUs: number;
}

/** The real network, a real Jetstream, the witnesses, and an instrument for each wire. */
export interface Scene {
  readonly home: string;
  readonly place: JetstreamPlace;
  readonly network: Peer;
  readonly relay: FirehoseWitness;
  /** The relay between the network and Jetstream, or null if Jetstream reads the network itself. */
  readonly altered: AlteredRelay | null;
  /** The disk of Jetstream's directory, or null if the directory is on the existing disk. */
  readonly disk: SmallDisk | null;
  readonly witnesses: Readonly<Record<Protocol, StreamWitness>>;
  readonly instruments: readonly Instrument[];
  jetstream: Peer;
  /** Starts Jetstream again on the same directory and ports. */
  restartJetstream(): Promise<void>;
}

/** Settings of a scene. */
export interface SceneOptions extends NetworkOptions {
  readonly jetstreamArgs?: readonly string[];
  /** True if Jetstream reads the network through a relay that the case can alter. */
  readonly altered?: boolean;
  /** True if Jetstream does not send all events of its relay in this case. */
  readonly leavesOut?: boolean;
  /** Size of the file system of Jetstream's directory, in megabytes. By default it is the directory of the case. */
  readonly diskMb?: number;
  /** True if Jetstream looks for further accounts at the end of its download. By default it does not. */
  readonly discovery?: boolean;
  /** True if the instruments start after Jetstream serves events and the witnesses are connected. */
  readonly startsLate?: boolean;
  /** Arguments of each instrument's first start. By default it reads nothing that Jetstream received earlier. */
  readonly firstArgs?: readonly string[];
}

/** Runs `act` in a scene, waits until everything has arrived, and compares each instrument with the relay. */
export async function runScene(
  files: Files,
  options: SceneOptions,
  act: (scene: Scene) => Promise<void>,
): Promise<SceneResult[]> {
  const { folder: home, remove } = temporaryFolder('jetstream');
  const cleaning: (() => unknown)[] = [remove];
  try {
    const scene = await startScene(files, home, options, cleaning);
    await act(scene);
    return await endScene(scene, options);
  } finally {
    for (const clean of cleaning.reverse()) await clean();
  }
}

async function startScene(
  files: Files,
  home: string,
  options: SceneOptions,
  cleaning: (() => unknown)[],
): Promise<Scene> {
  const program = options.adversity === undefined ? files.network : (files.adversary ?? '');
  const { peer: network, url } = await startNetwork(program, home, options);
  cleaning.push(() => network.signal('SIGKILL'));
  const altered = options.altered === true ? await AlteredRelay.start(url) : null;
  cleaning.push(() => altered?.stop());
  const relayUrl = altered?.url ?? url;
  const relay = await FirehoseWitness.connect(relayUrl);
  cleaning.push(() => relay.stop());
  const [port, debugPort] = [await freePort(), await freePort()];
  const args = [...(options.discovery === true ? [] : ['--skip-merge-discovery']), ...(options.jetstreamArgs ?? [])];
  const disk = options.diskMb === undefined ? null : mountedDisk(join(home, 'jetstream'), options.diskMb, cleaning);
  const place = { file: files.jetstream, home, relay: relayUrl, directory: relayUrl, port, debugPort, args };
  const jetstream = await startJetstream(place);
  const scene = { home, place, network, relay, altered, disk, jetstream };
  const current = { jetstream };
  cleaning.push(() => current.jetstream.signal('SIGKILL'));
  const address = `ws://127.0.0.1:${port}`;
  const connect = () => ({
    legacy: new StreamWitness(address, 'legacy'),
    current: new StreamWitness(address, 'current'),
  });
  const early = options.startsLate === true ? connect() : null;
  if (early !== null) {
    await servesSubscriptions(place);
    await wait(quietMs);
  }
  const instruments = wiresOf(files).map((wire) =>
    startInstrument(wire, address, home, options.firstArgs ?? ['--backfill-hours', '0']),
  );
  cleaning.push(() => Promise.all(instruments.map(({ program }) => program.kill())));
  const started: Scene = {
    ...scene,
    instruments,
    witnesses: early ?? connect(),
    async restartJetstream() {
      current.jetstream = await startJetstream(place);
      started.jetstream = current.jetstream;
    },
  };
  for (const witness of Object.values(started.witnesses)) cleaning.push(() => witness.stop());
  await servesSubscriptions(place);
  await Promise.all(instruments.map(({ program }) => isReading(program)));
  return started;
}

/** Mounts a disk that also the exit of this process removes. Requires root. */
function mountedDisk(path: string, megabytes: number, cleaning: (() => unknown)[]): SmallDisk {
  const disk = SmallDisk.mount(path, megabytes);
  if (disk === null) throw new Error('a case with a small disk requires root');
  const keep = atExit(() => disk.unmount());
  cleaning.push(() => {
    keep();
    disk.unmount();
  });
  return disk;
}

/** Returns the ways to observe a Jetstream for which the files exist. */
export function wiresOf({ dictionary }: Files): Wire[] {
  const legacy = { name: 'legacy', protocol: 'legacy', args: [] } as const;
  const packed = {
    name: 'legacy, zstd',
    protocol: 'legacy',
    args: ['--jetstream-dictionary', dictionary ?? ''],
  } as const;
  return [
    legacy,
    ...(dictionary === null ? [] : [packed]),
    { name: 'current', protocol: 'current', args: [] },
    { name: 'current, zstd', protocol: 'current', args: ['--jetstream-compress'] },
  ];
}

function startInstrument(wire: Wire, address: string, home: string, firstArgs: readonly string[]): Instrument {
  const folder = join(home, wire.name.replace(', ', '-'));
  mkdirSync(folder);
  const start = (more: readonly string[] = []): Program => {
    const program = startProgram([...argsOf(wire, address, folder), '--publish-seconds', '1', ...more]);
    killAtExit(program.child);
    return program;
  };
  const instrument: Instrument = {
    wire,
    folder,
    program: start(firstArgs),
    restart() {
      instrument.program = start();
    },
  };
  return instrument;
}

/** Returns the arguments of an instrument that observes the Jetstream at an address over a wire. */
export function argsOf(wire: Wire, address: string, folder: string): string[] {
  const url = wire.protocol === 'legacy' ? `${address}/subscribe` : address;
  return ['weather', '--jetstream', url, '--data', folder, '--allow-loopback', ...wire.args];
}

/** Resolves once an instrument has connected. */
export async function isReading({ stderr }: Program): Promise<void> {
  await until('the instrument is connected', () => stderr.some((line) => line.includes('"connected')));
}

async function endScene(scene: Scene, { leavesOut = false }: SceneOptions): Promise<SceneResult[]> {
  await scene.network.signal('SIGSTOP');
  await isQuiet(scene);
  for (const witness of Object.values(scene.witnesses)) witness.restart();
  await isQuiet(scene);
  if (scene.relay.problems.length > 0) throw new Error(`the witness failed: ${scene.relay.problems[0]}`);
  const results: SceneResult[] = [];
  for (const { program, wire, folder } of scene.instruments) {
    const seconds = processorSeconds(program.child.pid);
    const code = await program.stop();
    const kept = readStore(folder, endpointOf(scene.place, wire.protocol));
    const witness = scene.witnesses[wire.protocol];
    const compared = compare(sentOver(wire.protocol, scene.relay.events), witness.sent, kept, leavesOut);
    const ended = `the instrument ended with ${code}: ${program.stderr.slice(-3).join(' ').slice(-600)}`;
    const problems = code === 0 ? compared.problems : [ended, ...compared.problems];
    const lastUs = [...scene.relay.events.values()].at(-1)?.arrivedUs ?? 0;
    const endUs = Math.max(lastUs, kept.observed.at(-1)?.to ?? 0);
    const span = kept.observed.length === 0 ? 0 : (endUs - kept.fromUs) / 1e6;
    const processorUs = Math.round((seconds * 1e6) / Math.max(1, compared.published));
    results.push({
      ...compared,
      problems,
      wire: wire.name,
      gapSeconds: span - kept.observedSeconds,
      notices: [...new Set(witness.notices.map((notice) => notice.slice(0, 80)))].join('; '),
      processorUs,
    });
  }
  return results;
}

/** Returns the relay's events that a protocol carries: the legacy one has no `sync`. */
function sentOver(protocol: Protocol, events: FirehoseWitness['events']): FirehoseWitness['events'] {
  return protocol === 'current' ? events : new Map([...events].filter(([, { what }]) => what !== 'sync'));
}

/** Returns the name of the series of a Jetstream that is read over a protocol. */
export function endpointOf({ port }: JetstreamPlace, protocol: Protocol): string {
  return `ws://127.0.0.1:${port}${paths[protocol]}`;
}

/** Resolves once no event has arrived for some seconds. */
export async function isQuiet({ relay, witnesses }: Pick<Scene, 'relay' | 'witnesses'>): Promise<void> {
  const total = (): number => relay.events.size + witnesses.legacy.frames + witnesses.current.frames;
  for (let before = -1; before !== total(); ) {
    before = total();
    await wait(quietMs);
  }
}

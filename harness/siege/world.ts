import { type ChildProcess, fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DnsServer } from '../../sim/dns/server.ts';
import { hostileZone } from '../../sim/dns/zone.ts';
import type { Sim } from '../../sim/index.ts';
import type { HostileIdentity, Kind } from '../../sim/labelers/hostile/attack.ts';
import { makeChurnedKeys } from '../../sim/labelers/hostile/churned-keys.ts';
import { crowdDocument } from '../../sim/labelers/hostile/crowd.ts';
import { soundDocument } from '../../sim/labelers/hostile/identities.ts';
import { kinds as everyKind } from '../../sim/labelers/hostile/kinds/index.ts';
import type { HostileAddresses } from '../../sim/labelers/hostile/network.ts';
import { SigningKey } from '../../sim/labelers/signing-key.ts';
import { slowDisk } from '../faults/shim.ts';
import { freePort } from '../net/ports.ts';
import { atExit, killAtExit, temporaryFolder } from '../process/at-exit.ts';
import { startServer } from '../process/program.ts';
import { honestNetwork } from './honest.ts';
import type { HostileAnswer, HostileCommand } from './hostile-process.ts';
import { Instrument } from './instrument.ts';
import type { SiegeOptions } from './options.ts';
import { canReplaceNameServer } from './unit-limits.ts';

/** All participants of a siege. */
export interface World {
  readonly sim: Sim;
  /** DIDs of the honest labelers. */
  readonly honest: ReadonlySet<string>;
  /** Kinds of hostile labelers in the siege. */
  readonly kinds: readonly Kind[];
  readonly names: boolean;
  readonly attackers: Attackers;
  readonly instrument: Instrument;
  readonly metricsPort: number;
  readonly store: string;
  readonly artifacts: string;
  /** Starts the facts process. Resolves with its address. */
  serveFacts(): Promise<string>;
  /** Starts the attack: relays list all labelers, and the documents of hostile labelers become hostile. */
  attack(): Promise<void>;
  turn(): Promise<void>;
  end(): Promise<void>;
  /** Stops all participants and removes all directories. */
  clear(): Promise<void>;
}

/** Starts all participants except the instrument. */
export async function buildWorld(options: SiegeOptions): Promise<World> {
  const cleanups: (() => unknown)[] = [];
  const clear = async (): Promise<void> => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  };
  try {
    return await build(options, cleanups, clear);
  } catch (error) {
    await clear();
    throw error;
  }
}

async function build(options: SiegeOptions, cleanups: (() => unknown)[], clear: () => Promise<void>): Promise<World> {
  const { seed, hostile, honest: labelers, labelRate } = options;
  const { folder, remove } = temporaryFolder('siege');
  cleanups.push(remove);
  const [store, artifacts] = [join(folder, 'store'), join(folder, 'artifacts')];
  const nameServer = await startNameServer(folder);
  if (nameServer) cleanups.push(() => nameServer.stop());
  const kinds = everyKind.filter(
    ({ name, needsNames }) => (options.kinds?.includes(name) ?? true) && (nameServer !== null || !needsNames),
  );
  const sim = honestNetwork(seed, labelers, labelRate);
  cleanups.push(() => sim.stop());
  const { plc, relays, seeds } = await sim.start();
  const honest = new Set(sim.labelers.list.map(({ did }) => did));
  const attackers = new Attackers();
  cleanups.push(() => attackers.stop());
  const { labelers: identities, ...hostileAt } = await attackers.start({
    ...{ seed, count: hostile, kinds: kinds.map(({ name }) => name), names: nameServer !== null },
    port: await freePort(),
    lateShare: options.lateShare,
    floodBytesPerSecond: options.floodMegabytesPerSecond * 1e6,
    bystanders: [...honest],
  });
  const isHostile = { early: false, late: false };
  await describeHostile(sim, identities, kinds, ({ late }) => (late ? isHostile.late : isHostile.early));
  const list = (late: boolean): void => {
    for (const { dids } of sim.labelers.relays) {
      dids.push(...identities.filter((one) => one.late === late).map(({ did }) => did));
    }
  };
  list(true);
  const metricsPort = await freePort();
  const instrument = new Instrument(
    [
      ...['labels', '--store', `sqlite:${store}`, '--artifacts', artifacts, '--seeds', seeds ?? ''],
      ...[...relays, hostileAt.relay].flatMap((relay) => ['--relay', relay]),
      ...['--plc', plc ?? '', '--jetstream', hostileAt.jetstream, '--allow-loopback', '--publish-seconds', '5'],
      ...['--discovery-seconds', '20', '--metrics-port', String(metricsPort)],
      ...['--disk-budget-megabytes-per-day', String(options.diskBudgetMegabytes)],
    ],
    nameServer?.resolvConf ?? null,
    options.syncMs === 0 ? {} : slowDisk(folder, options.syncMs),
  );
  cleanups.push(() => instrument.kill());
  // An interrupted siege must not leave the instrument behind.
  cleanups.push(atExit(() => instrument.killNow()));
  return {
    ...{ sim, honest, kinds, names: nameServer !== null, attackers, instrument, metricsPort, store, artifacts, clear },
    serveFacts: async () => {
      const facts = await startServer(['facts', '--artifacts', artifacts, '--port', '0']);
      cleanups.push(() => facts.stop());
      killAtExit(facts.child);
      return facts.url;
    },
    attack: async () => {
      isHostile.early = true;
      list(false);
      await attackers.send('attack');
    },
    turn: async () => {
      isHostile.late = true;
      await attackers.send('turn');
    },
    end: async () => {
      isHostile.early = false;
      isHostile.late = false;
      await attackers.send('end');
    },
  };
}

/**
 * Makes the directory serve the documents of hostile labelers, including the changes that their kinds make during the
 * attack.
 */
async function describeHostile(
  { labelers: { directory } }: Sim,
  identities: readonly HostileIdentity[],
  kinds: readonly Kind[],
  isHostile: (one: HostileIdentity) => boolean,
): Promise<void> {
  await makeChurnedKeys();
  const multikey = await new SigningKey('k256', 'hostile').multikey();
  const known = new Map(identities.map((one) => [one.did, one]));
  const kindOf = new Map(kinds.map((kind) => [kind.name, kind]));
  directory.others = (did, asked) => {
    const one = known.get(did);
    if (one === undefined) return crowdDocument(did);
    const sound = soundDocument(one, multikey);
    const describe = isHostile(one) ? kindOf.get(one.kind)?.describe : undefined;
    return describe ? describe(sound, one, asked) : sound;
  };
}

/** A name server for the hostile zone, and a resolv.conf that makes a process use it. */
interface NameServer {
  readonly resolvConf: string;
  stop(): Promise<void>;
}

/**
 * Starts a name server. Resolves with null if this user is not permitted to listen on port 53 or to replace a process's
 * /etc/resolv.conf.
 */
async function startNameServer(folder: string): Promise<NameServer | null> {
  if (!canReplaceNameServer()) return null;
  const server = new DnsServer(hostileZone);
  const address = `127.53.${(process.pid >> 8) & 255}.${process.pid & 255 || 1}`;
  try {
    await server.start(address, 53);
  } catch {
    await server.stop();
    return null;
  }
  const resolvConf = join(folder, 'resolv.conf');
  writeFileSync(resolvConf, `nameserver ${address}\n`);
  return { resolvConf, stop: () => server.stop() };
}

type Answer<Kind extends HostileAnswer['kind']> = Extract<HostileAnswer, { kind: Kind }>;

/** Controls the process that runs the hostile network. */
class Attackers {
  readonly #child: ChildProcess;
  readonly #waiting: ((answer: HostileAnswer) => void)[] = [];

  constructor() {
    this.#child = fork(join(import.meta.dirname, 'hostile-process.ts'), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child.on('message', (answer: HostileAnswer) => this.#waiting.shift()?.(answer));
    this.#child.on('exit', () => {
      for (const answer of this.#waiting.splice(0)) answer({ kind: 'failed', why: 'the hostile process exited' });
    });
  }

  /** Starts all listeners of the hostile network. */
  async start(options: Omit<Extract<HostileCommand, { do: 'start' }>, 'do'>): Promise<HostileAddresses> {
    return this.#ask({ do: 'start', ...options }, 'started');
  }

  /** Starts or ends the attack, or makes the late labelers hostile. */
  async send(command: 'attack' | 'turn' | 'end'): Promise<void> {
    await this.#ask({ do: command }, 'done');
  }

  /** Returns the number of requests that each kind received, and the number of flooded bytes. */
  report(): Promise<Answer<'report'>> {
    return this.#ask({ do: 'report' }, 'report');
  }

  /** Stops the process that runs the hostile network. */
  async stop(): Promise<void> {
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await gone;
  }

  async #ask<Kind extends HostileAnswer['kind']>(command: HostileCommand, kind: Kind): Promise<Answer<Kind>> {
    const answer = await new Promise<HostileAnswer>((resolve) => {
      this.#waiting.push(resolve);
      this.#child.send(command);
    });
    if (answer.kind !== kind)
      throw new Error(`the hostile network failed: ${answer.kind === 'failed' ? answer.why : answer.kind}`);
    return answer as Answer<Kind>;
  }
}

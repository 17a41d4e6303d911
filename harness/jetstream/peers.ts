import { readdirSync, readFileSync } from 'node:fs';
import { freePort } from '../net/ports.ts';
import { killAtExit } from '../process/at-exit.ts';
import { type Program, startCommand } from '../process/program.ts';
import { until } from '../process/until.ts';

/** Maximum time until a program responds, which creates or downloads repositories first, in milliseconds. */
const startMs = 480_000;

/** A running foreign program. */
export interface Peer extends Program {
  /** Sends a signal and, unless the signal only suspends or resumes, waits for the exit. */
  signal(name: 'SIGTERM' | 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void>;
}

/** Starts a program. All settings come from its arguments: the environment contains only `PATH` and `HOME`. */
export function startPeer(file: string, args: readonly string[], home: string): Peer {
  const program = startCommand(file, args, { cwd: home, env: { PATH: '', HOME: home } });
  const { child } = program;
  killAtExit(child);
  return {
    ...program,
    async signal(name) {
      if (child.exitCode === null && child.signalCode === null) child.kill(name);
      if (name === 'SIGTERM' || name === 'SIGKILL') await program.ended();
    },
  };
}

/** Returns the processor time that the threads of a process have used, in seconds. */
export function processorSeconds(pid: number | undefined): number {
  if (pid === undefined) return 0;
  const folder = `/proc/${pid}/task`;
  // The times of the threads are exact, while that of the process is counted in units of 10 ms.
  return readdirSync(folder).reduce((sum, thread) => {
    const time = readFileSync(`${folder}/${thread}/schedstat`, 'utf8').split(' ')[0];
    return sum + Number(time) / 1e9;
  }, 0);
}

/** Settings of the real network. */
export interface NetworkOptions {
  /** Mean number of events per second. */
  readonly rate: number;
  readonly accounts?: number;
  /** Number of records that each account has before the first event. */
  readonly records?: number;
  /** Number of events that the relay keeps for consumers that resume. */
  readonly history?: number;
  /** Mean number of adversarial frames per second. It requires the network of `adversary/main.go`. */
  readonly adversity?: number;
}

/** Starts Jetstream's own simulator of a network: a directory, a host and a relay on one port. */
export async function startNetwork(file: string, home: string, options: NetworkOptions) {
  const port = await freePort();
  const { rate, accounts = 100, records = 5, history = 100_000, adversity } = options;
  const peer = startPeer(
    file,
    [
      ...(adversity === undefined ? ['--log-format', 'text', 'serve'] : ['--adversity', String(adversity)]),
      ...['--addr', `127.0.0.1:${port}`, '--data-dir', `${home}/network`],
      ...['--accounts', String(accounts), '--commits-per-sec', String(rate), '--firehose-history', String(history)],
      ...(adversity === undefined ? ['--initial-records-per-account', String(records)] : []),
    ],
    home,
  );
  const url = `http://127.0.0.1:${port}`;
  await answers(peer, `${url}/xrpc/com.atproto.sync.listHosts`);
  return { peer, url };
}

/** Addresses of a Jetstream, which stay the same when it restarts. */
export interface JetstreamPlace {
  readonly file: string;
  readonly home: string;
  readonly relay: string;
  readonly directory: string;
  readonly port: number;
  readonly debugPort: number;
  readonly args: readonly string[];
}

/** Starts a Jetstream. Resolves once it responds, which may be before it serves subscriptions. */
export async function startJetstream(place: JetstreamPlace): Promise<Peer> {
  const peer = startPeer(
    place.file,
    [
      ...['--log-format', 'text', 'serve', '--addr', `127.0.0.1:${place.port}`],
      ...['--debug-addr', `127.0.0.1:${place.debugPort}`, '--relay-url', place.relay, '--plc-url', place.directory],
      ...['--data-dir', `${place.home}/jetstream`, ...place.args],
    ],
    place.home,
  );
  await answers(peer, `http://127.0.0.1:${place.debugPort}/healthz`);
  return peer;
}

/** Returns the sum of the samples of a metric, or null if Jetstream has no such metric. */
export async function metricOf({ debugPort }: Pick<JetstreamPlace, 'debugPort'>, name: string) {
  const text = await (await fetch(`http://127.0.0.1:${debugPort}/metrics`)).text();
  const samples = text.split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return samples.length === 0 ? null : samples.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

/** Resolves once Jetstream accepts subscriptions: before, it responds with 503. */
export async function servesSubscriptions({ port }: Pick<JetstreamPlace, 'port'>): Promise<void> {
  await until(
    'Jetstream accepts subscriptions',
    async () => {
      const response = await fetch(`http://127.0.0.1:${port}/subscribe`).catch(() => null);
      return response?.status === 426;
    },
    startMs,
  );
}

/** Resolves once something responds at a URL. Rejects with the program's last lines if it ends first. */
export async function answers(peer: Peer, url: string): Promise<void> {
  await until(
    `${url} responds`,
    async () => {
      const { exitCode } = peer.child;
      const lines = [...peer.stdout, ...peer.stderr];
      if (exitCode !== null) throw new Error(`the program ended with ${exitCode}:\n${lines.slice(-20).join('\n')}`);
      return (await fetch(url).catch(() => null)) !== null;
    },
    startMs,
  );
}

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { accountPaths } from '../../contract/identifiers.ts';
import { OperatorError } from '../../ops/errors.ts';
import type { LogLevel } from '../../ops/log.ts';
import { optionalText } from '../../ops/setting.ts';
import type { Command } from '../command.ts';
import { takeDemoFolder } from '../demo-folder.ts';
import { assertFree, basePath, type Running, serveUntilStopped } from '../serve.ts';
import { labelStoreIn } from '../shared-settings.ts';
import type { SampleAccount } from '../sim/label-history.ts';
import { type SupervisedPart, startPart } from '../up/supervisor.ts';
import { metricsPorts, type ObservatoryValues, observatoryParts, observatorySettings } from '../up/up.ts';

const demoSettings = {
  data: optionalText('data', 'DIR', 'data directory, emptied at each start; default: a temporary directory'),
  ...observatorySettings,
};

/** `almanac demo`: the observatory over a simulated network with a simulated history. */
export const demoCommand: Command<typeof demoSettings> = {
  summary: 'the observatory over a simulated network with a simulated history, marked as simulated everywhere',
  operands: '',
  settings: demoSettings,
  run(values, { args, env, print }) {
    return serveUntilStopped({
      start: async (_, asked) => {
        // Check the base path and the ports before the data of an earlier demo is deleted.
        basePath(values.basePath);
        await assertFree(values.host, { port: values.port, 'account-port': values.accountPort });
        for (let place = 0; values.metricsPort !== null && place < metricsPorts; place += 1) {
          await assertFree('127.0.0.1', { 'metrics-port': values.metricsPort + place });
        }
        const folder = await takeDemoFolder(values.data);
        // Load this module on demand, because other commands do not need the schemas of the artifacts.
        const { openLog, startObservatory } = await import('../up/observatory.ts');
        const log = openLog('demo', values.logLevel, folder.path, env);
        const started: Running[] = [];
        const stop = async (): Promise<void> => {
          for (const one of started.reverse()) await one.stop();
          log.close();
          folder.release();
        };
        try {
          print('almanac demo: simulating a network and its history; none of the data is real');
          const network = await startDemoNetwork(folder.path, values.logLevel, log.stderr, asked);
          started.push(network);
          started.push(
            await startObservatory({
              name: 'demo',
              data: folder.path,
              endpoints: [network.jetstream],
              // A simulated network has no external hosts to check.
              tryHosts: async () => [],
              parts: await demoParts({ ...values, data: folder.path }, args, network),
              remarks: (urls) => [
                'SIMULATED: none of this data is real',
                ...['labelers', 'archive'].map((path) => `${path.padEnd(9)}${urls.get('facts') ?? ''}/${path}`),
                ...network.accounts.map(({ did, shows }) => `account  ${pageOf(did, urls.get('account'))}  ${shows}`),
              ],
              print,
              log,
              asked,
            }),
          );
          return { stop, failed: network.failed };
        } catch (error) {
          await stop();
          throw error;
        }
      },
    });
  },
};

/** Returns the URL of an account's page, or only its DID if the account part is not listening. */
function pageOf(did: string, url: string | undefined): string {
  return url === undefined ? did : `${url}${accountPaths.account}?did=${did}`;
}

/**
 * Returns the processes of a demo. They observe the simulated network and use only the files of the demo, regardless of
 * variables and the config file.
 */
export async function demoParts(
  values: ObservatoryValues,
  args: readonly string[],
  { jetstream, plc, relay, seeds, accounts, archive, archived }: Omit<DemoNetwork, keyof Running>,
): Promise<SupervisedPart[]> {
  // Load this module on demand, because it loads node:crypto, which other commands do not need.
  const { artifactNames } = await import('../../artifact/write.ts');
  const samples = accounts.flatMap(({ did, shows }) => ['--sample-account', `${did} ${shows}`]);
  const fileOf = (artifact: keyof typeof artifactNames): string =>
    join(values.data, 'artifacts', artifactNames[artifact]);
  return observatoryParts(values, args, {
    ...{ archive, archiveKey: `${archive}.key`, archiveFollows: archived },
    linksAccounts: true,
    facts: [
      ...['--labels-artifact', fileOf('labels'), '--labelers-artifact', fileOf('labelers')],
      ...['--weather-artifact', fileOf('weather'), ...samples],
    ],
    account: ['--secret-file', join(values.data, 'account-secret'), '--plc', plc, ...samples],
    weather: ['--jetstream', jetstream, '--allow-loopback', '--backfill-hours', '1', '--publish-seconds', '5'],
    labels: [
      ...['--jetstream', jetstream, '--allow-loopback', '--plc', plc, '--relay', relay, '--seeds', seeds],
      ...['--min-free-megabytes', '64', '--publish-seconds', '5'],
    ],
  });
}

/** Parameters of the demo's simulated network. */
const network = { seed: 1, rate: 120, labelers: 12, labelRate: 0.02, historyHours: 26 * 24 } as const;
/** Time after which a network process that does not stop is killed, in milliseconds. */
const killAfterMs = 1_000;

/**
 * The simulated network of a demo, which runs in a separate process, and the history that was written for the
 * instruments.
 */
interface DemoNetwork extends Running {
  readonly jetstream: string;
  readonly plc: string;
  readonly relay: string;
  /** Path of the seeds file. */
  readonly seeds: string;
  /** Sample accounts with descriptions of their labels. */
  readonly accounts: readonly SampleAccount[];
  /** Directory of the archive, which already contains its first hour. */
  readonly archive: string;
  /** Resolves with true when the archive of the past is complete, or with false if it could not be written. */
  readonly archived: Promise<boolean>;
  /** Rejects if the network process exits, because the instruments would then observe nothing. */
  readonly failed: Promise<never>;
}

/**
 * Starts the network, writes its history into the stores of a directory, and begins the archive of that history.
 * Rejects if a stop is requested during startup.
 */
async function startDemoNetwork(
  data: string,
  logLevel: LogLevel,
  stderr: 'inherit' | number,
  asked: AbortSignal,
): Promise<DemoNetwork> {
  const { seed, rate } = network;
  const endUs = Math.floor(Date.now() / 1000) * 1_000_000;
  const sim = startSim(data, logLevel, stderr);
  const archive = join(data, 'archive');
  let past: Past | null = null;
  let stopping = false;
  const failed = new Promise<never>((_resolve, reject) => {
    sim.process.once('exit', () => {
      if (!stopping) reject(new OperatorError('the simulated network exited; start the demo again'));
    });
  });
  failed.catch(() => undefined);
  const stop = async (): Promise<void> => {
    stopping = true;
    await Promise.all([past?.stop(), sim.stop(killAfterMs)]);
  };
  const giveUp = (): void => void stop();
  asked.addEventListener('abort', giveUp);
  try {
    asked.throwIfAborted();
    const addresses = parse(await sim.nextLine());
    const jetstream = textOf(addresses, 'jetstream');
    past = startPast({ data, archive, endpoint: jetstream, endUs, seed, rate }, stderr);
    // The network process writes the label history itself while another process writes the weather history.
    const [line] = await Promise.all([sim.nextLine(), past.weather]);
    const { accounts } = parse(line);
    asked.throwIfAborted();
    await past.beginArchive();
    return {
      jetstream,
      plc: textOf(addresses, 'plc'),
      relay: textOf(addresses, 'relay'),
      seeds: textOf(addresses, 'seeds'),
      accounts: Array.isArray(accounts) ? (accounts as SampleAccount[]) : [],
      archive,
      archived: past.archived,
      failed,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  } finally {
    asked.removeEventListener('abort', giveUp);
  }
}

/** Starts the network process, which writes the label history of its labelers into the store in `data`. */
function startSim(data: string, logLevel: LogLevel, stderr: 'inherit' | number) {
  const { seed, rate, labelers, labelRate, historyHours } = network;
  const numbers = { seed, rate, labelers, 'label-rate': labelRate, 'history-hours': historyHours };
  return startPart(
    {
      name: 'sim',
      args: [
        ...Object.entries(numbers).flatMap(([flag, number]) => [`--${flag}`, String(number)]),
        ...['--label-history', labelStoreIn(data), '--host', '127.0.0.1', '--log-level', logLevel],
      ],
    },
    stderr,
  );
}

function parse(line: string | null): Readonly<Record<string, unknown>> {
  if (line === null) throw new OperatorError('the simulated network could not start');
  return JSON.parse(line) as Readonly<Record<string, unknown>>;
}

function textOf(addresses: Readonly<Record<string, unknown>>, name: string): string {
  const value = addresses[name];
  if (typeof value !== 'string') throw new Error(`the simulated network has no ${name}`);
  return value;
}

/** Arguments of the process that writes the past of a demo. */
export interface PastOrder {
  /** Directory of the demo. */
  readonly data: string;
  /** Directory of the archive. */
  readonly archive: string;
  /** Endpoint of the simulated host, in the form that the weather instrument stores. */
  readonly endpoint: string;
  /** End of the past, in microseconds. */
  readonly endUs: number;
  /** Parameters of the simulated host. */
  readonly seed: number;
  readonly rate: number;
}

/**
 * Messages of the process: `weather` once the weather store is written, `begun` once the archive contains its first
 * hour.
 */
export type PastMessage = 'weather' | 'begun';

/** The running process that writes the past of a demo. */
interface Past {
  /** Resolves when the weather store is written. Rejects if the process exits first. */
  readonly weather: Promise<void>;
  /**
   * Starts the archive. The label store must already be written. Resolves after the archive's first hour; rejects if
   * the process exits first.
   */
  beginArchive(): Promise<void>;
  /** Resolves with true when the archive is complete, and with false if the process failed or was stopped. */
  readonly archived: Promise<boolean>;
  stop(): Promise<void>;
}

/**
 * Node.js flags. Simulating many hours creates garbage, for which the runtime would otherwise keep 100 MB of memory.
 */
const memoryFlags = ['--max-semi-space-size=4'] as const;

/** Starts the process. Its log goes to `stderr`: inherited, or a file descriptor. */
function startPast(order: PastOrder, stderr: 'inherit' | number): Past {
  // The module is .js in the compiled program, and .ts in the sources.
  const file = new URL(`./past-process${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url);
  const child = fork(file, [JSON.stringify(order)], {
    execArgv: [...memoryFlags],
    stdio: ['ignore', 'ignore', stderr, 'ipc'],
    // Use a separate process group, so that Ctrl-C in the terminal reaches only the demo.
    detached: true,
  });
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', resolve);
    // A process that could not be started emits no exit event.
    child.once('error', () => resolve(null));
  });
  const weather = messageOf(child, 'weather', ended);
  const begun = messageOf(child, 'begun', ended);
  for (const promise of [weather, begun]) promise.catch(() => undefined);
  return {
    weather,
    async beginArchive() {
      child.send('archive');
      await begun;
    },
    archived: ended.then((code) => code === 0),
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function messageOf(child: ChildProcess, message: PastMessage, ended: Promise<unknown>): Promise<void> {
  const stop = new AbortController();
  const received = async (): Promise<void> => {
    for (;;) {
      const [one] = (await once(child, 'message', { signal: stop.signal })) as [unknown];
      if (one === message) return;
    }
  };
  const failed = ended.then(() => {
    throw new OperatorError('the simulated history of the demo could not be written');
  });
  try {
    await Promise.race([received(), failed]);
  } finally {
    stop.abort();
  }
}

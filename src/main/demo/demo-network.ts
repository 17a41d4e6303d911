import { join } from 'node:path';
import { OperatorError } from '../../ops/errors.ts';
import type { LogLevel } from '../../ops/log.ts';
import type { Running } from '../serve.ts';
import type { SampleAccount } from '../sim/sample-accounts.ts';
import { storeOf } from '../up/observatory-parts.ts';
import { type PartProcess, startPart } from '../up/part-process.ts';
import { type Past, startPast } from './past/past.ts';

/** Parameters of the demo's simulated network. */
const network = { seed: 1, rate: 120, labelers: 12, labelRate: 0.02, historyHours: 26 * 24 } as const;
/** Time after which a network process that does not stop is killed, in milliseconds. */
const killAfterMs = 1_000;

/**
 * The simulated network of a demo, which runs in a separate process, and the history that was written for the
 * instruments.
 */
export interface DemoNetwork extends Running {
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
export async function startDemoNetwork(
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
function startSim(data: string, logLevel: LogLevel, stderr: 'inherit' | number): PartProcess {
  const { seed, rate, labelers, labelRate, historyHours } = network;
  const numbers = { seed, rate, labelers, 'label-rate': labelRate, 'history-hours': historyHours };
  return startPart(
    {
      name: 'sim',
      args: [
        ...Object.entries(numbers).flatMap(([flag, number]) => [`--${flag}`, String(number)]),
        ...['--label-history', storeOf(data), '--host', '127.0.0.1', '--log-level', logLevel],
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

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { OperatorError, systemWords } from '../../ops/errors.ts';
import { errorFields, type Log } from '../../ops/log.ts';
import { packageRoot } from '../command.ts';

/** Delays before restarts, in milliseconds. The delay doubles after each exit, up to the cap. */
const restart = { firstMs: 500, capMs: 30_000 } as const;
/** Uptime after which the restart delay is reset, in milliseconds. */
const recoveredMs = 60_000;
/**
 * Time after which a part that does not stop is killed, in milliseconds. Instruments stop before servers. The sum of
 * both times is less than the time after which a service manager kills the observatory.
 */
const killAfterMs = { instrument: 4_500, server: 3_000 } as const;

/** A part with its role. Servers are stopped after the instruments, because the instruments write a last artifact. */
export interface SupervisedPart extends Part {
  readonly kind: 'instrument' | 'server';
  /** Part that must be ready before this part starts, and the flag that passes the other part's URL to this part. */
  readonly after?: { readonly part: string; readonly urlFlag: string };
  /**
   * Work that must finish before this part starts. Requires `after`. The observatory counts as ready without this part.
   */
  readonly follows?: Promise<unknown>;
}

/** Dependencies of a supervisor. */
interface Supervision {
  readonly log: Log;
  /** Destination of the parts' stderr: inherited, or a file descriptor. */
  readonly stderr: 'inherit' | number;
  /** Called with each message that a part sends on its channel. */
  readonly onMessage: (name: string, message: unknown) => void;
  /** Aborts if the observatory is to stop, also while its parts are starting. */
  readonly asked: AbortSignal;
}

/** State of a part for the display: name, activity, and number of restarts. */
export interface PartState {
  readonly name: string;
  readonly state: 'running' | 'starting' | 'waiting';
  readonly restarts: number;
}

/** The running parts of an observatory. */
export interface Supervised {
  /** First line of each part that became ready, by name. */
  readonly ready: ReadonlyMap<string, string>;
  /** URLs of the parts that listen, by name. */
  readonly urls: ReadonlyMap<string, string>;
  states(): readonly PartState[];
  stop(): Promise<void>;
}

/**
 * Runs each part as a separate process. If a part cannot start, all parts are stopped and the promise rejects; the
 * part itself reports the reason. A part with `follows` is started again instead. If `asked` aborts during the start,
 * all parts are stopped, and the promise rejects unless every part was already ready. A part that exits after it was
 * ready is restarted with increasing delays, while the other parts continue. If the system refuses to start it again,
 * the start is retried with the same delays.
 */
export async function supervise(parts: readonly SupervisedPart[], options: Supervision): Promise<Supervised> {
  const children = parts.map((part) => new ChildSupervisor(part, options));
  let stopped: Promise<void> | null = null;
  // A part must not receive a second signal while it stops.
  const stop = (): Promise<void> => (stopped ??= stopInOrder(children));
  const giveUp = (): void => void stop();
  options.asked.addEventListener('abort', giveUp);
  if (options.asked.aborted) giveUp();
  const ready = new Map<string, string>();
  const urls = new Map<string, string>();
  try {
    const lines = await Promise.all(startedInOrder(children));
    for (const [index, { name }] of parts.entries()) {
      const line = lines[index] ?? null;
      if (line === null) continue;
      ready.set(name, line);
      const url = listeningAt(line);
      if (url !== null) urls.set(name, url);
    }
  } catch (error) {
    await stop();
    throw error;
  } finally {
    options.asked.removeEventListener('abort', giveUp);
  }
  return { ready, urls, states: () => children.map((child) => child.state()), stop };
}

/** Stops the instruments and then the servers. Starts and restarts no part after the call. */
async function stopInOrder(children: readonly ChildSupervisor[]): Promise<void> {
  for (const child of children) child.endRestarts();
  for (const kind of ['instrument', 'server'] as const) {
    await Promise.all(children.filter(({ part }) => part.kind === kind).map((child) => child.stop()));
  }
}

/**
 * Starts each part after the part named in its `after`. Each promise resolves with the part's first line, or with null
 * if the part also waits for other work.
 */
function startedInOrder(children: readonly ChildSupervisor[]): Promise<string | null>[] {
  const begun = new Map<string, Promise<string | null>>();
  const begin = (child: ChildSupervisor): Promise<string | null> => {
    const { name } = child.part;
    const line = begun.get(name) ?? beginAfter(child);
    begun.set(name, line);
    return line;
  };
  const beginAfter = async (child: ChildSupervisor): Promise<string | null> => {
    const { after, follows } = child.part;
    if (!after) return child.start([]);
    const before = children.find(({ part }) => part.name === after.part);
    const url = listeningAt((before && (await begin(before))) ?? '');
    const more = url === null ? [] : [after.urlFlag, url];
    if (!follows) return child.start(more);
    child.startLater(follows, more);
    return null;
  };
  return children.map(begin);
}

/** Runs one part and restarts it when it exits. */
class ChildSupervisor {
  readonly part: SupervisedPart;
  readonly #options: Supervision;
  #args: readonly string[];
  #current: PartProcess | null = null;
  #waiting: NodeJS.Timeout | null = null;
  #isRestarting = true;
  #restarts = 0;
  #state: PartState['state'] = 'starting';
  #pauseMs: number = restart.firstMs;

  constructor(part: SupervisedPart, options: Supervision) {
    this.part = part;
    this.#options = options;
    this.#args = part.args;
  }

  state(): PartState {
    return { name: this.part.name, state: this.#state, restarts: this.#restarts };
  }

  /**
   * Starts the part with further arguments. Resolves with the first line that the part prints. Rejects with
   * OperatorError if the part cannot be started, or exits before it prints a line.
   */
  async start(more: readonly string[]): Promise<string> {
    const { name } = this.part;
    // Do not start this part if another part could not start.
    if (!this.#isRestarting) throw new OperatorError(`almanac ${name} was not started`);
    this.#args = [...more, ...this.#args];
    const launched = this.#launch();
    const line = await launched.nextLine();
    if (line === null) throw new OperatorError(`almanac ${name} could not start`);
    this.#state = 'running';
    this.#args = pinned(this.#args, line);
    this.#watch(launched);
    return line;
  }

  /** Starts the part with further arguments once `work` has finished, and retries if the part cannot start. */
  startLater(work: Promise<unknown>, more: readonly string[]): void {
    void work.then(() => this.start(more)).catch((error: unknown) => this.#retry(error));
  }

  /** Stops restarting the part: if it exits after this call, it is not started again. */
  endRestarts(): void {
    this.#isRestarting = false;
    if (this.#waiting) clearTimeout(this.#waiting);
  }

  async stop(): Promise<void> {
    await this.#current?.stop(killAfterMs[this.part.kind]);
  }

  #launch(): PartProcess {
    const { name, nodeFlags = [] } = this.part;
    const launched = startPart({ name, args: this.#args, nodeFlags }, this.#options.stderr);
    launched.process.on('message', (message) => this.#options.onMessage(name, message));
    this.#current = launched;
    this.#state = 'starting';
    return launched;
  }

  #watch({ process: watched }: PartProcess): void {
    // Use a monotonic clock, because the wall clock may be set.
    const since = performance.now();
    const died = (code: number | null, signal: string | null): void => {
      if (!this.#isRestarting) return;
      if (performance.now() - since >= recoveredMs) this.#pauseMs = restart.firstMs;
      const fields = { part: this.part.name, code, signal, inMs: this.#restartSoon() };
      this.#options.log.error('a component exited and is being restarted', fields);
    };
    // The part may have exited between its first line and this point.
    if (watched.exitCode !== null || watched.signalCode !== null) died(watched.exitCode, watched.signalCode);
    else watched.once('exit', died);
  }

  /** Schedules a restart. Returns the delay in milliseconds. */
  #restartSoon(): number {
    const inMs = this.#pauseMs;
    this.#state = 'waiting';
    this.#waiting = setTimeout(() => {
      // A process that could not be started emits no `exit`.
      this.#restart().catch((error: unknown) => this.#retry(error));
    }, inMs);
    this.#pauseMs = Math.min(inMs * 2, restart.capMs);
    return inMs;
  }

  /** Schedules a restart of a part that could not be started. */
  #retry(error: unknown): void {
    if (!this.#isRestarting) return;
    const inMs = this.#restartSoon();
    this.#options.log.error('a component could not start and will be retried', {
      part: this.part.name,
      inMs,
      ...errorFields(error),
    });
  }

  async #restart(): Promise<void> {
    this.#restarts += 1;
    const launched = this.#launch();
    this.#watch(launched);
    const line = await launched.nextLine();
    if (line === null) return;
    this.#state = 'running';
    this.#options.log.info('a component is running again', { part: this.part.name });
  }
}

/** Returns the address in a server's first line of output, or null for any other line. */
function listeningAt(line: string): string | null {
  return /listening on (\S+)$/.exec(line)?.[1] ?? null;
}

/** Returns the arguments with the port from the part's first line, so that a restarted part keeps its URL. */
function pinned(args: readonly string[], line: string): readonly string[] {
  // The host may be an IPv6 address in brackets, which contains colons.
  const port = /listening on https?:\/\/[^\s/]+:(\d+)(?:\/\S*)?$/.exec(line)?.[1];
  return port === undefined ? args : args.map((word, i) => (word === '0' && args[i - 1] === '--port' ? port : word));
}

/** One process of an observatory, which runs a command of this program. */
interface Part {
  readonly name: string;
  readonly args: readonly string[];
  /** Flags for the Node runtime. Defaults to none. */
  readonly nodeFlags?: readonly string[];
}

/** The running process of a part. */
interface PartProcess {
  readonly process: ChildProcess;
  /**
   * Returns the next line of stdout, or null if the process ended first. Rejects with OperatorError if the process could
   * not be started.
   */
  nextLine(): Promise<string | null>;
  /**
   * Sends a stop signal, and kills the process if it has not exited after `killAfterMs`. Resolves once it has exited.
   */
  stop(killAfterMs: number): Promise<void>;
}

/**
 * Starts a part. Its log goes to `stderr`: inherited, or a file descriptor. Throws OperatorError if the system refuses the
 * process at once; if it does so later, `nextLine` rejects.
 */
export function startPart(part: Part, stderr: 'inherit' | number): PartProcess {
  const refused = (error: unknown): OperatorError =>
    new OperatorError(`almanac ${part.name} could not be started: ${systemWords(error)}`);
  let child: ChildProcess;
  try {
    child = spawnPart(part, stderr);
  } catch (error) {
    throw refused(error);
  }
  const { promise: notStarted, reject } = Promise.withResolvers<never>();
  notStarted.catch(() => undefined);
  child.on('error', (error) => {
    if (child.pid === undefined) reject(refused(error));
  });
  const lines = child.stdout ? createInterface({ input: child.stdout })[Symbol.asyncIterator]() : null;
  return {
    process: child,
    async nextLine() {
      const next = await (child.pid === undefined ? notStarted : lines?.next());
      return next === undefined || next.done === true ? null : next.value;
    },
    async stop(killAfterMs) {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      const kill = setTimeout(() => child.kill('SIGKILL'), killAfterMs);
      await gone;
      clearTimeout(kill);
    },
  };
}

function spawnPart({ name, args, nodeFlags = [] }: Part, stderr: 'inherit' | number): ChildProcess {
  const bin = join(packageRoot(), 'bin', 'almanac.mjs');
  return spawn(process.execPath, [...nodeFlags, bin, name, ...args], {
    // The `ipc` channel closes if this process is killed, which makes the part exit.
    stdio: ['ignore', 'pipe', stderr, 'ipc'],
    // Use a separate process group, so that Ctrl-C in the terminal reaches only this process, which stops the parts in
    // order.
    detached: true,
    env: { ...process.env, __ALMANAC_PARENT: '1' },
  });
}

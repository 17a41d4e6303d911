import { performance } from 'node:perf_hooks';
import { OperatorError } from '../../ops/errors.ts';
import type { Log } from '../../ops/log.ts';
import { type Part, type PartProcess, startPart } from './part-process.ts';

/** Delays before restarts: doubled after each exit, up to the cap; in milliseconds. */
const restart = { firstMs: 500, capMs: 30_000 } as const;
/** Uptime in milliseconds after which the delay is reset. */
const recoveredMs = 60_000;
/**
 * Delays in milliseconds before a stopping part is killed: instruments first, then servers, together within the time of
 * a stop.
 */
const killAfterMs = { instrument: 4_500, server: 3_000 } as const;

/** A part and its role: servers respond until the instruments have written their last artifact. */
export interface SupervisedPart extends Part {
  readonly kind: 'instrument' | 'server';
  /** Starts the part only when another part is ready, with further arguments from that part's first line. */
  readonly after?: { readonly part: string; readonly args: (line: string) => readonly string[] };
}

/** Dependencies of a supervisor. */
export interface Supervision {
  readonly log: Log;
  /** Target of the parts' own logs. */
  readonly stderr: 'inherit' | number;
  /** Called with each message of a part's channel. */
  readonly onMessage: (name: string, message: unknown) => void;
}

/** State of a part. */
export interface PartState {
  readonly name: string;
  readonly state: 'running' | 'starting' | 'waiting';
  readonly restarts: number;
}

/** The running parts of an observatory. */
export interface Supervised {
  /** First line of each part that became ready, by name. */
  readonly ready: ReadonlyMap<string, string>;
  states(): readonly PartState[];
  stop(): Promise<void>;
}

/**
 * Runs each part as a separate process. A part that cannot start reports the reason, and the whole observatory stops. A
 * part that exits later is restarted with growing delays, without effect on the others.
 */
export async function supervise(parts: readonly SupervisedPart[], options: Supervision): Promise<Supervised> {
  const keepers = parts.map((part) => createKeeper(part, options));
  const stop = async (): Promise<void> => {
    for (const keeper of keepers) keeper.keepNoMore();
    for (const kind of ['instrument', 'server'] as const) {
      await Promise.all(keepers.filter(({ part }) => part.kind === kind).map((keeper) => keeper.stop()));
    }
  };
  const ready = new Map<string, string>();
  try {
    const first = new Map(
      keepers.filter(({ part }) => !part.after).map((keeper) => [keeper.part.name, keeper.start([])]),
    );
    const lines = await Promise.all(
      keepers.map(async (keeper) => {
        const { name, after } = keeper.part;
        const line = await first.get(after?.part ?? name);
        return after ? keeper.start(after.args(line ?? '')) : (line ?? '');
      }),
    );
    for (const [index, { name }] of parts.entries()) ready.set(name, lines[index] ?? '');
  } catch (error) {
    await stop();
    throw error;
  }
  return { ready, states: () => keepers.map((keeper) => keeper.state()), stop };
}

function createKeeper(part: SupervisedPart, { log, stderr, onMessage }: Supervision) {
  const { name, kind, nodeFlags = [] } = part;
  let { args } = part;
  let current: PartProcess | null = null;
  let waiting: NodeJS.Timeout | null = null;
  let keeping = true;
  let restarts = 0;
  let state: PartState['state'] = 'starting';
  let pauseMs: number = restart.firstMs;

  function launch(): PartProcess {
    const launched = startPart({ name, args, nodeFlags }, stderr);
    launched.process.on('message', (message) => onMessage(name, message));
    current = launched;
    state = 'starting';
    return launched;
  }

  function watch({ process: watched }: PartProcess): void {
    // Monotonic, because the wall clock may be set.
    const since = performance.now();
    const died = (code: number | null, signal: string | null): void => {
      if (!keeping) return;
      if (performance.now() - since >= recoveredMs) pauseMs = restart.firstMs;
      log.error('a part died and is being restarted', { part: name, code, signal, inMs: pauseMs });
      state = 'waiting';
      waiting = setTimeout(again, pauseMs);
      pauseMs = Math.min(pauseMs * 2, restart.capMs);
    };
    // The part may have exited between its first line and this point.
    if (watched.exitCode !== null || watched.signalCode !== null) died(watched.exitCode, watched.signalCode);
    else watched.once('exit', died);
  }

  function again(): void {
    restarts += 1;
    const launched = launch();
    watch(launched);
    void launched.nextLine().then((line) => {
      if (line === null) return;
      state = 'running';
      log.info('a part is running again', { part: name });
    });
  }

  return {
    part,
    state: (): PartState => ({ name, state, restarts }),
    async start(more: readonly string[]): Promise<string> {
      // Another part could not start while this one waited.
      if (!keeping) throw new OperatorError(`almanac ${name} was not started`);
      args = [...more, ...args];
      const launched = launch();
      const line = await launched.nextLine();
      if (line === null) throw new OperatorError(`almanac ${name} could not start`);
      state = 'running';
      args = pinned(args, line);
      watch(launched);
      return line;
    },
    /** From now on, exited parts are not restarted. */
    keepNoMore(): void {
      keeping = false;
      if (waiting) clearTimeout(waiting);
    },
    async stop(): Promise<void> {
      await current?.stop(killAfterMs[kind]);
    },
  };
}

/** A part that took a free port keeps it, so that its URL stays valid after a restart. */
function pinned(args: readonly string[], line: string): readonly string[] {
  const port = /listening on https?:\/\/\S+?:(\d+)/.exec(line)?.[1];
  return port === undefined ? args : args.map((word, i) => (word === '0' && args[i - 1] === '--port' ? port : word));
}

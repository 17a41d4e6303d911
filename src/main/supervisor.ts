import { performance } from 'node:perf_hooks';
import { OperatorError } from '../ops/errors.ts';
import type { Log } from '../ops/log.ts';
import { type Part, type PartProcess, startPart } from './part-process.ts';

/** Restarts wait this long at first, and twice as long after each death, up to the cap; in milliseconds. */
const restart = { firstMs: 500, capMs: 30_000 } as const;
/** A part that lived this long has recovered: its next restart is quick again. */
const recoveredMs = 60_000;
/** A part that has not stopped by then is killed: instruments, and then servers, both within the time of a stop. */
const killAfterMs = { instrument: 4_500, server: 3_000 } as const;

/** A part and its place in the order: servers answer until the instruments have handed over their last artifact. */
export interface SupervisedPart extends Part {
  readonly kind: 'instrument' | 'server';
  /** Starts only when another part is ready, and is told besides what follows from that part's first line. */
  readonly after?: { readonly part: string; readonly args: (line: string) => readonly string[] };
}

/** Dependencies of a supervisor. */
export interface Supervision {
  readonly log: Log;
  /** Target of the parts' own logs. */
  readonly stderr: 'inherit' | number;
  /** A part said something through its channel. */
  readonly told: (name: string, message: unknown) => void;
}

/** State of a part. */
export interface PartState {
  readonly name: string;
  readonly state: 'running' | 'starting' | 'waiting';
  readonly restarts: number;
}

/** The parts of an observatory, running. */
export interface Supervised {
  /** The line that each part said when it was first ready, by name. */
  readonly ready: ReadonlyMap<string, string>;
  states(): readonly PartState[];
  stop(): Promise<void>;
}

/**
 * Runs each part as a process of its own. A part that cannot start at all has said why, and stops the whole; one
 * that dies later is started again, with growing pauses, and the others never notice.
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

function createKeeper(part: SupervisedPart, { log, stderr, told }: Supervision) {
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
    launched.process.on('message', (message) => told(name, message));
    current = launched;
    state = 'starting';
    return launched;
  }

  function watch({ process: watched }: PartProcess): void {
    // Not the wall clock: it may be set.
    const since = performance.now();
    const died = (code: number | null, signal: string | null): void => {
      if (!keeping) return;
      if (performance.now() - since >= recoveredMs) pauseMs = restart.firstMs;
      log.error('a part died and is being restarted', { part: name, code, signal, inMs: pauseMs });
      state = 'waiting';
      waiting = setTimeout(again, pauseMs);
      pauseMs = Math.min(pauseMs * 2, restart.capMs);
    };
    // It may be gone already: between its first line and this.
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
    /** From now on what ends is not started again. */
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

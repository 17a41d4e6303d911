import { setTimeout as wait } from 'node:timers/promises';
import { type Program, startProgram } from '../process/program.ts';
import type { Link } from './link.ts';

/** A process of the observatory that is restarted when it exits, as its systemd unit specifies. */
export interface KeptProcess {
  readonly name: string;
  readonly link: Link;
  /** Id of the running process; null while no process is running. */
  readonly pid: number | null;
  /** Unexpected exits: the exit code or signal, and the output line that explains the exit. */
  readonly ends: readonly string[];
  /** Returns the log messages of all processes so far. */
  log(): readonly Record<string, unknown>[];
  signal(name: NodeJS.Signals): void;
  /** Stops the process without a restart. Resolves with its exit code or signal. */
  stop(): Promise<number | string>;
}

/** Delay before a restart, in milliseconds, as in the units. */
const restartMs = 2_000;

/** Starts a process and restarts it whenever it exits. */
export function keepProcess(
  name: string,
  link: Link,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): KeptProcess {
  const programs: Program[] = [];
  const ends: string[] = [];
  let isStopping = false;

  function start(): Promise<number | string> {
    const program = startProgram(args, { env });
    programs.push(program);
    return program.ended();
  }

  async function keep(): Promise<number | string> {
    for (;;) {
      const code = await start();
      if (isStopping) return code;
      const reason = (programs.at(-1)?.stderr ?? []).find((line) => !/^(?:\{|\s)/.test(line));
      ends.push(`${code} ${reason ?? ''}`);
      await wait(restartMs);
      if (isStopping) return code;
    }
  }
  const kept = keep();

  const running = (): Program | null => {
    const last = programs.at(-1);
    return last && last.child.exitCode === null && last.child.signalCode === null ? last : null;
  };
  return {
    name,
    link,
    ends,
    get pid() {
      return running()?.child.pid ?? null;
    },
    log: () => programs.flatMap((program) => program.log()),
    signal: (signal) => void running()?.child.kill(signal),
    stop() {
      isStopping = true;
      running()?.child.kill('SIGTERM');
      return kept;
    },
  };
}

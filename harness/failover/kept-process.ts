import { setTimeout as wait } from 'node:timers/promises';
import { type Program, startProgram } from '../process/program.ts';
import type { Link } from './link.ts';

/** A process of the observatory that is started again when it ends, like its unit. */
export interface KeptProcess {
  readonly name: string;
  readonly link: Link;
  /** Process number of the running one; null while none runs. */
  readonly pid: number | null;
  /** Unexpected ends of its processes: exit code or signal, and the line that explains it. */
  readonly ends: readonly string[];
  /** Returns the messages of the log of all of its processes. */
  log(): readonly Record<string, unknown>[];
  signal(name: NodeJS.Signals): void;
  /** Stops it for good. Resolves with the exit code or signal. */
  stop(): Promise<number | string>;
}

/** Delay before the next start, as in the units, in milliseconds. */
const restartMs = 2_000;

/** Starts a process that is kept. */
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

import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const ownBin = fileURLToPath(new URL('../../bin/almanac.mjs', import.meta.url));

/**
 * Maximum time in milliseconds from the start to an announced line, and from SIGTERM to the exit. It is long enough for
 * a busy machine.
 */
const patienceMs = 120_000;

/** A running program, in most cases the built one. */
export interface Program {
  readonly child: ChildProcess;
  /** Lines that the program has printed to stdout so far. */
  readonly stdout: readonly string[];
  /** Lines that the program has printed to stderr so far. */
  readonly stderr: readonly string[];
  /** Returns the parsed log lines in `stderr`. */
  log(): Record<string, unknown>[];
  /**
   * Resolves with the first line of stdout that matches. Rejects with stderr if the program exits first or takes too
   * long.
   */
  line(pattern: RegExp): Promise<string>;
  /** Resolves with the announced address. Rejects as `line` does. */
  listening(): Promise<Address>;
  /** Resolves with the exit code or the signal's name once the program has exited and its output has been read. */
  ended(): Promise<number | string>;
  /** Sends SIGTERM and resolves as `ended` does. Kills a program that does not exit in time, and rejects. */
  stop(): Promise<number | string>;
  /** Sends SIGKILL if the program is running. Resolves once the program has exited. */
  kill(): Promise<void>;
}

/** Address of a server. */
interface Address {
  readonly port: number;
  readonly url: string;
}

/** A program that has announced its address. */
export interface Server extends Program, Address {}

/** Options for starting the program. */
export interface ProgramOptions {
  /** Environment variables in addition to `PATH` and the directory of compiled code. */
  readonly env?: Readonly<Record<string, string>>;
  /** Path of the Node.js binary; defaults to the binary that runs this process. */
  readonly runtime?: string;
  /** Path of the entry point; defaults to the entry point of this repository. */
  readonly bin?: string;
}

/** Starts the built program. The caller must stop it; in a test, use `startProgramInTest`. */
export function startProgram(
  args: readonly string[],
  { env = {}, runtime, bin = ownBin }: ProgramOptions = {},
): Program {
  return startCommand(runtime ?? process.execPath, [bin, ...args], {
    env: { PATH: process.env.PATH ?? '', ...compiledCode(), ...env },
  });
}

/** Starts any program, and reads its output. The caller must stop it. */
export function startCommand(
  command: string,
  args: readonly string[],
  options: Pick<SpawnOptions, 'cwd' | 'env'>,
): Program {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  const stdout: string[] = [];
  const stderr: string[] = [];
  const out = createInterface({ input: child.stdout }).on('line', (line) => stdout.push(line));
  createInterface({ input: child.stderr }).on('line', (line) => stderr.push(line));
  // Wait for the `close` event: output may still arrive after the `exit` event.
  const ended = new Promise<number | string>((resolve, reject) => {
    child.once('error', reject).once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  const isRunning = (): boolean => child.exitCode === null && child.signalCode === null;

  function line(pattern: RegExp): Promise<string> {
    const known = stdout.find((text) => pattern.test(text));
    if (known !== undefined) return Promise.resolve(known);
    return inTime(`a line that matches ${pattern}`, (resolve, reject) => {
      out.on('line', (text) => {
        if (pattern.test(text)) resolve(text);
      });
      ended.then(
        (code) =>
          reject(new Error(`the program exited with ${code} before it printed ${pattern}:\n${stderr.join('\n')}`)),
        reject,
      );
    });
  }

  return {
    child,
    stdout,
    stderr,
    log: () => stderr.filter((text) => text.startsWith('{')).map((text) => JSON.parse(text) as Record<string, unknown>),
    line,
    async listening() {
      const url = /\S+$/.exec(await line(/listening on \S+$/))?.[0] ?? '';
      return { url, port: Number(new URL(url).port) };
    },
    ended: () => ended,
    async stop() {
      child.kill('SIGTERM');
      try {
        return await inTime('the exit', (resolve, reject) => void ended.then(resolve, reject));
      } finally {
        if (isRunning()) child.kill('SIGKILL');
      }
    },
    async kill() {
      if (isRunning()) child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Starts a server command and waits until it has announced its address. */
export async function startServer(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const program = startProgram(args, { env });
  return { ...program, ...(await program.listening()) };
}

/** Runs a command until it exits, and returns its output. Throws if the exit code is not 0. */
export function call(command: string, args: readonly string[], cwd = '/'): string {
  const done = spawnSync(command, args, { encoding: 'utf8', cwd });
  if (done.status === 0) return done.stdout;
  throw new Error(`${command} ${args.join(' ')} failed: ${done.error?.message ?? ''}${done.stderr}${done.stdout}`);
}

/** Returns the variable for the directory of compiled code, if this process uses one. */
function compiledCode(): Readonly<Record<string, string>> {
  const { NODE_COMPILE_CACHE } = process.env;
  return NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE };
}

/** Rejects if the promise does not settle within the maximum time of a start or stop. */
async function inTime<T>(
  what: string,
  executor: (resolve: (value: T) => void, reject: (reason: unknown) => void) => void,
): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  try {
    return await new Promise<T>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`${what} took longer than ${patienceMs} ms`)), patienceMs);
      executor(resolve, reject);
    });
  } finally {
    clearTimeout(timer);
  }
}

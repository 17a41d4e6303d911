import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Enclosure, enclose } from './unit-limits.ts';

const bin = fileURLToPath(new URL('../../bin/almanac.mjs', import.meta.url));

/** Timeout for a stop, in milliseconds, as in the systemd unit. */
const stopTimeoutMs = 15_000;
/** Delay before a restart, in milliseconds, as in the systemd unit. */
const restartMs = 2_000;
/** Number of crashes after which the instrument is no longer restarted. */
const maxCrashes = 10;
/** Maximum number of output lines kept per run. */
const maxLines = 1_000;
/** Maximum duration of a start, in milliseconds. A longer start counts as stuck. */
const startTimeoutMs = 120_000;

/** Interval in which no instrument was observing, in milliseconds of the wall clock. */
export interface Downtime {
  readonly fromMs: number;
  /** Time at which the instrument was observing again. */
  readonly toMs: number;
}

/** An unexpected exit of the instrument. */
export interface Crash {
  /** Exit code, or name of the signal. */
  readonly code: number | string;
  /**
   * First line that looks like an error and is not a log line; without such a line, the last line of output. Limited to
   * 300 characters.
   */
  readonly said: string;
}

/** An exit of the instrument that was requested. */
export interface Stop {
  readonly tookMs: number;
  readonly code: number | string;
}

/**
 * Runs the label instrument as its systemd unit does, with the same limits. A stop sends SIGTERM and, after a timeout,
 * SIGKILL. After a crash, the instrument is restarted, unless it has crashed `maxCrashes` times.
 */
export class Instrument {
  readonly crashes: Crash[] = [];
  readonly stops: Stop[] = [];
  readonly downtimes: Downtime[] = [];
  memory: Enclosure['memory'] = 'heap flag';
  readonly #args: readonly string[];
  readonly #resolvConf: string | null;
  readonly #env: Readonly<Record<string, string>>;
  #child: ChildProcess | null = null;
  #enclosure: Enclosure | null = null;
  #wanted = false;
  #downSinceMs: number | null = null;
  #observingSinceMs: number | null = null;
  #ended: Promise<number | string> = Promise.resolve(0);
  #recovering: Promise<void> = Promise.resolve();
  #lines: string[] = [];

  /**
   * `args` are the arguments of `almanac`. `resolvConf` is a file that replaces /etc/resolv.conf; null keeps the
   * machine's file. `env` are additional environment variables.
   */
  constructor(args: readonly string[], resolvConf: string | null, env: Readonly<Record<string, string>>) {
    this.#args = args;
    this.#resolvConf = resolvConf;
    this.#env = env;
  }

  /** Process id, or null while the instrument is not running. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** Time since which the instrument has been observing, or null while it is not observing. */
  get observingSinceMs(): number | null {
    return this.#observingSinceMs;
  }

  /** True once the instrument has crashed too often to be restarted. */
  get givenUp(): boolean {
    return this.crashes.length >= maxCrashes;
  }

  /**
   * Starts the instrument. Resolves once the instrument is observing, has exited, or has exceeded the timeout of a
   * start.
   */
  async start(): Promise<void> {
    this.#wanted = true;
    await this.#spawn();
  }

  /** Stops the instrument as systemd would. Resolves once it has exited. */
  async stop(): Promise<void> {
    this.#wanted = false;
    await this.#recovering;
    const child = this.#child;
    if (child === null) return;
    const asked = performance.now();
    this.#observingSinceMs = null;
    this.#downSinceMs ??= Date.now();
    child.kill('SIGTERM');
    const killing = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs);
    const code = await this.#ended;
    clearTimeout(killing);
    this.stops.push({ tookMs: Math.round(performance.now() - asked), code });
  }

  /** Kills the instrument without waiting for its exit. */
  killNow(): void {
    this.#wanted = false;
    this.#child?.kill('SIGKILL');
  }

  /** Kills the instrument. Resolves once it has exited. */
  async kill(): Promise<void> {
    this.killNow();
    await this.#ended;
    await this.#recovering;
  }

  async #spawn(): Promise<void> {
    const enclosure = enclose(
      [process.execPath, bin, ...this.#args],
      this.#resolvConf === null ? null : { resolvConf: this.#resolvConf },
    );
    this.#enclosure = enclosure;
    this.memory = enclosure.memory;
    const child = spawn(enclosure.command, enclosure.args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env.PATH ?? '', ...enclosure.env, ...this.#env },
    });
    this.#child = child;
    this.#lines = [];
    this.#ended = new Promise((resolve) => {
      child.once('error', () => resolve('not started'));
      child.once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
    });
    createInterface({ input: child.stderr }).on('line', (line) => this.#keep(line));
    const observing = new Promise<boolean>((resolve) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        this.#keep(line);
        if (line === 'almanac labels observing') resolve(true);
      });
      void this.#ended.then(() => resolve(false));
      setTimeout(() => resolve(false), startTimeoutMs).unref();
    });
    void this.#ended.then((code) => this.#over(child, code));
    if (!(await observing)) return;
    if (this.#downSinceMs !== null) this.downtimes.push({ fromMs: this.#downSinceMs, toMs: Date.now() });
    this.#downSinceMs = null;
    this.#observingSinceMs = Date.now();
  }

  #over(child: ChildProcess, code: number | string): void {
    this.#enclosure?.release();
    if (this.#child === child) this.#child = null;
    this.#observingSinceMs = null;
    if (!this.#wanted) return;
    this.#downSinceMs ??= Date.now();
    this.crashes.push({ code, said: lastOutput(this.#lines) });
    if (this.givenUp) {
      this.#wanted = false;
      return;
    }
    this.#recovering = this.#recover();
  }

  async #recover(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, restartMs));
    if (this.#wanted) await this.#spawn();
  }

  #keep(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > 2 * maxLines) this.#lines = this.#lines.slice(-maxLines);
  }
}

function lastOutput(lines: readonly string[]): string {
  const plain = lines.filter((line) => !line.startsWith('{') && /error|fatal|cannot|RangeError|heap/i.test(line));
  return (plain[0] ?? lines.at(-1) ?? '').slice(0, 300);
}

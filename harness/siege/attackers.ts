import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { HostileAddresses } from '../../sim/labelers/hostile/network.ts';
import type { HostileAnswer, HostileCommand } from './hostile-process.ts';

type Answer<Kind extends HostileAnswer['kind']> = Extract<HostileAnswer, { kind: Kind }>;

/** Controls the process that runs the hostile network. */
export class Attackers {
  readonly #child: ChildProcess;
  readonly #waiting: ((answer: HostileAnswer) => void)[] = [];

  constructor() {
    this.#child = fork(join(import.meta.dirname, 'hostile-process.ts'), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child.on('message', (answer: HostileAnswer) => this.#waiting.shift()?.(answer));
    this.#child.on('exit', () => {
      for (const answer of this.#waiting.splice(0)) answer({ kind: 'failed', why: 'the hostile process exited' });
    });
  }

  /** Starts all listeners of the hostile network. */
  async start(options: Omit<Extract<HostileCommand, { do: 'start' }>, 'do'>): Promise<HostileAddresses> {
    return this.#ask({ do: 'start', ...options }, 'started');
  }

  /** Starts or ends the attack, or makes the late labelers hostile. */
  async send(command: 'attack' | 'turn' | 'end'): Promise<void> {
    await this.#ask({ do: command }, 'done');
  }

  /** Returns the number of requests that each kind received, and the number of flooded bytes. */
  report(): Promise<Answer<'report'>> {
    return this.#ask({ do: 'report' }, 'report');
  }

  /** Process id of the process that runs the hostile network. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Stops the process that runs the hostile network. */
  async stop(): Promise<void> {
    const gone = new Promise((resolve) => this.#child.once('exit', resolve));
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await gone;
  }

  async #ask<Kind extends HostileAnswer['kind']>(command: HostileCommand, kind: Kind): Promise<Answer<Kind>> {
    const answer = await new Promise<HostileAnswer>((resolve) => {
      this.#waiting.push(resolve);
      this.#child.send(command);
    });
    if (answer.kind !== kind)
      throw new Error(`the hostile network failed: ${answer.kind === 'failed' ? answer.why : answer.kind}`);
    return answer as Answer<Kind>;
  }
}

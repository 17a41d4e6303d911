import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { isDeepStrictEqual } from 'node:util';
import type { Operation } from './file-operations.ts';
import type { CallClass, Failure, Injection } from './shim.ts';

/** Outcome of one run with a failed call. */
export interface Outcome {
  readonly nth: number;
  readonly failure: string;
  readonly call: CallClass | null;
  readonly where: string;
  /** The error that the operation threw or reported; null without an error. */
  readonly reported: string | null;
  /** Description of the violated guarantee, or null if every guarantee holds. */
  readonly broken: string | null;
}

/** Thrown to stop a run after a step. */
class Stop extends Error {}

/** Runs one operation in its own directory, and records the states that it may leave. */
export class FaultRun {
  readonly #operation: Operation;
  readonly #template: string;
  readonly #place: string;
  readonly #control: Injection;
  /** States before the first step and after each step. The last state is the state after a complete run. */
  readonly #states: unknown[] = [];

  constructor(operation: Operation, template: string, place: string, control: Injection) {
    this.#operation = operation;
    this.#template = template;
    this.#place = place;
    this.#control = control;
  }

  /** Records the states of a complete run and returns the classes of its system calls. */
  async learn(noFailure: Failure): Promise<readonly CallClass[]> {
    await this.#operation.prepare(this.#template);
    this.#reset();
    this.#states.push(await this.#operation.state(this.#place));
    for (let stop = 1; ; stop++) {
      this.#reset();
      let steps = 0;
      const ended = await this.#run(() => {
        if (++steps === stop) throw new Stop();
      }).then(
        () => true,
        (error: unknown) => {
          if (error instanceof Stop) return false;
          throw error;
        },
      );
      this.#states.push(await this.#operation.state(this.#place));
      if (ended) break;
    }
    this.#reset();
    this.#control.arm(this.#place, 0, noFailure, false);
    await this.#run(() => undefined);
    return this.#control.disarm().calls;
  }

  /**
   * Makes the n-th call fail, checks the state that remains, and then runs the operation again to completion. Returns
   * null if no call failed.
   */
  async fail(nth: number, failure: Failure, onwards: boolean): Promise<Outcome | null> {
    this.#reset();
    let steps = 0;
    this.#control.arm(this.#place, nth, failure, onwards);
    let report: unknown = null;
    const error = await this.#run(
      () => {
        steps += 1;
      },
      (reported) => {
        report ??= reported;
      },
    ).then(
      () => null,
      (thrown: unknown) => thrown ?? new Error('no error was thrown'),
    );
    const met = this.#control.disarm();
    if (met.injected === 0) return null;
    const call = met.calls[nth - 1] ?? null;
    const reported = error ?? report;
    const mustReport = call !== null && failure.name !== 'short write' && this.#operation.reports.includes(call);
    const silent = mustReport && reported === null ? `a failed ${call} call was not reported` : null;
    const broken = silent ?? (await this.#judge(error, steps)) ?? (await this.#repeat());
    return {
      nth,
      failure: onwards ? `${failure.name}, permanently` : failure.name,
      call,
      where: met.where,
      reported: reported === null ? null : describe(reported),
      broken,
    };
  }

  async #judge(error: unknown, steps: number): Promise<string | null> {
    if (error !== null && !this.#operation.isDocumented(error)) return `undocumented error: ${describe(error)}`;
    let state: unknown;
    try {
      state = await this.#operation.state(this.#place);
    } catch (thrown) {
      state = thrown;
    }
    const last = this.#states.length - 1;
    const allowed = error === null ? [last] : [steps, Math.min(steps + 1, last)];
    if (allowed.some((at) => isDeepStrictEqual(state, this.#states[at]))) return null;
    const isMixed = this.#operation.between?.(state, this.#states[0], this.#states[last]);
    if (error !== null && isMixed === null) return null;
    const what =
      error === null ? 'success was reported, but the new state does not exist' : 'the state is neither old nor new';
    return `${what}: ${isMixed ?? (state instanceof Error ? describe(state) : difference(state, this.#states[steps]))}`;
  }

  /** Runs the operation again after a failure. Returns the reason if the repetition fails, otherwise null. */
  async #repeat(): Promise<string | null> {
    try {
      await this.#run(() => undefined);
      const state = await this.#operation.state(this.#place);
      const expected = this.#states.at(-1);
      return isDeepStrictEqual(state, expected)
        ? null
        : `the repeated run left a different state: ${difference(state, expected)}`;
    } catch (error) {
      return `the repeated run failed: ${describe(error)}`;
    }
  }

  /** Runs the operation and converts a synchronous throw to a rejection. */
  async #run(onStep: () => void, onReport: (error: unknown) => void = () => undefined): Promise<void> {
    await this.#operation.run(this.#place, onStep, onReport);
  }

  #reset(): void {
    rmSync(this.#place, { recursive: true, force: true });
    cpSync(this.#template, this.#place, { recursive: true });
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? ` ${String(error.code)}` : '';
  return `${error.name}${code}: ${error.message.split('\n')[0] ?? ''}`;
}

/** Returns the properties in which two objects differ, with the first 300 characters of each value. */
function difference(found: unknown, expected: unknown): string {
  const [a, b] = [found, expected] as Record<string, unknown>[];
  const names = new Set([...Object.keys(a ?? {}), ...Object.keys(b ?? {})]);
  const different = [...names].filter((name) => !isDeepStrictEqual(a?.[name], b?.[name]));
  const of = (value: unknown): string => JSON.stringify(value)?.slice(0, 300) ?? 'undefined';
  return different.map((name) => `${name} is ${of(a?.[name])}, expected ${of(b?.[name])}`).join('; ');
}

/**
 * Runs an operation in a process that has loaded the shim, and resolves with the outcome of each run. Rejects if the
 * process fails.
 */
export async function runOperation(
  name: string,
  shim: Readonly<Record<string, string>>,
  args: readonly string[],
  onOutcome: (outcome: Outcome) => void = () => undefined,
): Promise<Outcome[]> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'process.ts'), name, ...args], {
    env: { ...process.env, ...shim },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close');
  const said = text(child.stderr);
  const outcomes: Outcome[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const outcome = JSON.parse(line) as Outcome;
    outcomes.push(outcome);
    onOutcome(outcome);
  }
  const [code, signal] = (await ended) as [number | null, string | null];
  if (code !== 0)
    throw new Error(`the process that ran the operation ${name} exited with ${code ?? signal}: ${await said}`);
  return outcomes;
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import type { Outcome } from './run.ts';

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

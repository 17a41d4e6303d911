import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { serveUntilStopped } from './serve.ts';

const signals = ['SIGTERM', 'SIGINT'] as const;
let before: ((...args: never[]) => void)[] = [];

beforeEach(() => {
  vi.useFakeTimers();
  before = signals.flatMap((signal) => process.listeners(signal));
});

// A process that failed exits with its listeners for signals; this one continues.
afterEach(() => {
  vi.useRealTimers();
  for (const signal of signals) {
    for (const one of process.listeners(signal)) if (!before.includes(one)) process.off(signal, one);
  }
});

/** A running server whose failure the test causes, and whose stop never ends. */
function stuckServer(): { running: { stop(): Promise<void>; failed: Promise<never> }; fail(error: Error): void } {
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  return { running: { stop: () => new Promise(() => undefined), failed }, fail };
}

it('rejects with the failure of a server even if its stop never ends', async () => {
  const { running, fail } = stuckServer();
  let outcome: unknown = 'still serving';
  void serveUntilStopped({ start: async () => running }).catch((error: unknown) => {
    outcome = error;
  });
  const failure = new Error('the disk is gone');
  fail(failure);
  await vi.runAllTimersAsync();
  expect(outcome).toBe(failure);
});

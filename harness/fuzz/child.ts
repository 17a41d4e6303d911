/**
 * Runs one part of a fuzz run in a process with a small heap: `node harness/fuzz/child.ts ENTRY FROM TO`. Reports the
 * number of each input before reading it, so that an input that crashes the process can be identified. Reports its
 * findings at the end.
 */
import { writeSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { InputName } from '../../src/input/limits.ts';
import { handMade } from './corpus.ts';
import { fuzzEntries, inputAt } from './entries.ts';
import { averageCost, type Cost, excess, minCost } from './measure.ts';

/** Result of reading one part of the inputs. */
export interface Part {
  readonly worst: Cost & { readonly input: string };
  /** Highest cost per byte among inputs of sufficient length. */
  readonly worstPerByte: Cost & { readonly input: string };
  readonly failures: readonly { readonly input: string; readonly why: string }[];
  /** Heap size in bytes before the first input and after the last one, each after a garbage collection. */
  readonly kept: readonly [number, number];
}

/**
 * Minimum length in bytes for an input to count in the cost per byte. The measured cost of a shorter input depends
 * mainly on the precision of the clock.
 */
const minBytesForRate = 1_024;
const warmUp = 200;

const [entry = '', from = '0', to = '0'] = process.argv.slice(2);
if (!Object.hasOwn(fuzzEntries, entry)) throw new Error(`unknown entry point ${entry}`);
const name = entry as InputName;
for (let index = 0; index < warmUp; index += 1) await fuzzEntries[name].run(inputAt(name, 2 ** 30 + index));
globalThis.gc?.();
const before = process.memoryUsage().heapUsed;
const none: Part['worst'] = { bytes: 0, microseconds: 0, heap: 0, input: '' };
let worst = none;
let worstPerByte = none;
const failures: { input: string; why: string }[] = [];

function isWorst({ microseconds }: Cost): boolean {
  return microseconds > worst.microseconds;
}

function isWorstPerByte({ bytes, microseconds }: Cost): boolean {
  return bytes >= minBytesForRate && microseconds * worstPerByte.bytes >= worstPerByte.microseconds * bytes;
}

async function look(label: string, input: { bytes: Uint8Array; coding: string }): Promise<void> {
  writeSync(3, `${label}\n`);
  // Wait for the next turn of the event loop: memory that is freed by then is not a leak.
  await nextTurn();
  try {
    const cost = { ...(await minCost(name, input)), input: label };
    const why = excess(name, cost);
    if (why !== null) failures.push({ input: label, why });
    if (!isWorst(cost) && !isWorstPerByte(cost)) return;
    // Measure again: a single measurement can be off by several milliseconds.
    const average = { ...(await averageCost(name, input)), input: label };
    if (isWorst(average)) worst = average;
    if (isWorstPerByte(average)) worstPerByte = average;
  } catch (error) {
    failures.push({ input: label, why: `threw: ${error instanceof Error ? error.message : String(error)}` });
  }
}

for (const { label, input } of handMade(name)) await look(label, input);
for (let index = Number(from); index < Number(to); index += 1) await look(String(index), inputAt(name, index));
await nextTurn();
globalThis.gc?.();
const part: Part = { worst, worstPerByte, failures, kept: [before, process.memoryUsage().heapUsed] };
writeSync(4, JSON.stringify(part));

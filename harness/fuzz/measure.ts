import { getHeapStatistics } from 'node:v8';
import { type InputName, inputLimits } from '../../src/input/limits.ts';
import type { FuzzInput } from './documents.ts';
import { fuzzEntries } from './entries.ts';

/** Processor time and memory for reading one input. */
export interface Cost {
  readonly bytes: number;
  /** Processor time of the thread, in microseconds. */
  readonly microseconds: number;
  /** Growth of the heap and of external memory, in bytes, before garbage collection. */
  readonly heap: number;
}

/**
 * Fixed part of the heap budget for reading one input, in bytes. The limits on elements keep even an input that expands
 * during decoding within the budget.
 */
const heapFixed = 64 * 1024 * 1024;
/** Heap budget for each byte of an input, in bytes. */
const heapPerByte = 16;
/**
 * Maximum number of measurements. Other load, garbage collection and compilation also take processor time and may
 * distort a measurement.
 */
const tries = 4;
/** Factor for the time budgets: the budgets in the table assume an idle machine. */
const slack = 2;

/** Reads an input through its entry point and returns the cost. */
async function measure(name: InputName, input: FuzzInput): Promise<Cost> {
  const heap = memoryUsed();
  const before = process.threadCpuUsage();
  await fuzzEntries[name].run(input);
  const { user, system } = process.threadCpuUsage(before);
  return { bytes: input.bytes.length, microseconds: user + system, heap: Math.max(0, memoryUsed() - heap) };
}

/**
 * Repeats the measurement while a cost exceeds its budget, up to `tries` measurements. Returns the minimum of each
 * cost.
 */
export async function minCost(name: InputName, input: FuzzInput): Promise<Cost> {
  let least = await measure(name, input);
  for (let i = 1; i < tries && excess(name, least) !== null; i += 1) {
    globalThis.gc?.();
    const again = await measure(name, input);
    const { microseconds, heap } = least;
    least = { ...again, microseconds: Math.min(microseconds, again.microseconds), heap: Math.min(heap, again.heap) };
  }
  return least;
}

/** Minimum total time of a measurement in microseconds. Some systems count processor time in steps of milliseconds. */
const enoughMicroseconds = 40_000;
/** Maximum number of runs of one input in a measurement. */
const maxRepeats = 2_000;

/**
 * Returns the mean processor time and the maximum memory for reading an input. The input is read often enough for a
 * precise measurement.
 */
export async function averageCost(name: InputName, input: FuzzInput): Promise<Cost> {
  let total = 0;
  let heap = 0;
  let runs = 0;
  for (; runs < maxRepeats && total < enoughMicroseconds; runs += 1) {
    const cost = await measure(name, input);
    total += cost.microseconds;
    heap = Math.max(heap, cost.heap);
  }
  return { bytes: input.bytes.length, microseconds: total / runs, heap };
}

/** Returns a description of the exceeded budget, or null if the cost is within the budget of the entry point. */
export function excess(name: InputName, { bytes, microseconds, heap }: Cost): string | null {
  const { fixedMicroseconds, nanosecondsPerByte } = inputLimits[name].cpu;
  const cpu = slack * (fixedMicroseconds + (nanosecondsPerByte * bytes) / 1000);
  if (microseconds > cpu) return `${Math.round(microseconds)} µs of processor time, ${Math.round(cpu)} allowed`;
  const allowed = heapFixed + heapPerByte * bytes;
  return heap > allowed ? `${heap} bytes of memory, ${allowed} allowed` : null;
}

function memoryUsed(): number {
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
}

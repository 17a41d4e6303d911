import { getHeapStatistics } from 'node:v8';
import { type InputName, inputLimits } from '../../src/input/limits.ts';
import { type FuzzInput, fuzzEntries } from './entries.ts';

/** Cost of one input. */
export interface Cost {
  readonly bytes: number;
  /** Processor time of this thread, in microseconds. */
  readonly microseconds: number;
  /** Growth of the heap and of memory outside it, in bytes, before garbage collection. */
  readonly heap: number;
}

/**
 * Maximum heap that reading an input may use: a fixed part in bytes and a part per input byte. The number of elements is
 * bounded, so an input that expands during decoding also stays within this limit.
 */
const heapFixed = 64 * 1024 * 1024;
const heapPerByte = 16;
/** Maximum number of measurements per input: garbage collection, compilation and other load distort a single one. */
const tries = 4;
/** Factor on the processor time budgets, which assume an idle machine. */
const slack = 2;

/** Runs an input through its entry point and measures it. */
export async function measure(name: InputName, input: FuzzInput): Promise<Cost> {
  const heap = memoryUsed();
  const before = process.threadCpuUsage();
  await fuzzEntries[name].run(input);
  const { user, system } = process.threadCpuUsage(before);
  return { bytes: input.bytes.length, microseconds: user + system, heap: Math.max(0, memoryUsed() - heap) };
}

/** Measures again while a cost exceeds its budget; returns the minimum. */
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

/** Minimum total time of a measurement in microseconds: some systems count processor time in steps of milliseconds. */
const enoughMicroseconds = 40_000;
const maxRepeats = 2_000;

/** Returns the cost of an input, averaged over as many runs as the measurement requires. */
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

/** Describes by how much a cost exceeds the budget of its entry point; null if it is within the budget. */
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

import { getHeapStatistics } from 'node:v8';
import { type InputName, inputLimits } from '../../src/input/limits.ts';
import { type FuzzInput, fuzzEntries } from './entries.ts';

/** Processor time and memory for reading one input. */
export interface Cost {
  readonly bytes: number;
  /** Processor time of this thread, in microseconds. */
  readonly microseconds: number;
  /** Growth of the heap and of memory outside it, in bytes, before garbage collection. */
  readonly heap: number;
}

/**
 * Constant part of the heap that an input may use while it is read, in bytes. Another part is proportional to the
 * length of the input. Limits on elements keep even an input that expands during decoding within this budget.
 */
const heapFixed = 64 * 1024 * 1024;
const heapPerByte = 16;
/**
 * Maximum number of attempts. Other load, garbage collection and compilation also take processor time and may spoil
 * one.
 */
const tries = 4;
/** Factor of the time budgets for a shared machine, because the budgets of the table assume an idle one. */
const slack = 2;

/** Runs an input through its entry point and returns the cost. */
export async function measure(name: InputName, input: FuzzInput): Promise<Cost> {
  const heap = memoryUsed();
  const before = process.threadCpuUsage();
  await fuzzEntries[name].run(input);
  const { user, system } = process.threadCpuUsage(before);
  return { bytes: input.bytes.length, microseconds: user + system, heap: Math.max(0, memoryUsed() - heap) };
}

/** Repeats the measurement while a cost exceeds its budget. Returns the minimum of each cost. */
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

/** Minimum measured time in microseconds, because some systems count processor time in steps of milliseconds. */
const enoughMicroseconds = 40_000;
const maxRepeats = 2_000;

/** Returns the cost of an input, averaged over the number of runs that a measurement requires. */
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

/** Returns the reason why a cost exceeds the budget of its entry point, or null if it does not. */
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

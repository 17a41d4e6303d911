/**
 * `npm run fuzz -- [--inputs N] [--state FILE] [--until N] [--entry NAME]`: tests every entry point in the table of
 * input limits with hostile inputs, each in processes with a small heap, and prints the highest costs. With a state
 * file, a run continues where the previous run ended; `--until` limits the total number of inputs over all runs.
 * Exits with 1 if an input exceeds its budget or crashes its process.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import type { Part } from '../harness/fuzz/child.ts';
import { type InputName, inputLimits } from '../src/input/limits.ts';

/** Heap of each process, in MiB. It is an eighth of the memory limit of the label instrument's unit. */
const heapMib = 128;
/**
 * Number of inputs per process. It is large enough to detect a leak, and is the most that an interrupted run can lose.
 */
const inputsPerProcess = 20_000;
/** Maximum heap growth of a process after its inputs, in bytes. */
const maxKept = 16 * 1024 * 1024;

interface State {
  /** Index of the next input for each entry point. */
  readonly next: Partial<Record<string, number>>;
  readonly found: Partial<Record<string, Found>>;
}

interface Found {
  readonly inputs: number;
  readonly worst: Part['worst'];
  readonly worstPerByte: Part['worst'];
  readonly failures: readonly { readonly input: string; readonly why: string }[];
}

const { values } = parseArgs({
  options: {
    inputs: { type: 'string', default: '200000' },
    state: { type: 'string' },
    until: { type: 'string', default: 'Infinity' },
    entry: { type: 'string', multiple: true },
  },
});
const names = Object.keys(inputLimits) as InputName[];
const chosen = values.entry ?? names;
const unknown = chosen.find((name) => !Object.hasOwn(inputLimits, name));
if (unknown !== undefined) throw new Error(`unknown entry point ${unknown}; choose from ${names.join(', ')}`);
const each = Math.ceil(Number(values.inputs) / chosen.length);
if (!(each > 0)) throw new Error('--inputs must be a number above zero');
const lastOfEach = Math.ceil(Number(values.until) / chosen.length);
if (!(lastOfEach > 0)) throw new Error('--until must be a number above zero');

let state: State = { next: {}, found: {} };
if (values.state !== undefined && existsSync(values.state)) {
  state = JSON.parse(readFileSync(values.state, 'utf8')) as State;
}
const began = performance.now();
for (const name of chosen as InputName[]) {
  const start = state.next[name] ?? 0;
  const end = Math.min(start + each, lastOfEach);
  for (let from = start; from < end; from += inputsPerProcess) {
    const to = Math.min(end, from + inputsPerProcess);
    const part = await runPart(name, from, to);
    const found = merge(state.found[name], part, to - from);
    state = { next: { ...state.next, [name]: to }, found: { ...state.found, [name]: found } };
    if (values.state !== undefined) save(values.state);
  }
}

const rows = chosen.map((name) => ({ name, found: state.found[name] }));
console.log('| entry point | inputs | worst input | bytes | CPU ms | worst ns/byte | bytes | failures |');
console.log('|---|--:|---|--:|--:|--:|--:|--:|');
for (const { name, found } of rows) {
  if (!found) continue;
  const { worst, worstPerByte, failures } = found;
  const rate = worstPerByte.bytes === 0 ? 0 : (1_000 * worstPerByte.microseconds) / worstPerByte.bytes;
  const cells = [name, found.inputs, worst.input, worst.bytes, (worst.microseconds / 1_000).toFixed(1)];
  console.log(`| ${[...cells, rate.toFixed(0), worstPerByte.bytes, failures.length].join(' | ')} |`);
}
for (const { name, found } of rows) {
  for (const { input, why } of found?.failures ?? []) console.error(`${name} ${input}: ${why}`);
  if (found && found.failures.length > 0) process.exitCode = 1;
}
console.log(`${Math.round((performance.now() - began) / 1_000)} s`);

async function runPart(name: InputName, from: number, to: number): Promise<Part> {
  const program = join(import.meta.dirname, '../harness/fuzz/child.ts');
  const flags = [`--max-old-space-size=${heapMib}`, '--expose-gc'];
  const child = spawn(process.execPath, [...flags, program, name, String(from), String(to)], {
    stdio: ['ignore', 'inherit', 'pipe', 'pipe', 'pipe'],
  });
  let last = '';
  const [, , errors, progress, result] = child.stdio;
  progress?.on('data', (chunk: Buffer) => {
    last = chunk.toString('latin1').trimEnd().split('\n').at(-1) ?? last;
  });
  const [said, part, code] = await Promise.all([
    errors ? text(errors) : '',
    result ? text(result as NodeJS.ReadableStream) : '',
    new Promise<number | null>((resolve) => child.on('exit', resolve)),
  ]);
  const none: Part['worst'] = { bytes: 0, microseconds: 0, heap: 0, input: '' };
  if (code !== 0 || part === '') {
    const why = `the process exited (${code ?? 'killed'}): ${
      said
        .trim()
        .split('\n')
        .find((line) => /error/i.test(line)) ?? ''
    }`;
    return { worst: none, worstPerByte: none, failures: [{ input: last, why }], kept: [0, 0] };
  }
  const found = JSON.parse(part) as Part;
  const [before, after] = found.kept;
  if (after - before <= maxKept) return found;
  const leak = { input: `${from} to ${to}`, why: `${after - before} bytes were not released` };
  return { ...found, failures: [...found.failures, leak] };
}

function merge(known: Found | undefined, part: Part, inputs: number): Found {
  if (!known) return { ...part, inputs };
  const rate = ({ bytes, microseconds }: Part['worst']): number => (bytes === 0 ? 0 : microseconds / bytes);
  return {
    inputs: known.inputs + inputs,
    worst: part.worst.microseconds > known.worst.microseconds ? part.worst : known.worst,
    worstPerByte: rate(part.worstPerByte) > rate(known.worstPerByte) ? part.worstPerByte : known.worstPerByte,
    failures: [...known.failures, ...part.failures].slice(0, 100),
  };
}

function save(path: string): void {
  writeFileSync(`${path}.new`, JSON.stringify(state, null, 2));
  renameSync(`${path}.new`, path);
}

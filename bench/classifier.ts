/**
 * Compares the classifier with JSON.parse of the same frames, from memory on one core, in one run. The rounds
 * alternate, so that other load affects both equally. Prints one line of JSON.
 */
import { readFileSync } from 'node:fs';
import { createClassifier } from '../src/weather/classify/classify.ts';
import { median } from './stats.ts';

const rounds = 15;
const framesARound = 300_000;

const recorded = readFileSync(new URL('../test/fixtures/jetstream/production_v1.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '');
const frames = framesInOneBuffer(recorded);
const bytes = frames.reduce((sum, frame) => sum + frame.length, 0);
const classify = createClassifier();

function classified(): number {
  let counted = 0;
  for (let i = 0, at = 0; i < framesARound; i += 1) {
    const frame = frames[at];
    if (frame !== undefined && classify(frame).outcome === 'counted') counted += 1;
    at = at + 1 === frames.length ? 0 : at + 1;
  }
  return counted;
}

function parsed(): number {
  let counted = 0;
  for (let i = 0, at = 0; i < framesARound; i += 1) {
    const frame = frames[at];
    if (frame !== undefined) {
      const value = JSON.parse(frame.toString()) as { time_us: number };
      if (value.time_us > 0) counted += 1;
    }
    at = at + 1 === frames.length ? 0 : at + 1;
  }
  return counted;
}

/** Copies frames into slices of one buffer with different alignments, as a socket delivers them. */
function framesInOneBuffer(lines: readonly string[]): Buffer[] {
  const all = Buffer.from(lines.join(''));
  let at = 0;
  return lines.map((line) => {
    const from = at;
    at += Buffer.byteLength(line);
    return all.subarray(from, at);
  });
}

function rate(work: () => number): number {
  const start = performance.now();
  if (work() !== framesARound) throw new Error('the classifier did not count a recorded frame');
  return Math.round((framesARound / (performance.now() - start)) * 1000);
}

rate(classified);
rate(parsed);
const classifierRates: number[] = [];
const parseRates: number[] = [];
for (let round = 0; round < rounds; round += 1) {
  classifierRates.push(rate(classified));
  parseRates.push(rate(parsed));
}
const classifierRate = median(classifierRates);
const parseRate = median(parseRates);
process.stdout.write(
  `${JSON.stringify({
    bench: 'classifier',
    bytes_per_frame: Math.round(bytes / frames.length),
    classifier_per_s: classifierRate,
    json_parse_per_s: parseRate,
    ratio: Number((classifierRate / parseRate).toFixed(2)),
    target: { classifier_per_s: 1_200_000, ratio: 2.5 },
  })}\n`,
);

/**
 * Compares the classifiers of both protocols with JSON.parse on the same frames, from memory on one core. Rounds of a
 * classifier and of JSON.parse alternate, and each ratio compares two neighbouring rounds. Rates are per second of
 * this thread's processor time, so that other processes on the machine hardly affect the rates. Prints one line of
 * JSON for each protocol.
 */
import { loadavg } from 'node:os';
import { type Wire, wires } from '../src/contract/vocabulary.ts';
import { createClassifier } from '../src/weather/classify/classify.ts';
import { createEventsClassifier, ResyncMemory } from '../src/weather/classify/classify-events.ts';

import type { Classifier } from '../src/weather/classify/event-body.ts';
import { inOneBuffer, recordedEvents } from './recorded-events.ts';
import { median } from './stats.ts';

const rounds = 15;
const framesARound = 300_000;
const targets: Readonly<Record<Wire, { readonly ratio: number }>> = {
  'jetstream.legacy': { ratio: 2.9 },
  'jetstream.subscribeEvents': { ratio: 2.5 },
};

function classified(classify: Classifier, frames: readonly Buffer[]): number {
  let counted = 0;
  for (let i = 0, at = 0; i < framesARound; i += 1) {
    const frame = frames[at];
    if (frame !== undefined && classify(frame).outcome === 'counted') counted += 1;
    at = at + 1 === frames.length ? 0 : at + 1;
  }
  return counted;
}

function parsed(frames: readonly Buffer[]): number {
  let counted = 0;
  for (let i = 0, at = 0; i < framesARound; i += 1) {
    const frame = frames[at];
    if (frame !== undefined && isObject(JSON.parse(frame.toString()))) counted += 1;
    at = at + 1 === frames.length ? 0 : at + 1;
  }
  return counted;
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/**
 * Runs `work`, which returns the number of counted frames. Returns the frames per second of this thread's processor
 * time. Throws if a frame was not counted.
 */
function rate(work: () => number): number {
  const { user, system } = process.threadCpuUsage();
  if (work() !== framesARound) throw new Error('the classifier did not count a recorded frame');
  const after = process.threadCpuUsage();
  return Math.round((framesARound / (after.user - user + after.system - system)) * 1e6);
}

function measure(wire: Wire): void {
  const frames = inOneBuffer(recordedEvents(wire));
  const bytes = frames.reduce((sum, frame) => sum + frame.length, 0);
  const classify = wire === 'jetstream.legacy' ? createClassifier() : createEventsClassifier(new ResyncMemory(1));
  const pairs = Array.from({ length: rounds + 1 }, () => [
    rate(() => classified(classify, frames)),
    rate(() => parsed(frames)),
  ]).slice(1);
  const ratios = pairs.map(([ours = 0, others = 1]) => ours / others).sort((a, b) => a - b);
  const rateOf = (which: 0 | 1): number => median(pairs.map((pair) => pair[which] ?? 0));
  process.stdout.write(
    `${JSON.stringify({
      bench: 'classifier',
      wire,
      bytes_per_frame: Math.round(bytes / frames.length),
      classifier_per_cpu_s: rateOf(0),
      json_parse_per_cpu_s: rateOf(1),
      ratio: Number(median(ratios).toFixed(2)),
      ratio_range: [ratios[0], ratios.at(-1)].map((ratio) => Number(ratio?.toFixed(2))),
      load: loadavg()[0],
      target: targets[wire],
    })}\n`,
  );
}

for (const wire of wires) measure(wire);

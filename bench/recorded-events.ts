/** The recorded events of a production host, in the formats of both protocols. */
import { readFileSync } from 'node:fs';
import { subscribeEvents, type Wire } from '../sim/events/wire.ts';

/** Sequence number of the first event in the format of the `subscribeEvents` method. */
const firstSeq = 24_664_288_881;

interface LegacyEvent {
  readonly did: string;
  readonly time_us: number;
  readonly kind: string;
  readonly commit?: object;
}

/**
 * Returns the recorded frames as strings. The keys of `subscribeEvents` frames have the same order as in frames of
 * real hosts.
 */
export function recordedEvents(wire: Wire): string[] {
  const lines = readFileSync(new URL('../test/fixtures/jetstream/production_v1.jsonl', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  return wire === 'jetstream.legacy' ? lines : lines.map(inFormatOfMethod);
}

function inFormatOfMethod(line: string, index: number): string {
  const event = JSON.parse(line) as LegacyEvent & Readonly<Record<string, unknown>>;
  const { did, time_us: timeUs, kind, commit } = event;
  const whole = new Date(Math.floor(timeUs / 1000)).toISOString().slice(0, -1);
  const time = `${whole}${String(timeUs % 1000).padStart(3, '0')}Z`;
  const payload: Readonly<Record<string, unknown>> = {
    ...(commit ?? { [kind]: event[kind] }),
    ...{ did, seq: firstSeq + index, time, witnessedAt: time },
  };
  const sorted = Object.fromEntries(Object.entries(payload).sort(([a], [b]) => (a < b ? -1 : 1)));
  return JSON.stringify({ $type: 'message', payload: { $type: `${subscribeEvents}#${kind}`, ...sorted } });
}

/**
 * Copies frames into one buffer and returns a slice for each frame. As on a socket, the alignments of the slices
 * differ.
 */
export function inOneBuffer(lines: readonly string[]): Buffer[] {
  const all = Buffer.from(lines.join(''));
  let at = 0;
  return lines.map((line) => {
    const from = at;
    at += Buffer.byteLength(line);
    return all.subarray(from, at);
  });
}

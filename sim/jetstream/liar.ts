import { type Dice, dice } from '../random.ts';

/** Converts the payload of a regular frame to the payloads that a lying host sends instead. */
export type Lie = (payload: Uint8Array) => readonly Uint8Array[];

/** Options for a lying host. */
export interface LiarOptions {
  readonly seed: number;
  readonly nowUs: () => number;
}

type Frame = Record<string, unknown>;
type FrameLie = (frame: Frame) => void;

const second = 1_000_000;
const minute = 60 * second;
const day = 86_400 * second;
const largest = Number.MAX_SAFE_INTEGER;

/**
 * Creates a lying host, which sends false values in every field. Times are in 1970, in 2300, one per minute, unsorted,
 * or just within the tolerance for clock errors. Positions jump forward slightly or to the maximum, go backwards, or
 * are times. Kinds are unknown. Frames are empty, large, deeply nested, or not JSON. Some regular frames are sent
 * unchanged among the false ones.
 */
export function createLiar({ seed, nowUs }: LiarOptions): Lie {
  const chance = dice(seed ^ 0x11a5);
  const lies = frameLies(chance, nowUs);
  return (payload) => {
    if (chance.chance(0.2)) return [payload];
    if (chance.chance(0.1)) return [garbage(chance, payload)];
    let frame: Frame;
    try {
      frame = JSON.parse(Buffer.from(payload).toString()) as Frame;
    } catch {
      return [payload];
    }
    for (let n = 1 + chance.below(3); n > 0; n -= 1) chance.pick(lies)(frame);
    const text = Buffer.from(JSON.stringify(frame));
    return chance.chance(0.05) ? [text, text, text] : [text];
  };
}

function frameLies(chance: Dice, nowUs: () => number): readonly FrameLie[] {
  let since1970 = 0;
  let sinceYesterday = 0;
  let forward = 0;
  const time = (tell: () => unknown): FrameLie => {
    return (frame) => {
      frame.time_us = tell();
    };
  };
  const seq = (tell: (honest: number) => unknown): FrameLie => {
    return (frame) => {
      frame.cursor = tell(typeof frame.cursor === 'number' ? frame.cursor : 0);
    };
  };
  const put = (name: string, value: () => unknown): FrameLie => {
    return (frame) => {
      frame[name] = value();
    };
  };
  return [
    time(() => 1),
    time(() => {
      since1970 += minute;
      return since1970;
    }),
    time(() => {
      sinceYesterday = (sinceYesterday + minute) % day;
      return Math.floor(nowUs()) - day + sinceYesterday;
    }),
    time(() => Math.floor(nowUs()) - chance.below(3600) * second),
    time(() => Math.floor(nowUs()) + 59 * second),
    time(() => Date.parse('2300-01-01T00:00:00Z') * 1000),
    time(() => largest),
    time(() => -5),
    time(() => 'yesterday'),
    seq(() => largest),
    seq(() => 1_000_000_000_000_000),
    seq(() => Math.floor(nowUs())),
    seq(() => 1),
    seq((honest) => Math.max(1, honest - 100_000)),
    seq((honest) => honest + 1_000_000_000),
    seq((honest) => {
      forward += 1_000_000;
      return honest + forward;
    }),
    seq(() => ({})),
    put('kind', () => 'k'.repeat(1 + chance.below(100))),
    put('kind', () => ['commit']),
    put('commit', () => null),
    put('commit', () => ({ operation: 'create', collection: 'a'.repeat(5_000) })),
    put('account', () => ({ active: 'yes', status: 7 })),
  ];
}

function garbage(chance: Dice, payload: Uint8Array): Uint8Array {
  const kinds = [
    () => new Uint8Array(0),
    () => Buffer.from('['.repeat(5_000)),
    () => Buffer.from(`{"time_us":${'9'.repeat(5_000)}}`),
    () => payload.subarray(0, payload.length >> 1),
    () => Buffer.from(`{"time_us":1,"padding":"${'x'.repeat(20_000)}"}`),
  ];
  return chance.pick(kinds)();
}

import { zstdCompressSync } from 'node:zlib';
import { type Dice, dice } from '../random.ts';

/** Converts the payload of a regular frame to the payloads that a lying host sends instead. */
type Lie = (payload: Uint8Array) => readonly Uint8Array[];

/** Payload of one message of a compressed stream. */
interface PackedMessage {
  readonly payload: Uint8Array;
  readonly isBinary: boolean;
}

/** A lying host: the payloads that it sends, and how it compresses them on a compressed stream. */
export interface Liar {
  readonly lie: Lie;
  /** Compresses a payload, sometimes falsely. `compress` compresses it as an honest host does. */
  readonly pack: (payload: Uint8Array, compress: (payload: Uint8Array) => Uint8Array) => PackedMessage;
}

/** Options for a lying host. */
interface LiarOptions {
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
 * Creates a lying host, which sends false values in every field of either protocol. Times are in 1970, in 2300, one
 * minute apart, unsorted, or just within the tolerance for clock errors. Positions jump forward slightly or to the
 * maximum, go backwards, or are times. Kinds are unknown. Frames are empty, large, deeply nested, or not JSON. Some
 * regular frames are sent unchanged among the false ones.
 */
export function createLiar({ seed, nowUs }: LiarOptions): Liar {
  return { lie: createLie({ seed, nowUs }), pack: createPacker(dice(seed ^ 0x2bad)) };
}

function createLie({ seed, nowUs }: LiarOptions): Lie {
  const chance = dice(seed ^ 0x11a5);
  const falsehoods = falseValues(chance, nowUs);
  const lies = legacyLies(chance, falsehoods);
  const methodLies = eventLies(chance, falsehoods);
  return (payload) => {
    if (chance.chance(0.2)) return [payload];
    if (chance.chance(0.1)) return [garbage(chance, payload)];
    let frame: Frame;
    try {
      frame = JSON.parse(Buffer.from(payload).toString()) as Frame;
    } catch {
      return [payload];
    }
    const isMethod = frame.$type !== undefined;
    for (let n = 1 + chance.below(3); n > 0; n -= 1) chance.pick(isMethod ? methodLies : lies)(frame);
    const text = Buffer.from(JSON.stringify(frame));
    return chance.chance(0.05) ? [text, text, text] : [text];
  };
}

/** Size to which a false frame of a few bytes expands, in bytes. It is more than a consumer should accept. */
const expandedBytes = 2 * 1024 * 1024;

/**
 * Returns a function that compresses most payloads honestly. The other payloads are sent uncompressed, damaged,
 * compressed twice or without the dictionary, or replaced with a frame that expands to megabytes or requires a window
 * of 128 MiB.
 */
function createPacker(chance: Dice): Liar['pack'] {
  const bomb = zstdCompressSync(Buffer.alloc(expandedBytes, '['));
  // Header with the exponent of the window, then one block of 128 KiB of one byte (RFC 8878).
  const wide = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, (27 - 10) << 3, 0x03, 0x00, 0x10, 0x5b]);
  return (payload, compress) => {
    const honest = compress(payload);
    const falsehoods: readonly (() => PackedMessage)[] = [
      () => ({ payload, isBinary: false }),
      () => ({ payload, isBinary: true }),
      () => ({ payload: honest.subarray(0, honest.length >> 1), isBinary: true }),
      () => ({ payload: altered(honest, chance), isBinary: true }),
      () => ({ payload: honest, isBinary: false }),
      () => ({ payload: zstdCompressSync(payload), isBinary: true }),
      () => ({ payload: compress(honest), isBinary: true }),
      () => ({ payload: Buffer.concat([honest, honest]), isBinary: true }),
      () => ({ payload: new Uint8Array(0), isBinary: true }),
      () => ({ payload: bomb, isBinary: true }),
      () => ({ payload: wide, isBinary: true }),
    ];
    return chance.chance(0.3) ? chance.pick(falsehoods)() : { payload: honest, isBinary: true };
  };
}

/** Returns a copy of the bytes with one of them changed. */
function altered(bytes: Uint8Array, chance: Dice): Uint8Array {
  const copy = Buffer.from(bytes);
  const at = chance.below(copy.length);
  copy[at] = (copy[at] ?? 0) ^ (1 + chance.below(255));
  return copy;
}

/**
 * False values that both protocols can carry: generators of times in microseconds, and functions that falsify an honest
 * number.
 */
interface FalseValues {
  readonly times: readonly (() => unknown)[];
  readonly numbers: readonly ((honest: number) => unknown)[];
}

function falseValues(chance: Dice, nowUs: () => number): FalseValues {
  let since1970 = 0;
  let sinceYesterday = 0;
  let forward = 0;
  return {
    times: [
      () => 1,
      () => {
        since1970 += minute;
        return since1970;
      },
      () => {
        sinceYesterday = (sinceYesterday + minute) % day;
        return Math.floor(nowUs()) - day + sinceYesterday;
      },
      () => Math.floor(nowUs()) - chance.below(3600) * second,
      () => Math.floor(nowUs()) + 59 * second,
      () => Date.parse('2300-01-01T00:00:00Z') * 1000,
      () => largest,
      () => -5,
      () => 'yesterday',
    ],
    numbers: [
      () => largest,
      () => 1_000_000_000_000_000,
      () => Math.floor(nowUs()),
      () => 1,
      (honest) => Math.max(1, honest - 100_000),
      (honest) => honest + 1_000_000_000,
      (honest) => {
        forward += 1_000_000;
        return honest + forward;
      },
      () => ({}),
    ],
  };
}

function put(name: string, value: () => unknown): FrameLie {
  return (frame) => {
    frame[name] = value();
  };
}

function legacyLies(chance: Dice, { times, numbers }: FalseValues): readonly FrameLie[] {
  return [
    ...times.map((time) => put('time_us', time)),
    ...numbers.map((number): FrameLie => {
      return (frame) => {
        frame.cursor = number(typeof frame.cursor === 'number' ? frame.cursor : 0);
      };
    }),
    put('kind', () => 'k'.repeat(1 + chance.below(100))),
    put('kind', () => ['commit']),
    put('commit', () => null),
    put('commit', () => ({ operation: 'create', collection: 'a'.repeat(5_000) })),
    put('account', () => ({ active: 'yes', status: 7 })),
  ];
}

const method = 'network.bsky.jetstream.subscribeEvents';

/** Returns false values for every field of a `subscribeEvents` frame, whose times are datetimes. */
function eventLies(chance: Dice, { times, numbers }: FalseValues): readonly FrameLie[] {
  const inPayload = (lie: FrameLie): FrameLie => {
    return (frame) => {
      if (typeof frame.payload === 'object' && frame.payload !== null) lie(frame.payload as Frame);
    };
  };
  const type = (kind: string): FrameLie => put('$type', () => `${method}#${kind}`);
  return [
    ...[
      ...times.flatMap((time) => {
        const told = (): unknown => datetime(time());
        return [put('witnessedAt', told), put('time', told), alike(told)];
      }),
      ...numbers.map((number): FrameLie => {
        return (payload) => {
          payload.seq = number(typeof payload.seq === 'number' ? payload.seq : 0);
        };
      }),
      put('$type', () => 'k'.repeat(1 + chance.below(100))),
      put('$type', () => ['commit']),
      ...['commit', 'account', 'identity', 'sync', 'info', 'unknown'].map(type),
      put('name', () => chance.pick(['FutureCursor', 'OutdatedCursor', 7])),
      notice(() => chance.pick(['FutureCursor', 'OutdatedCursor', 'Unknown'])),
      put('did', () => chance.pick<unknown>(['', 'did:plc:', 'd'.repeat(5_000), 7])),
      put('operation', () => chance.pick<unknown>(['delete', 'destroy', null])),
      put('collection', () => chance.pick<unknown>(['a'.repeat(5_000), '', []])),
      put('record', () => chance.pick<unknown>([null, 'text', { $type: 7, createdAt: {} }])),
      put('account', () => ({ active: 'yes', status: 7 })),
    ].map(inPayload),
    put('payload', () => null),
    put('payload', () => ['commit']),
    put('$type', () => 'other'),
    put('$type', () => 7),
    (frame) => {
      frame.$type = 'error';
      frame.error = chance.pick(['FutureCursor', 'Unknown', {}]);
    },
  ];
}

/** Sets `time` and `witnessedAt` to the same false time. */
function alike(time: () => unknown): FrameLie {
  return (payload) => {
    payload.time = time();
    payload.witnessedAt = payload.time;
  };
}

/** Replaces an event with a notice of the host. */
function notice(name: () => string): FrameLie {
  return (payload) => {
    for (const key of Object.keys(payload)) delete payload[key];
    payload.$type = `${method}#info`;
    payload.name = name();
  };
}

/** Formats microseconds as a datetime. Returns a value unchanged if no datetime can express it. */
function datetime(time: unknown): unknown {
  if (typeof time !== 'number' || time < 0 || time > 8.64e18) return time;
  return `${new Date(Math.floor(time / 1000)).toISOString().slice(0, -1)}${String(Math.floor(time) % 1000).padStart(3, '0')}Z`;
}

function garbage(chance: Dice, payload: Uint8Array): Uint8Array {
  const kinds = [
    () => new Uint8Array(0),
    () => Buffer.from('['.repeat(5_000)),
    () => Buffer.from(`{"time_us":${'9'.repeat(5_000)}}`),
    () => payload.subarray(0, payload.length >> 1),
    () => Buffer.from(`{"time_us":1,"padding":"${'x'.repeat(20_000)}"}`),
    () => Buffer.from('{"$type":"message"}'),
    () => Buffer.from('{"$type":"error","error":"ConsumerTooSlow"}'),
  ];
  return chance.pick(kinds)();
}

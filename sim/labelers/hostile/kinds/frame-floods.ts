import { errorFrame, garbageFrames, infoFrame, labelsFrame } from '../../wire.ts';
import type { Kind } from '../attack.ts';
import { webSocketFrame } from '../bytes.ts';
import { pageLabels } from '../label-bytes.ts';

/** Repeatedly reports an outdated cursor. The reader must record a gap each time. */
export const outdatedFlood: Kind = {
  name: 'outdated-flood',
  does: 'streams #info OutdatedCursor at full speed',
  attack: () => {
    const frames = repeated(webSocketFrame(infoFrame('OutdatedCursor', '')), 64);
    return { stream: (stream) => stream.flood(() => frames) };
  },
};

/**
 * Sends malformed frames, with occasional valid frames that keep some series of malformed frames within a reader's
 * tolerance.
 */
export const malformedFlood: Kind = {
  name: 'malformed-flood',
  does: 'streams frames that cannot be decoded, with an occasional valid frame',
  attack: () => {
    const garbage = Object.values(garbageFrames).map((one) => webSocketFrame(Buffer.from(one)));
    const sound = webSocketFrame(labelsFrame(7, []));
    const write = Buffer.concat([...garbage, ...garbage.slice(0, 9), sound]);
    return { stream: (stream) => stream.flood(() => write) };
  },
};

/** Sends one message as endless empty fragments, so that the message grows in fragments but not in bytes. */
export const emptyFragments: Kind = {
  name: 'empty-fragments',
  does: 'streams one endless message in empty fragments',
  attack: () => {
    const first = webSocketFrame(Buffer.alloc(0), { final: false });
    const more = repeated(webSocketFrame(Buffer.alloc(0), { opcode: 0, final: false }), 8_192);
    return {
      stream: (stream) => {
        stream.raw(first);
        stream.flood(() => more);
      },
    };
  },
};

/** Sends pings and never reads the pongs. */
export const pingFlood: Kind = {
  name: 'ping-flood',
  does: 'sends pings at full speed and never reads the pongs',
  attack: () => {
    const pings = repeated(webSocketFrame(Buffer.alloc(125), { opcode: 9 }), 256);
    return {
      stream: (stream) => {
        stream.socket.pause();
        stream.flood(() => pings);
      },
    };
  },
};

/** Sends one label and an error on each stream, and then closes it. */
export const flapping: Kind = {
  name: 'flapping',
  does: 'opens the stream, sends one label and an error, and ends it',
  attack: ({ labeler, now }) => {
    let opened = 0;
    return {
      stream: (stream) => {
        opened += 1;
        stream.send(labelsFrame(opened, pageLabels(labeler.did, labeler.did, opened, 1, now())));
        stream.send(errorFrame(opened % 2 === 0 ? 'ConsumerTooSlow' : 'InternalServerError', ''));
        stream.raw(Buffer.alloc(0));
        setTimeout(() => stream.end(), 5).unref();
      },
    };
  },
};

/**
 * Sends a label on streams without a cursor and reports every cursor as lying in the future, as if its database were
 * recreated endlessly.
 */
export const futureCursors: Kind = {
  name: 'future-cursors',
  does: 'responds to every cursor with FutureCursor, so that each connection looks like a reset of its database',
  attack: ({ labeler, now }) => {
    let seq = 0;
    return {
      stream: (stream) => {
        if (stream.cursor !== null) {
          stream.send(errorFrame('FutureCursor', ''));
          setTimeout(() => stream.end(), 5).unref();
          return;
        }
        seq += 1;
        stream.send(labelsFrame(seq, pageLabels(labeler.did, labeler.did, seq, 1, now())));
        setTimeout(() => stream.end(), 200).unref();
      },
    };
  },
};

function repeated(bytes: Buffer, times: number): Buffer {
  return Buffer.concat(Array.from({ length: times }, () => bytes));
}

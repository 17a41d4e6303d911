import type { Kind } from '../attack.ts';
import { deepFrame, wideFrame } from '../bytes.ts';

/** Number of values in a frame, chosen so that the frame is just below the size limit. */
const count = 11_900_000;
/** Nesting depth of the deeply nested frames. */
const depth = 2_000_000;
const items = ['array', 'map', 'integer', 'text'] as const;

/** Sends frames just below the size limit that decode to millions of values. */
export const wideFrames: Kind = {
  name: 'wide-frames',
  does: 'sends 11.9 MB frames of empty arrays, maps, integers or strings, and frames nested two million deep',
  attack: ({ labeler, chance }) => ({
    stream: (stream) => {
      let sent = labeler.index;
      const send = (): void => {
        if (stream.socket.writableLength > 0) return;
        const item = items[sent % items.length] ?? 'array';
        const frame = sent % 5 === 4 ? deepFrame(depth) : wideFrame(item, sent % 2 === 0 ? 'labels' : 'field', count);
        stream.raw(frame);
        sent += 1;
      };
      send();
      stream.every(2_000 + chance.below(1_000), send);
    },
  }),
};

import { encode, toBytes } from '@atcute/cbor';
import type { Kind } from '../attack.ts';
import { webSocketFrame } from '../bytes.ts';

const bytes = 6 * 1024 * 1024;

/** Sends labels that contain a byte string of six megabytes in an unknown field. */
export const longBytes: Kind = {
  name: 'long-bytes',
  does: 'sends labels with a 6 MB byte string in an unknown field',
  attack: ({ labeler, now, chance }) => ({
    stream: (stream) => {
      const label = {
        src: labeler.did,
        uri: labeler.did,
        val: 'spam',
        cts: new Date(now()).toISOString(),
        blob: toBytes(new Uint8Array(bytes)),
      };
      let seq = 0;
      const send = (): void => {
        if (stream.socket.writableLength > 0) return;
        seq += 1;
        stream.raw(webSocketFrame(Buffer.concat([encode({ op: 1, t: '#labels' }), encode({ seq, labels: [label] })])));
      };
      send();
      stream.every(4_000 + chance.below(2_000), send);
    },
  }),
};

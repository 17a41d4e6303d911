import type { Kind } from '../attack.ts';

/** Takes connections and never answers anything. */
export const silent: Kind = {
  name: 'silent',
  does: 'accepts connections and answers neither requests nor handshakes',
  attack: () => ({ page: () => undefined, record: () => undefined, upgrade: () => undefined }),
};

/** Opens the stream and does not even answer pings; pages never come. */
export const halfOpen: Kind = {
  name: 'half-open',
  does: 'opens the stream, then reads and writes nothing; its pages never come',
  attack: () => ({ page: () => undefined, stream: ({ socket }) => socket.pause() }),
};

import type { Kind } from '../attack.ts';

/** Accepts connections and never responds. */
export const silent: Kind = {
  name: 'silent',
  does: 'accepts connections and answers neither requests nor handshakes',
  attack: () => ({ page: () => undefined, record: () => undefined, upgrade: () => undefined }),
};

/** Opens the stream but does not answer pings; pages never arrive. */
export const halfOpen: Kind = {
  name: 'half-open',
  does: 'opens the stream, then reads and writes nothing; its pages never come',
  attack: () => ({ page: () => undefined, stream: ({ socket }) => socket.pause() }),
};

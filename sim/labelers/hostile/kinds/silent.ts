import type { Kind } from '../attack.ts';

/** Accepts connections and never responds. */
export const silent: Kind = {
  name: 'silent',
  does: 'accepts connections and responds neither to requests nor to handshakes',
  attack: () => ({ page: () => undefined, record: () => undefined, upgrade: () => undefined }),
};

/** Opens streams but does not respond to pings. Its pages never arrive. */
export const halfOpen: Kind = {
  name: 'half-open',
  does: 'opens the stream but then neither reads nor writes; its pages never arrive',
  attack: () => ({ page: () => undefined, stream: ({ socket }) => socket.pause() }),
};

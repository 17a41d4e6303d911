import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Dice } from '../../random.ts';

/**
 * Data of a hostile labeler. The process that serves the labeler and the directory that describes it share this data.
 */
export interface HostileIdentity {
  readonly index: number;
  readonly did: string;
  /** Name of the kind of the labeler. */
  readonly kind: string;
  /** True if the labeler behaves well until the command to turn hostile. */
  readonly late: boolean;
  /**
   * Origins that the labeler's document may contain. The document contains the first one, unless the kind of the
   * labeler selects another.
   */
  readonly endpoints: readonly string[];
  /** Origin of the labeler's own PDS. */
  readonly pds: string;
}

/** A received HTTP request with its response. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: URL;
}

/** An open `subscribeLabels` connection. */
export interface HostileStream {
  /** Cursor of the request, or null for live labels. */
  readonly cursor: number | null;
  readonly socket: Duplex;
  readonly open: boolean;
  /** Sends one websocket message. */
  send(payload: Uint8Array): void;
  /** Writes raw bytes below the websocket: whole frames, or parts of one. */
  raw(bytes: Uint8Array): void;
  /** Writes bytes at full speed until the connection ends, limited by the consumer and by the process. */
  flood(next: () => Uint8Array): void;
  /** Repeats an action until the connection ends. */
  every(ms: number, work: () => void): void;
  /** Ends the connection without a close frame. */
  end(): void;
}

/** Behaviour of a hostile labeler. An omitted method behaves like a regular labeler with few labels. */
export interface Attack {
  /** Responds to `queryLabels`. */
  readonly page?: (exchange: Exchange) => void;
  /** Responds to `getRecord` for the labeler's own declaration. */
  readonly record?: (exchange: Exchange) => void;
  /** Serves the document of the labeler's did:web. */
  readonly document?: (exchange: Exchange, sound: Record<string, unknown>) => void;
  /** Handles a websocket handshake itself. */
  readonly upgrade?: (request: IncomingMessage, socket: Duplex) => void;
  /**
   * Called for an opened stream. If absent, the handshake is refused with 501. If null, the stream opens and stays
   * silent.
   */
  readonly stream?: ((stream: HostileStream) => void) | null;
  /** Returns frames for the Jetstream. Called ten times per second during the attack. */
  readonly announce?: () => readonly string[];
}

/** Dependencies of attacks. */
export interface AttackTools {
  readonly labeler: HostileIdentity;
  readonly chance: Dice;
  /** Returns the time in milliseconds since 1970. */
  readonly now: () => number;
  /** Returns DIDs of other labelers, hostile and regular ones. */
  readonly others: () => readonly string[];
}

/** Name, description and behaviour of one kind of hostile labeler. */
export interface Kind {
  readonly name: string;
  /** Description for the table of a siege. */
  readonly does: string;
  /** `web`: the labeler's DID is a did:web on a port of localhost. Default: a did:plc. */
  readonly identity?: 'web';
  /**
   * Returns an endpoint without a listener, which the document contains instead of the labeler's origin. `names` is
   * true if a name server responds.
   */
  readonly elsewhere?: (index: number, names: boolean) => string;
  /** Number of origins on which the labeler listens. Default 1. */
  readonly origins?: number;
  /** True if the attack requires a name server. */
  readonly needsNames?: boolean;
  /** Returns the labeler's document instead of a valid one; `asked` counts the requests. */
  readonly describe?: (sound: Record<string, unknown>, labeler: HostileIdentity, asked: number) => unknown;
  /** Creates the behaviour of one labeler of the kind. */
  readonly attack: (tools: AttackTools) => Attack;
}

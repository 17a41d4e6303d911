import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Dice } from '../../random.ts';

/** Data of a hostile labeler, shared by the process that serves the labeler and the directory that describes it. */
export interface HostileIdentity {
  readonly index: number;
  readonly did: string;
  /** Name of the labeler's kind. */
  readonly kind: string;
  /** True if the labeler behaves regularly until it receives the command to become hostile. */
  readonly late: boolean;
  /**
   * Origins that the labeler's document may contain. It contains the first one unless the labeler's kind selects
   * another.
   */
  readonly endpoints: readonly string[];
  /** Origin of the labeler's own PDS. */
  readonly pds: string;
}

/** A received HTTP request, and the response to be sent. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: URL;
}

/** An open `subscribeLabels` connection. */
export interface HostileStream {
  /** Cursor in the request, or null if the consumer requests live labels only. */
  readonly cursor: number | null;
  readonly socket: Duplex;
  readonly open: boolean;
  /** Sends one websocket message. */
  send(payload: Uint8Array): void;
  /** Writes raw bytes to the socket: complete websocket frames, or parts of one. */
  raw(bytes: Uint8Array): void;
  /** Writes bytes as fast as the consumer and the limits of this process permit, until the connection ends. */
  flood(next: () => Uint8Array): void;
  /** Repeats an action until the connection ends. */
  every(ms: number, work: () => void): void;
  /** Ends the connection without a close frame. */
  end(): void;
}

/**
 * Behaviour of a hostile labeler. Where a method is missing, the labeler behaves like a regular one with few labels.
 */
export interface Attack {
  /** Responds to `queryLabels`. */
  readonly page?: (exchange: Exchange) => void;
  /** Responds to `getRecord` for the labeler's own declaration. */
  readonly record?: (exchange: Exchange) => void;
  /** Serves the document of a did:web labeler. */
  readonly document?: (exchange: Exchange, sound: Record<string, unknown>) => void;
  /** Handles websocket handshakes. If absent, `stream` determines the response. */
  readonly upgrade?: (request: IncomingMessage, socket: Duplex) => void;
  /**
   * Called when a stream has been opened. If absent, handshakes are refused with 501. If null, streams open and stay
   * silent.
   */
  readonly stream?: ((stream: HostileStream) => void) | null;
  /** Returns frames for the Jetstream. Called ten times per second during the attack. */
  readonly announce?: () => readonly string[];
}

/** Dependencies of an attack. */
export interface AttackTools {
  readonly labeler: HostileIdentity;
  readonly chance: Dice;
  /** Returns the time in milliseconds since 1970. */
  readonly now: () => number;
  /** Returns the DIDs of other labelers, both hostile and regular. */
  readonly others: () => readonly string[];
}

/** Name, description and behaviour of one kind of hostile labeler. */
export interface Kind {
  readonly name: string;
  /** Description of the behaviour, for the report of a siege. */
  readonly does: string;
  /** `web` if the labeler has a did:web on a port of localhost; by default it has a did:plc. */
  readonly identity?: 'web';
  /**
   * Returns an endpoint on which nothing listens. The document contains it instead of the labeler's origin. `names` is
   * true if a name server is available.
   */
  readonly elsewhere?: (index: number, names: boolean) => string;
  /** Number of origins on which the labeler listens; defaults to 1. */
  readonly origins?: number;
  /** True if the attack needs a name server. */
  readonly needsNames?: boolean;
  /**
   * Returns the labeler's hostile document. `sound` is the valid document, and `asked` the number of requests so far.
   */
  readonly describe?: (sound: Record<string, unknown>, labeler: HostileIdentity, asked: number) => unknown;
  /** Creates the behaviour of one labeler of this kind. */
  readonly attack: (tools: AttackTools) => Attack;
}

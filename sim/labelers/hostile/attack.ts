import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Dice } from '../../random.ts';

/** A hostile labeler, in plain values: the process that serves it and the directory that describes it share this. */
export interface HostileIdentity {
  readonly index: number;
  readonly did: string;
  /** The name of its kind. */
  readonly kind: string;
  /** True if it behaves well until it is told to turn hostile. */
  readonly late: boolean;
  /** Origins that its document may name; the first one unless its kind says otherwise. */
  readonly endpoints: readonly string[];
  /** The origin of its own PDS. */
  readonly pds: string;
}

/** A request that it was asked. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly target: URL;
}

/** An open `subscribeLabels`. */
export interface HostileStream {
  /** The cursor that the consumer named; null for what is live. */
  readonly cursor: number | null;
  readonly socket: Duplex;
  readonly open: boolean;
  /** Sends one message. */
  send(payload: Uint8Array): void;
  /** Writes bytes beneath the websocket: whole frames, or pieces of one. */
  raw(bytes: Uint8Array): void;
  /** Writes bytes at full speed until the connection ends, as far as the consumer reads and the process may. */
  flood(next: () => Uint8Array): void;
  /** Does something again and again until the connection ends. */
  every(ms: number, work: () => void): void;
  /** Ends the connection without a goodbye. */
  end(): void;
}

/** Behaviour of a hostile labeler. Omitted methods behave like a sound labeler with few labels. */
export interface Attack {
  /** Answers `queryLabels`. */
  readonly page?: (exchange: Exchange) => void;
  /** Answers `getRecord` for its own declaration. */
  readonly record?: (exchange: Exchange) => void;
  /** Answers for the document of its did:web. */
  readonly document?: (exchange: Exchange, sound: Record<string, unknown>) => void;
  /** Takes a websocket handshake into its own hands. */
  readonly upgrade?: (request: IncomingMessage, socket: Duplex) => void;
  /** A stream has opened. Absent: there is none (501). Null: it opens and stays silent. */
  readonly stream?: ((stream: HostileStream) => void) | null;
  /** Frames for the Jetstream, asked for ten times a second while the attack lasts. */
  readonly announce?: () => readonly string[];
}

/** Dependencies of attacks. */
export interface AttackTools {
  readonly labeler: HostileIdentity;
  readonly chance: Dice;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** DIDs of other labelers, hostile ones and whatever else is known. */
  readonly others: () => readonly string[];
}

/** One kind of hostile labeler. */
export interface Kind {
  readonly name: string;
  /** Description for the table of a siege. */
  readonly does: string;
  /** `web`: its DID is a did:web on a port of localhost. Default a did:plc. */
  readonly identity?: 'web';
  /** Endpoints that nothing listens at, in the place of an origin of its own. `names`: whether a name server answers. */
  readonly elsewhere?: (index: number, names: boolean) => string;
  /** Number of origins that it listens on. Default 1. */
  readonly origins?: number;
  /** True if the attack requires a name server. */
  readonly needsNames?: boolean;
  /** Its document instead of a sound one; `asked` counts how often it was asked for. */
  readonly describe?: (sound: Record<string, unknown>, labeler: HostileIdentity, asked: number) => unknown;
  /** Creates the behaviour of one labeler of the kind. */
  readonly attack: (tools: AttackTools) => Attack;
}

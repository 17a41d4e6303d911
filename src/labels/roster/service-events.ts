import { canonicalDid, isDid } from '../../contract/identifiers.ts';
import { type Micros, parseTimestamp } from '../../contract/timestamp.ts';
import { isNestedDeeper, isObject, scanJson } from '../../input/json-budget.ts';
import { inputLimits } from '../../input/limits.ts';
import type { AddressPolicy, Resolve } from '../../network/guard/address-policy.ts';
import { createBackoff } from '../../network/websocket/backoff.ts';
import { openSocket } from '../../network/websocket/websocket.ts';
import { errorFields, type Log } from '../../ops/log.ts';
import { maxDefinitionsLength } from '../../store/roster.ts';
import { labelerCollection } from './labeler-lists.ts';

/** Labeler events of a Jetstream. */
export type ServiceEvent =
  /**
   * An account wrote a labeler record; `definitions` are its label definitions as JSON, or null if the record has no
   * definitions or the definitions exceed the limits.
   */
  | { readonly kind: 'service'; readonly did: string; readonly definitions: string | null }
  /** An account's document may have changed, or the account moved or was deactivated. */
  | { readonly kind: 'identity' | 'account'; readonly did: string };

/** Dependencies of `ServiceEvents`. */
interface ServiceEventsOptions {
  readonly jetstream: string;
  readonly policy: AddressPolicy;
  /** User agent that is sent with every handshake. */
  readonly userAgent: string;
  readonly resolve: Resolve;
  readonly random: () => number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly log: Log;
  readonly clock: () => Micros;
  /** Returns the time of the monotonic clock, in microseconds. */
  readonly monotonic: () => number;
  /** Called with the time at which the host received a live event. */
  readonly onUpstreamTime: (milliseconds: number) => void;
  readonly onEvent: (event: ServiceEvent) => void;
  /** Cursor at the end of the last run, in microseconds of the Jetstream's clock, or null to start now. */
  readonly cursor: number | null;
}

/**
 * Time by which the stream is resumed before the cursor after a reconnect, in microseconds, because events with the
 * same time have no order.
 */
const rewind = 3_000_000;
/**
 * Maximum time by which a cursor may be after the local clock, in microseconds; a larger difference indicates an
 * invalid cursor or a wrong clock.
 */
const maxAhead = 600_000_000;

/** Follower of a Jetstream's labeler records and identity events. */
export class ServiceEvents {
  readonly #options: ServiceEventsOptions;
  readonly #stamps: LiveStamps;
  #cursor: number | null;
  #hasFailed = false;

  /** Creates a follower that is not yet connected. Ignores a given cursor that is too far in the future. */
  constructor(options: ServiceEventsOptions) {
    this.#options = options;
    this.#stamps = new LiveStamps(options.monotonic);
    this.#cursor = options.cursor !== null && this.#isNear(options.cursor) ? options.cursor : null;
  }

  /** Cursor to resume from after a restart: all earlier events were delivered. Null before the first event. */
  get cursor(): number | null {
    return this.#cursor;
  }

  /** Follows the Jetstream until the signal aborts, and reconnects as often as necessary. */
  async run(signal: AbortSignal): Promise<void> {
    const { jetstream, policy, userAgent, resolve, random, wait, log } = this.#options;
    const backoff = createBackoff({ firstMs: 1_000, capMs: 60_000, random });
    while (!signal.aborted) {
      this.#stamps.open(this.#cursor !== null);
      try {
        const socket = await openSocket(
          {
            ...{ url: subscription(jetstream, this.#cursor), policy, userAgent, resolve },
            ...{ handshakeMs: 20_000, closeMs: 2_000, pingMs: 30_000, pongMs: 20_000, idleMs: 3_600_000 },
            maxFrameBytes: inputLimits.serviceEvent.bytes,
            onFrame: (data) => this.#read(data),
          },
          signal,
        );
        const opened = performance.now();
        await socket.closed;
        if (performance.now() - opened > 60_000) backoff.reset();
      } catch (error) {
        if (signal.aborted) return;
        log.debug('the Jetstream host that announces labelers cannot be read', {
          why: error instanceof Error ? error.message : 'unknown',
        });
      }
      await wait(500 + backoff.next(), signal);
    }
  }

  #isNear(time: number): boolean {
    return time <= this.#options.clock() + maxAhead;
  }

  /** Catches every error: a socket's callback must not throw, and an invalid frame must not affect later frames. */
  #read(data: Buffer): void {
    const { onEvent, onUpstreamTime, log } = this.#options;
    try {
      const frame = parseServiceFrame(data);
      if (frame === null) return;
      if (this.#isNear(frame.time)) this.#cursor = Math.max(this.#cursor ?? 0, frame.time);
      if (frame.stamp !== null && this.#stamps.isLive(frame.stamp)) onUpstreamTime(frame.stamp / 1000);
      if (frame.event) onEvent(frame.event);
    } catch (error) {
      if (!this.#hasFailed) log.warn('a Jetstream frame could not be read', errorFields(error));
      this.#hasFailed = true;
    }
  }
}

/** Path of Jetstream's current method. Every other path uses the legacy format. */
const methodPath = '/xrpc/network.bsky.jetstream.subscribeEvents';

/**
 * Returns the address of one connection. Both formats deliver identity and account events, and commits of one
 * collection.
 */
function subscription(jetstream: string, cursor: number | null): string {
  const url = new URL(jetstream);
  if (url.pathname === '/' || url.pathname === '') url.pathname = methodPath;
  if (url.pathname.endsWith(methodPath)) {
    for (const kind of ['commit', 'identity', 'account']) url.searchParams.append('kinds', kind);
    url.searchParams.set('collections', labelerCollection);
  } else {
    url.searchParams.set('wantedCollections', labelerCollection);
  }
  // The cursor is a time, because both formats accept a time and sequence numbers are specific to one host. A repeated
  // event has no effect.
  if (cursor !== null) url.searchParams.set('cursor', String(Math.max(0, cursor - rewind)));
  return url.href;
}

/**
 * Content of a frame of either format: the time of the event in the order of the stream, in microseconds, and the
 * labeler event, if any.
 */
interface ServiceFrame {
  readonly time: number;
  /**
   * Time at which the host received the event, in microseconds, or null if the frame lacks it: `witnessedAt` of the
   * current method. That method's own `time` is not used, because the author's host may have set it.
   */
  readonly stamp: number | null;
  readonly event: ServiceEvent | null;
}

/** Parses a frame; returns null if it is not an event, or exceeds the limits. */
export function parseServiceFrame(data: Buffer): ServiceFrame | null {
  if (scanJson(data, inputLimits.serviceEvent).fault !== null) return null;
  let value: unknown;
  try {
    value = JSON.parse(data.toString('utf8'));
  } catch {
    return null;
  }
  if (!isObject(value)) return null;
  if (value.$type === 'message') return isObject(value.payload) ? methodFrame(value.payload) : null;
  if (typeof value.time_us !== 'number' || !Number.isSafeInteger(value.time_us)) return null;
  return { time: value.time_us, stamp: value.time_us, event: eventOf(value) };
}

/** Parses a message of the current method, whose commit fields are fields of the event itself. */
function methodFrame(payload: Readonly<Record<string, unknown>>): ServiceFrame | null {
  const { $type, did, witnessedAt } = payload;
  const time = parseTimestamp(witnessedAt ?? payload.time);
  const stamp = parseTimestamp(witnessedAt);
  if (typeof $type !== 'string' || time === null) return null;
  const kind = $type.slice($type.indexOf('#') + 1);
  return { time, stamp, event: eventOf({ did, kind, ...(kind === 'commit' && { commit: payload }) }) };
}

/** Parses one event of a Jetstream; returns null if it is neither a labeler record nor an identity or account event. */
export function eventOf(value: Readonly<Record<string, unknown>>): ServiceEvent | null {
  const { kind, commit } = value;
  if (typeof value.did !== 'string' || !isDid(value.did)) return null;
  const did = canonicalDid(value.did);
  if (kind === 'identity' || kind === 'account') return { kind, did };
  if (kind !== 'commit' || !isObject(commit) || commit.collection !== labelerCollection) return null;
  if (commit.rkey !== 'self' || (commit.operation !== 'create' && commit.operation !== 'update')) return null;
  return { kind: 'service', did, definitions: definitionsOf(commit.record) };
}

/**
 * Returns the label definitions in a labeler's record as JSON, or null if the record has no policies, or its
 * definitions are too long or nested too deeply.
 */
export function definitionsOf(record: unknown): string | null {
  if (!isObject(record) || !isObject(record.policies)) return null;
  const { labelValues, labelValueDefinitions } = record.policies;
  // Check the depth first: a deeply nested record could overflow the stack of `JSON.stringify`, which recurses.
  if (isNestedDeeper([labelValues, labelValueDefinitions], inputLimits.labelerRecord.depth)) return null;
  const text = JSON.stringify({ labelValues: labelValues ?? [], labelValueDefinitions: labelValueDefinitions ?? [] });
  return text.length <= maxDefinitionsLength ? text : null;
}

/**
 * Minimum time on this machine's monotonic clock over which the progress of a connection's stamps is measured, in
 * microseconds.
 */
const spanUs = 10_000_000;
/** Maximum difference between the progress of the stamps and of the monotonic clock, in microseconds. */
const maxDifferenceUs = 2_000_000;

/**
 * Distinguishes the live events of a stream from a replay. A connection that resumes at a cursor first delivers old
 * events with old stamps. If the machine started with the time of its last shutdown, these stamps agree with the
 * wrong clock. Live stamps advance at the pace of the monotonic clock; the stamps of a replay advance much faster.
 */
export class LiveStamps {
  readonly #monotonic: () => number;
  #from: { readonly stamp: number; readonly at: number } | null = null;
  #isLive = false;

  /** `monotonic` is a monotonic clock, in microseconds. */
  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Starts a connection. `resumes` is true if it may begin with old events. */
  open(resumes: boolean): void {
    this.#from = null;
    this.#isLive = !resumes;
  }

  /** Records the stamp of an event, in microseconds. Returns true if the event is live. */
  isLive(stamp: number): boolean {
    if (this.#isLive) return true;
    const at = this.#monotonic();
    this.#from ??= { stamp, at };
    const elapsed = at - this.#from.at;
    if (elapsed < spanUs) return false;
    this.#isLive = Math.abs(stamp - this.#from.stamp - elapsed) <= maxDifferenceUs;
    this.#from = { stamp, at };
    return this.#isLive;
  }
}

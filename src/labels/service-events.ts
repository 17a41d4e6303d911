import { isDid } from '../contract/identifiers.ts';
import type { Micros } from '../contract/timestamp.ts';
import { isNestedDeeper } from '../input/depth.ts';
import { scanJson } from '../input/json-budget.ts';
import { inputLimits } from '../input/limits.ts';
import type { AddressPolicy, Resolve } from '../network/address-policy.ts';
import { createBackoff } from '../network/backoff.ts';
import { openSocket } from '../network/websocket.ts';
import { errorFields, type Log } from '../ops/log.ts';
import { maxDefinitionsLength } from '../store/roster.ts';
import { isObject } from './label-fields.ts';
import { labelerCollection } from './relay-list.ts';

/** Labeler events of a Jetstream. */
export type ServiceEvent =
  /** An account wrote a labeler's record; `definitions` is its own account of its labels, as JSON. */
  | { readonly kind: 'service'; readonly did: string; readonly definitions: string | null }
  /** A document changed, perhaps with another endpoint or key. */
  | { readonly kind: 'identity'; readonly did: string };

/** Dependencies of following a Jetstream. */
export interface ServiceEventsOptions {
  readonly jetstream: string;
  readonly policy: AddressPolicy;
  /** Sent with every handshake. */
  readonly userAgent: string;
  readonly resolve: Resolve;
  readonly random: () => number;
  readonly wait: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly log: Log;
  readonly clock: () => Micros;
  readonly heardTime: (milliseconds: number) => void;
  readonly onEvent: (event: ServiceEvent) => void;
  /** Cursor at the end of the last run, in microseconds of the Jetstream's clock; null to start now. */
  readonly cursor: number | null;
}

/** Reconnects begin this much earlier, in microseconds: events of one instant come in any order. */
const rewind = 3_000_000;
/** Positions further ahead of our clock than this many microseconds are not resumed from: a lie, or a wrong clock. */
const maxAhead = 600_000_000;

/** Follows a Jetstream's labeler records and identity events. */
export interface ServiceEvents {
  /** Cursor to resume from after a restart: all earlier events were delivered. */
  readonly cursor: number | null;
  run(signal: AbortSignal): Promise<void>;
}

/** Makes one that is not yet connected. */
export function followServices(options: ServiceEventsOptions): ServiceEvents {
  const { onEvent, heardTime, policy, userAgent, resolve, wait, log } = options;
  const isNear = (time: number): boolean => time <= options.clock() + maxAhead;
  let cursor = options.cursor !== null && isNear(options.cursor) ? options.cursor : null;
  let hasFailed = false;

  /** A socket's callback must not throw: whatever a frame holds, the following ones are read. */
  function read(data: Buffer): void {
    try {
      readFrame(data);
    } catch (error) {
      if (!hasFailed) log.warn('a Jetstream frame could not be read', errorFields(error));
      hasFailed = true;
    }
  }

  function readFrame(data: Buffer): void {
    const frame = parseServiceFrame(data);
    if (frame === null) return;
    if (isNear(frame.time)) cursor = Math.max(cursor ?? 0, frame.time);
    heardTime(frame.time / 1000);
    if (frame.event) onEvent(frame.event);
  }

  return {
    get cursor() {
      return cursor;
    },
    async run(signal) {
      const patience = createBackoff({ firstMs: 1_000, capMs: 60_000, random: options.random });
      while (!signal.aborted) {
        try {
          const socket = await openSocket(
            {
              url: subscription(options.jetstream, cursor),
              policy,
              userAgent,
              resolve,
              handshakeMs: 20_000,
              closeMs: 2_000,
              maxFrameBytes: inputLimits.serviceEvent.bytes,
              pingMs: 30_000,
              pongMs: 20_000,
              idleMs: 3_600_000,
              onFrame: read,
            },
            signal,
          );
          const opened = performance.now();
          await socket.closed;
          if (performance.now() - opened > 60_000) patience.reset();
        } catch (error) {
          if (signal.aborted) return;
          log.debug('the Jetstream cannot be read', { why: error instanceof Error ? error.message : 'unknown' });
        }
        await wait(500 + patience.next(), signal);
      }
    },
  };
}

function subscription(jetstream: string, cursor: number | null): string {
  const url = new URL(jetstream);
  if (url.pathname === '/' || url.pathname === '') url.pathname = '/subscribe';
  url.searchParams.set('wantedCollections', labelerCollection);
  if (cursor !== null) url.searchParams.set('cursor', String(Math.max(0, cursor - rewind)));
  return url.href;
}

/** Reads a frame: its position and what it says of a labeler; null where it is no frame, or exceeds the limits. */
export function parseServiceFrame(data: Buffer): { readonly time: number; readonly event: ServiceEvent | null } | null {
  if (scanJson(data, inputLimits.serviceEvent).fault !== null) return null;
  let value: unknown;
  try {
    value = JSON.parse(data.toString('utf8'));
  } catch {
    return null;
  }
  if (!isObject(value) || typeof value.time_us !== 'number' || !Number.isSafeInteger(value.time_us)) return null;
  return { time: value.time_us, event: eventOf(value) };
}

/** Reads one event of a Jetstream, or null when it says nothing about a labeler. */
export function eventOf(value: Readonly<Record<string, unknown>>): ServiceEvent | null {
  const { did, kind, commit } = value;
  if (typeof did !== 'string' || !isDid(did)) return null;
  if (kind === 'identity') return { kind: 'identity', did };
  if (kind !== 'commit' || !isObject(commit) || commit.collection !== labelerCollection) return null;
  if (commit.rkey !== 'self' || (commit.operation !== 'create' && commit.operation !== 'update')) return null;
  return { kind: 'service', did, definitions: definitionsOf(commit.record) };
}

/** Label definitions in a labeler's record, as JSON; null if there are none, or too many. */
export function definitionsOf(record: unknown): string | null {
  if (!isObject(record) || !isObject(record.policies)) return null;
  const { labelValues, labelValueDefinitions } = record.policies;
  // The record may come from a caller that did not bound it: `JSON.stringify` recurses, and would overflow the stack.
  if (isNestedDeeper([labelValues, labelValueDefinitions], inputLimits.labelerRecord.depth)) return null;
  const text = JSON.stringify({ labelValues: labelValues ?? [], labelValueDefinitions: labelValueDefinitions ?? [] });
  return text.length <= maxDefinitionsLength ? text : null;
}

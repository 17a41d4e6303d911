import { slot } from './template.ts';
import { productionJson } from './texts.ts';

/** The two protocols of Jetstream: legacy `/subscribe`, and the method `network.bsky.jetstream.subscribeEvents`. */
export type Wire = 'jetstream.legacy' | 'jetstream.subscribeEvents';

/** Filter that a consumer applies to events. */
export interface Filter {
  readonly wire: Wire;
  /** Kinds of events, for `subscribeEvents` only; empty for all. */
  readonly kinds: readonly string[];
  /** NSIDs, or prefixes that end in `.*`; empty for all collections. */
  readonly wantedCollections: readonly string[];
}

/** NSID of the method that streams events. */
export const subscribeEvents = 'network.bsky.jetstream.subscribeEvents';
/** NSID of the method that returns the dictionary for compressed frames. */
export const getZstdDictionary = 'network.bsky.jetstream.getZstdDictionary';

type Fields = Readonly<Record<string, unknown>>;

/** Properties of the frames of `subscribeEvents` that differ between hosts. */
interface EventsStyle {
  readonly variedKeys: boolean;
  readonly unwitnessed?: boolean;
}

/** Placeholder numbers for slots in places where JSON requires a number. */
const numbers = { time: 1_111_111_111_111_111, seq: 222_222_222_222_222 } as const;

/**
 * Converts the legacy template of an event to a `subscribeEvents` template of the same event. Returns `legacy`
 * unchanged if it is not a JSON object whose `time_us` is the time slot. With `variedKeys`, the order of the keys differs
 * from production.
 */
export function eventsTemplate(legacy: string, { variedKeys, unwitnessed = false }: EventsStyle): string {
  let frame: unknown;
  try {
    frame = JSON.parse(legacy.replaceAll(slot.time, String(numbers.time)).replaceAll(slot.seq, String(numbers.seq)));
  } catch {
    return legacy;
  }
  const event = fields(frame);
  if (!event || event.time_us !== numbers.time) return legacy;
  const kind = typeof event.kind === 'string' ? event.kind : 'unknown';
  const commit = kind === 'commit' ? fields(event.commit) : null;
  const inner: Fields = commit ?? { [kind]: event[kind] };
  const payload: Fields = {
    ...inner,
    did: event.did,
    time: slot.iso,
    ...(unwitnessed ? {} : { witnessedAt: slot.iso }),
  };
  const keys = Object.keys(payload).filter((key) => payload[key] !== undefined);
  const members = [...keys, 'seq']
    .toSorted()
    .map((key) => `"${key}":${key === 'seq' ? slot.seq : productionJson(payload[key])}`);
  const all = [`"$type":"${subscribeEvents}#${kind}"`, ...members];
  const parts = ['"$type":"message"', `"payload":{${(variedKeys ? all.toReversed() : all).join(',')}}`];
  return `{${(variedKeys ? parts.toReversed() : parts).join(',')}}`;
}

/** Builds an `#info` frame. */
export function infoFrame(name: 'OutdatedCursor' | 'FutureCursor', message: string): string {
  return productionJson({
    $type: 'message',
    payload: { $type: `${subscribeEvents}#info`, message, name },
  });
}

/** Builds an error frame. The host closes the connection after sending it. */
export function errorFrame(error: string, message: string): string {
  return productionJson({ $type: 'error', error, message });
}

function fields(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

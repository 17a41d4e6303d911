import { decodeFirst } from '@atcute/cbor';
import { type CborShape, scanCbor } from '../../input/cbor-budget.ts';
import { isObject } from '../../input/json-budget.ts';
import { inputLimits } from '../../input/limits.ts';

/** Maximum number of labels in one frame. A frame with more labels is refused. */
const maxFrameLabels = 10_000;

/** A message of `com.atproto.label.subscribeLabels`. */
export type LabelFrame =
  | { readonly kind: 'labels'; readonly seq: number; readonly labels: readonly unknown[] }
  /** The labeler no longer has all labels after the cursor. */
  | { readonly kind: 'outdated_cursor' }
  /** The cursor is beyond the labeler's newest label: the labeler's database was reset. */
  | { readonly kind: 'future_cursor' }
  | { readonly kind: 'consumer_too_slow' }
  /** An error message with another name. */
  | { readonly kind: 'error' }
  /** Information of an unknown name, which carries no label. */
  | { readonly kind: 'info' }
  /** A message of an unknown type, such as one of a later version of the protocol. */
  | { readonly kind: 'unknown' }
  /** Bytes that are not exactly one valid message, or a message with too many labels. */
  | { readonly kind: 'malformed' }
  /** A message that exceeds the limits on its depth, elements or fields. */
  | { readonly kind: 'over_budget' };

/** Number of elements that a frame of any length may have. */
const minElements = 1_024;

/** Minimum number of bytes for each further element of a frame; real labels have about twelve bytes per element. */
const bytesPerElement = 8;

/** Checks the depth and the number of elements of a frame, header and body, without decoding it. Never throws. */
export function scanFrame(bytes: Uint8Array): CborShape {
  const { elements, depth, fields } = inputLimits.labelFrame;
  const proportional = minElements + bytes.length / bytesPerElement;
  return scanCbor(bytes, { elements: Math.min(elements, proportional), depth, fields }, 2);
}

/**
 * Decodes a frame, which consists of two CBOR objects, header and body, if it is within the limits. Never throws. The
 * values share the frame's memory.
 */
export function readFrame(bytes: Uint8Array): LabelFrame {
  const { fault } = scanFrame(bytes);
  return fault === null ? decodeFrame(bytes) : { kind: fault === 'malformed' ? fault : 'over_budget' };
}

/** Decodes a frame that `scanFrame` found to be within its limits. Never throws. */
export function decodeFrame(bytes: Uint8Array): LabelFrame {
  try {
    const [header, rest] = decodeFirst(bytes) as [unknown, Uint8Array];
    const [body, after] = decodeFirst(rest) as [unknown, Uint8Array];
    // Bytes after the body may be a further message, whose labels would be lost without a hole.
    if (!isObject(header) || !isObject(body) || after.length > 0) return { kind: 'malformed' };
    if (header.op === -1) return errorFrame(body.error);
    if (header.op !== 1) return { kind: 'malformed' };
    const type = typeOf(header.t);
    if (type === '#info') return body.name === 'OutdatedCursor' ? { kind: 'outdated_cursor' } : { kind: 'info' };
    if (type !== '#labels') return { kind: 'unknown' };
    const { seq } = body;
    const labels = body.labels === null ? [] : body.labels;
    if (!Array.isArray(labels) || labels.length > maxFrameLabels) return { kind: 'malformed' };
    if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || seq < 0) return { kind: 'malformed' };
    return { kind: 'labels', seq, labels };
  } catch {
    return { kind: 'malformed' };
  }
}

/** Returns the number of items of a message: its labels, or 1 if the labels are unknown. */
export function itemsOf(frame: LabelFrame): number {
  if (frame.kind === 'labels') return frame.labels.length;
  return frame.kind === 'malformed' || frame.kind === 'over_budget' || frame.kind === 'unknown' ? 1 : 0;
}

/** Namespace of the types of messages, which a header may give in full. */
const subscription = 'com.atproto.label.subscribeLabels';

/** Returns the type in a header, relative to the namespace. */
function typeOf(type: unknown): unknown {
  return typeof type === 'string' && type.startsWith(`${subscription}#`) ? type.slice(subscription.length) : type;
}

function errorFrame(name: unknown): LabelFrame {
  if (name === 'FutureCursor') return { kind: 'future_cursor' };
  return { kind: name === 'ConsumerTooSlow' ? 'consumer_too_slow' : 'error' };
}

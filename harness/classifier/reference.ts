import { createClassifier } from '../../src/weather/classify/classify.ts';

import type { FrameFacts } from '../../src/weather/classify/event-body.ts';
import { metricNames, tracked } from '../../src/weather/classify/metric-names.ts';

/** Meaning of one frame: its outcome, position and the metrics that it increments. */
export interface Meaning {
  readonly outcome: FrameFacts['outcome'];
  readonly timeUs: number;
  readonly seq: number | null;
  /** Metric names in alphabetical order. */
  readonly metrics: readonly string[];
}

/** A number with its source text: `1.0` and `1` have the same value, but only `1` is an integer literal. */
class Spelled {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;
const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => unknown;

/**
 * Returns the properties of a frame's top-level object, or an empty object for any other value; null if the frame is
 * not JSON.
 */
function topOf(frame: Buffer): Record<string, unknown> | null {
  try {
    const value = parseWithSource(frame.toString('utf8'), (_key, parsed, { source }) =>
      typeof parsed === 'number' ? new Spelled(source ?? '') : parsed,
    );
    return asObject(value) ?? {};
  } catch {
    return null;
  }
}

const parseError: Meaning = { outcome: 'parse_error', timeUs: 0, seq: null, metrics: [] };

/** Computes a frame's meaning with a full parse. The classifier must agree with this simple reference. */
export function meaningOf(frame: Buffer): Meaning {
  const top = topOf(frame);
  if (top === null) return parseError;
  const seq = positiveInteger(top.cursor);
  const timeUs = positiveInteger(top.time_us);
  if (timeUs === null) return { outcome: 'no_time_us', timeUs: 0, seq, metrics: [] };
  return { outcome: 'counted', timeUs, seq, metrics: inOrder(metricsOf(top)) };
}

const method = 'network.bsky.jetstream.subscribeEvents';

/**
 * Computes the meaning of a `subscribeEvents` frame with a full parse. Rows of a re-sync count as events, but not a
 * `sync` that the host has made itself.
 */
export function eventMeaningOf(frame: Buffer): Meaning {
  const top = topOf(frame);
  if (top === null) return parseError;
  const nothing: Meaning = { outcome: 'no_time_us', timeUs: 0, seq: null, metrics: [] };
  const notice: Meaning = { ...nothing, outcome: 'notice' };
  if (!isWord(top.$type)) return nothing;
  if (top.$type !== 'message') return notice;
  const payload = asObject(top.payload);
  if (!payload || !isWord(payload.$type)) return nothing;
  const kind = payload.$type.startsWith(`${method}#`) ? payload.$type.slice(method.length + 1) : '';
  if (kind === 'info') return notice;
  const seq = positiveInteger(payload.seq);
  const timeUs = datetimeUs(payload.witnessedAt) || datetimeUs(payload.time);
  const isKnown = ['commit', 'account', 'identity', 'sync'].includes(kind);
  if (seq === null && timeUs === 0) return isKnown ? nothing : notice;
  if (seq === null || timeUs === 0) return { ...nothing, seq };
  const isBare = kind === 'commit' && !isWord(payload.operation) && !isWord(payload.collection);
  if (kind === 'sync' && isZero(asObject(payload.sync)?.seq)) return { outcome: 'resync', timeUs, seq, metrics: [] };
  const metrics = metricsOf({ kind, commit: isBare ? null : payload, account: payload.account });
  return { outcome: 'counted', timeUs, seq, metrics: inOrder(metrics) };
}

function isWord(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

/** Returns a UTC datetime in microseconds since 1970; 0 for any other value. */
function datetimeUs(value: unknown): number {
  const [, whole, decimals = '.0'] =
    typeof value === 'string' ? (/^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(\.\d{1,9})?Z$/.exec(value) ?? []) : [];
  const ms = Date.parse(`${whole}Z`);
  if (whole === undefined || Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 19) !== whole) return 0;
  return ms * 1000 + Number(decimals.slice(1, 7).padEnd(6, '0'));
}

function metricsOf(top: Record<string, unknown>): string[] {
  switch (top.kind) {
    case 'commit':
      return commitMetrics(asObject(top.commit));
    case 'account':
      return accountMetrics(asObject(top.account) ?? {});
    case 'identity':
      return ['identity.event'];
    case 'sync':
      return ['sync.event'];
    default:
      return ['unclassified.kind'];
  }
}

function commitMetrics(commit: Record<string, unknown> | null): string[] {
  if (!commit) return ['malformed.commit'];
  const { operation, collection, record } = commit;
  if (operation !== 'create' && operation !== 'update' && operation !== 'delete') return ['unclassified.operation'];
  if (typeof collection !== 'string' || collection === '') return ['malformed.collection'];
  const alias = tracked.collections.find(([, nsid]) => nsid === collection)?.[0];
  if (!alias) return ['untracked.collection'];
  const name = `${alias}.${operation}`;
  const shaped = alias === 'post' && operation !== 'delete' ? asObject(record) : null;
  return [name, ...(shaped ? shapesOf(shaped).map((shape) => `${name}.${shape}`) : [])];
}

function shapesOf(record: Record<string, unknown>): string[] {
  const shapes = asObject(record.reply) ? ['reply'] : [];
  const embed = asObject(record.embed);
  if (!embed) return shapes;
  const type = embed.$type;
  if (type === 'app.bsky.embed.record' || type === 'app.bsky.embed.recordWithMedia') shapes.push('quote');
  return [...shapes, `embed.${tracked.embeds.find(([, known]) => known === type)?.[0] ?? 'other'}`];
}

function accountMetrics({ active, status }: Record<string, unknown>): string[] {
  const metrics = ['account.event', `account.active.${typeof active === 'boolean' ? active : 'unknown'}`];
  if (typeof status !== 'string' || status === '') return metrics;
  return [...metrics, `account.status.${tracked.statuses.find((known) => known === status) ?? 'other'}`];
}

function asObject(value: unknown): Record<string, unknown> | null {
  const object = typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Spelled);
  return object ? (value as Record<string, unknown>) : null;
}

function isZero(value: unknown): boolean {
  return value instanceof Spelled && value.source === '0';
}

function positiveInteger(value: unknown): number | null {
  if (!(value instanceof Spelled) || !/^[1-9][0-9]*$/.test(value.source)) return null;
  const number = Number(value.source);
  return Number.isSafeInteger(number) ? number : null;
}

const order: readonly string[] = metricNames;

function inOrder(metrics: readonly string[]): string[] {
  return metrics.toSorted((a, b) => order.indexOf(a) - order.indexOf(b));
}

/**
 * Creates a function that classifies a frame and returns metric names. All calls share one classifier, so a test can
 * detect state that leaks from one frame into the next.
 */
export function createReader(classify = createClassifier()): (frame: Uint8Array) => Meaning {
  return (frame) => {
    const { outcome, timeUs, seq, metrics, metricCount } = classify(frame);
    const names = Array.from(metrics.subarray(0, metricCount), (index) => metricNames[index] ?? `no name ${index}`);
    return { outcome, timeUs, seq, metrics: inOrder(names) };
  };
}

/** Expected metrics of the 152 events in `production_v1.jsonl`. Every other metric is 0. */
export const productionCounts: Readonly<Record<string, number>> = {
  'post.create': 17,
  'post.create.reply': 8,
  'post.create.embed.external': 3,
  'post.create.embed.images': 2,
  'post.delete': 1,
  'like.create': 105,
  'repost.create': 15,
  'follow.create': 6,
  'follow.delete': 3,
  'block.create': 1,
  'actor_status.update': 1,
  'identity.event': 1,
  'account.event': 1,
  'account.active.true': 1,
  'untracked.collection': 1,
};

import { createClassifier } from '../../src/weather/classify/classify.ts';
import type { FrameFacts } from '../../src/weather/classify/frame-facts.ts';
import {
  metricNames,
  trackedCollections,
  trackedEmbeds,
  trackedStatuses,
} from '../../src/weather/classify/metric-names.ts';

/** Meaning of one frame, which is the list of metrics that the frame increments. */
export interface Meaning {
  readonly outcome: FrameFacts['outcome'];
  readonly timeUs: number;
  readonly seq: number | null;
  /** Names of the metrics, in alphabetical order. */
  readonly metrics: readonly string[];
}

/** A number with its notation, because JSON treats `1.0` and `1` as one value but only `1` is an integer literal. */
class Spelled {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

type Reviver = (key: string, value: unknown, context: { source?: string }) => unknown;
const parseWithSource = JSON.parse as (text: string, reviver: Reviver) => unknown;

/** Computes a frame's meaning with a full parse. This simple reference must agree with the classifier. */
export function meaningOf(frame: Buffer): Meaning {
  let value: unknown;
  try {
    value = parseWithSource(frame.toString('utf8'), (_key, parsed, { source }) =>
      typeof parsed === 'number' ? new Spelled(source ?? '') : parsed,
    );
  } catch {
    return { outcome: 'parse_error', timeUs: 0, seq: null, metrics: [] };
  }
  const top = asObject(value) ?? {};
  const seq = positiveInteger(top.cursor);
  const timeUs = positiveInteger(top.time_us);
  if (timeUs === null) return { outcome: 'no_time_us', timeUs: 0, seq, metrics: [] };
  return { outcome: 'counted', timeUs, seq, metrics: inOrder(metricsOf(top)) };
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
  const alias = trackedCollections.find(([, nsid]) => nsid === collection)?.[0];
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
  return [...shapes, `embed.${trackedEmbeds.find(([, known]) => known === type)?.[0] ?? 'other'}`];
}

function accountMetrics({ active, status }: Record<string, unknown>): string[] {
  const metrics = ['account.event', `account.active.${typeof active === 'boolean' ? active : 'unknown'}`];
  if (typeof status !== 'string' || status === '') return metrics;
  return [...metrics, `account.status.${trackedStatuses.find((known) => known === status) ?? 'other'}`];
}

function asObject(value: unknown): Record<string, unknown> | null {
  const object = typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Spelled);
  return object ? (value as Record<string, unknown>) : null;
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
 * Creates a classifier that returns metric names. All calls share one classifier, so that state that remains from one
 * frame would affect the next.
 */
export function createReader(): (frame: Uint8Array) => Meaning {
  const classify = createClassifier();
  return (frame) => {
    const { outcome, timeUs, seq, metrics, metricCount } = classify(frame);
    const names = Array.from(metrics.subarray(0, metricCount), (index) => metricNames[index] ?? `no name ${index}`);
    return { outcome, timeUs, seq, metrics: inOrder(names) };
  };
}

import { embedTypes, type MetricName, type Species, trackedCollections } from './metrics.ts';

/** A completely parsed frame: its meaning and its time. */
export interface ParsedFrame {
  readonly species: Species;
  /** Time of the event in microseconds, or null if the frame is not an event. */
  readonly timeUs: number | null;
  /** Value of `cursor` in a frame of the second version of Jetstream; null for other frames. */
  readonly cursor: number | null;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Parses a frame completely as JSON. The parser is deliberately simple and slow: it is the reference for recorded
 * frames and for the species of generated frames.
 */
export function parseFrame(text: string): ParsedFrame {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return unplaced('not_json');
  }
  const frame = fields(value);
  const timeUs = frame?.time_us;
  if (!frame || typeof timeUs !== 'number' || !Number.isInteger(timeUs) || timeUs <= 0) return unplaced('no_time');
  const cursor = typeof frame.cursor === 'number' ? frame.cursor : null;
  const commit = fields(frame.commit);
  const collection = frame.kind === 'commit' && commit ? commit.collection : null;
  return {
    species: {
      outcome: 'event',
      collection: typeof collection === 'string' && collection !== '' ? collection : null,
      metrics: meaning(frame),
    },
    timeUs,
    cursor,
  };
}

/**
 * Parses a `subscribeEvents` frame completely. Rows that follow a `sync` have the meaning of ordinary commits, because
 * a single frame does not distinguish them.
 */
export function parseMethodFrame(text: string): ParsedFrame {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return unplaced('not_json');
  }
  const frame = fields(value);
  const payload = frame?.$type === 'message' ? fields(frame.payload) : null;
  const { $type, time, seq: cursor, ...rest } = payload ?? {};
  const micros = typeof time === 'string' ? Number(`${Date.parse(time)}${time.slice(23, 26)}`) : Number.NaN;
  if (typeof $type !== 'string' || !Number.isSafeInteger(micros)) return unplaced('no_time');
  const kind = $type.slice($type.indexOf('#') + 1);
  const commit = 'operation' in rest || 'collection' in rest ? rest : undefined;
  return parseFrame(JSON.stringify({ ...rest, time_us: micros, cursor, kind, commit }));
}

function unplaced(outcome: 'not_json' | 'no_time'): ParsedFrame {
  return { species: { outcome, collection: null, metrics: [] }, timeUs: null, cursor: null };
}

function meaning(frame: Fields): MetricName[] {
  switch (frame.kind) {
    case 'commit':
      return commitMeaning(frame.commit);
    case 'identity':
      return ['identity.event'];
    case 'account':
      return accountMeaning(fields(frame.account) ?? {});
    case 'sync':
      return ['sync.event'];
    default:
      return ['unclassified.kind'];
  }
}

function accountMeaning({ active, status }: Fields): MetricName[] {
  const metrics: MetricName[] = ['account.event'];
  if (typeof active === 'boolean') metrics.push(`account.active.${active}`);
  else metrics.push('account.active.unknown');
  if (typeof status !== 'string' || status === '') return metrics;
  const known = (['deleted', 'deactivated', 'takendown', 'suspended'] as const).find((word) => word === status);
  return [...metrics, `account.status.${known ?? 'other'}`];
}

function commitMeaning(value: unknown): MetricName[] {
  const commit = fields(value);
  if (!commit) return ['malformed.commit'];
  const operation = (['create', 'update', 'delete'] as const).find((word) => word === commit.operation);
  if (!operation) return ['unclassified.operation'];
  const { collection } = commit;
  if (typeof collection !== 'string' || collection === '') return ['malformed.collection'];
  const alias = trackedCollections.get(collection);
  if (!alias) return ['untracked.collection'];
  const record = fields(commit.record);
  if (alias !== 'post' || operation === 'delete' || !record) return [`${alias}.${operation}`];
  const metrics: MetricName[] = [`post.${operation}`];
  if (fields(record.reply)) metrics.push(`post.${operation}.reply`);
  const embed = fields(record.embed);
  if (!embed) return metrics;
  const named = typeof embed.$type === 'string' ? embedTypes.get(embed.$type) : undefined;
  metrics.push(`post.${operation}.embed.${named ?? 'other'}`);
  if (named === 'record' || named === 'recordWithMedia') metrics.push(`post.${operation}.quote`);
  return metrics;
}

function fields(value: unknown): Fields | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

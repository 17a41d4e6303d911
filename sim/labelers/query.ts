import { dice } from '../random.ts';
import type { Database } from './database.ts';
import type { Software } from './profile.ts';

/** Dependencies of `answerQuery`. */
interface QueryContext {
  readonly software: Software;
  readonly database: Database;
  /** Number of the newest label. */
  readonly edge: number;
  /** Returns a label as it is served. */
  readonly serve: (n: number) => unknown;
  /** Seed of a random order, different for every request, or null for `seq` order. */
  readonly unordered: number | null;
  /** True if every page contains only the newest labels, without a cursor. */
  readonly noCursor: boolean;
}

/** A response to `queryLabels`, and the numbers of the labels in it. */
interface QueryAnswer {
  readonly status: number;
  readonly body: unknown;
  /** Numbers of the labels in the response. */
  readonly served: readonly number[];
}

const defaultLimit = 50;
const maxLimit = 250;

/** Responds to `com.atproto.label.queryLabels` as the imitated program does, Ozone or skyware. */
export function answerQuery(params: URLSearchParams, context: QueryContext): QueryAnswer {
  const patterns = params.getAll('uriPatterns').filter((one) => one !== '');
  const limit = Number.parseInt(params.get('limit') || String(defaultLimit), 10);
  const asked = params.get('cursor');
  const cursor = Number.parseInt(asked || '0', 10);
  if (context.software === 'ozone' && patterns.length === 0)
    return refused('Error: Params must have the property "uriPatterns"');
  if (!(limit >= 1 && limit <= maxLimit)) return refused('Limit must be an integer between 1 and 250');
  const isInteger = context.software === 'ozone' ? /^-?\d*$/.test(asked ?? '') : !Number.isNaN(cursor);
  if (!isInteger) return refused('Cursor must be an integer');
  if (patterns.some((one) => one.slice(0, -1).includes('*')))
    return refused('Only trailing wildcards are supported in uriPatterns');
  const sources = params.getAll('sources').filter((one) => one !== '');
  return page(limit, cursor, context, (label) => matches(label, patterns, sources));
}

function page(limit: number, cursor: number, context: QueryContext, wanted: (label: unknown) => boolean): QueryAnswer {
  const { database, edge, serve, unordered, noCursor, software } = context;
  const newest = database.newestSeq(edge);
  const from = database.after(noCursor ? newest - limit : cursor);
  const enough = unordered === null ? limit : 2 * limit;
  let found: { readonly n: number; readonly label: unknown }[] = [];
  for (const n of from === Number.POSITIVE_INFINITY ? [] : database.read(from, edge)) {
    const label = serve(n);
    if (wanted(label)) found.push({ n, label });
    if (found.length >= enough) break;
  }
  if (unordered !== null) found = dice(unordered).shuffled(found).slice(0, limit);
  // In pages, skyware adds a row number to each label. This number is not part of the signed data.
  const labels = found.map(({ n, label }) =>
    software === 'skyware' && typeof label === 'object' && label !== null ? { id: database.seqOf(n), ...label } : label,
  );
  const served = found.map(({ n }) => n);
  const last = served.at(-1);
  if (noCursor) return { status: 200, body: { labels }, served };
  if (last === undefined)
    return { status: 200, body: software === 'skyware' ? { cursor: '0', labels } : { labels }, served };
  return { status: 200, body: { cursor: String(database.seqOf(last)), labels }, served };
}

function matches(label: unknown, patterns: readonly string[], sources: readonly string[]): boolean {
  if (patterns.length === 0 && sources.length === 0) return true;
  const { uri, src } = typeof label === 'object' && label !== null ? (label as Record<string, unknown>) : {};
  if (sources.length > 0 && !sources.includes(String(src))) return false;
  if (patterns.length === 0 || patterns.includes('*')) return true;
  return patterns.some((one) => (one.endsWith('*') ? String(uri).startsWith(one.slice(0, -1)) : uri === one));
}

function refused(message: string): QueryAnswer {
  return { status: 400, body: { error: 'InvalidRequest', message }, served: [] };
}

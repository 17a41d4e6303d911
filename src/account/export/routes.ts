import type { ExportCreated, ExportLastPage, ExportNextPage } from '../../contract/account.ts';
import { accountPaths } from '../../contract/identifiers.ts';
import { jsonType, withBody } from '../../http/reply.ts';
import { maxChunkRows } from '../../store/port.ts';
import type { Cursor, Cursors, Snapshot } from '../cursor/cursor.ts';
import { parseAccountQuery, parseParameters } from '../query/query.ts';
import {
  type AccountReply,
  type AccountRequest,
  type AccountRoute,
  accountCommonHeaders,
  accountError,
} from '../route.ts';
import type { AccountServices } from '../services.ts';
import { createExport, type Turns, tooLarge } from './exports.ts';
import type { WrittenManifest } from './manifest.ts';
import { begin, type ExportRefusal, whyGone } from './rows.ts';

/** Creates the routes of exports and downloads, by path. */
export function exportRoutes(services: AccountServices): [path: string, route: AccountRoute][] {
  return [
    [accountPaths.exports, exportsRoute(services)],
    [accountPaths.download, downloadRoute(services)],
  ];
}

/** Creates the route `GET /exports`, which creates an export or returns one of its pages. */
function exportsRoute(services: AccountServices): AccountRoute {
  return (request) => {
    const asked = askedCursor(request.search, 'export', services.cursors);
    if (asked === null) return create(services, request);
    return asked.kind === 'refused' ? accountError(asked.code, asked) : page(services, request, asked);
  };
}

async function create(services: AccountServices, request: AccountRequest): Promise<AccountReply> {
  const parsed = parseAccountQuery(parseParameters(request.search));
  if (parsed.kind === 'refused') return accountError(parsed.code);
  const wait = services.waitFor(request, parsed.query.account);
  if (wait !== null) return accountError('client_budget', { retryAfterSeconds: wait });
  const { manifests, bounds, cursors } = services;
  const turns = turnsOf(services, request, parsed.query.account);
  const created = await createExport(turns, manifests, parsed.query, request.now, bounds);
  if (created.kind === 'refused') return refusal(created);
  const { manifest, snapshot } = created;
  const cursor = cursors.seal({ kind: 'export', snapshot, progress: begin(manifest) });
  const end: Omit<ExportCreated, 'manifest'> = { cursor };
  return written(`{"manifest":${manifest.text},${JSON.stringify(end).slice(1)}`);
}

async function page(
  { read, manifests, bounds, cursors }: AccountServices,
  request: AccountRequest,
  { cursor: { snapshot, progress: from } }: AskedCursor<'export'>,
): Promise<AccountReply> {
  const found = await read(request, snapshot.account, async (store) => {
    const limit = Math.min(snapshot.pageRows, bounds.pageRows);
    const read = await store.readExport({ snapshot, from, limit, now: request.now });
    return read.kind === 'refused' ? read : ({ ...read, manifest: await manifests.of(store, snapshot) } as const);
  });
  if (found.kind === 'refused') return refusal(found);
  const { manifest, rows, progress, terminal } = found;
  const end: PageEnd = terminal
    ? { next_cursor: null, terminal, count: progress.count, content_sha256: progress.digest.toString('hex') }
    : { next_cursor: cursors.seal({ kind: 'export', snapshot, progress }), terminal };
  // Send the same serialized rows that the digest covers.
  return written(`{"manifest":${manifest.text},"rows":[`, rows, `],${JSON.stringify(end).slice(1)}`);
}

/**
 * Returns a function that runs the turns of one request. Every turn except the first one is repeated a few times while
 * the store is busy or a standby lags, and waits while the client's allowance is used up.
 */
function turnsOf({ read, readPatiently }: AccountServices, request: AccountRequest, account: string): Turns {
  let first = true;
  return (work) => {
    if (!first) return readPatiently(request, account, work);
    first = false;
    return read(request, account, work);
  };
}

/** Returns a response whose body consists of the given parts. */
function written(...parts: readonly (string | Uint8Array)[]): AccountReply {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  return withBody(200, jsonType, body, accountCommonHeaders);
}

/** Fields that follow the rows of a page. */
type PageEnd = Omit<ExportNextPage, 'manifest' | 'rows'> | Omit<ExportLastPage, 'manifest' | 'rows'>;

/** Returns the error response for a refused export. */
function refusal({ code, intervals }: ExportRefusal): AccountReply {
  return accountError(code, intervals ? { intervals } : {});
}

/** Creates the route `GET /download`, which streams the rows of an account page as one document. */
function downloadRoute(services: AccountServices): AccountRoute {
  return async (request) => {
    const asked = askedCursor(request.search, 'snapshot', services.cursors);
    if (asked === null) return accountError(withoutCursor(request.search), { message: cursorAlone });
    if (asked.kind === 'refused') return accountError(asked.code, asked);
    const { snapshot } = asked.cursor;
    const turns = turnsOf(services, request, snapshot.account);
    const found = await turns(async (store) => {
      const refused = await whyGone(store, snapshot, request.now);
      return refused ?? { kind: 'ready' as const, manifest: await services.manifests.of(store, snapshot) };
    });
    const large = found.kind === 'ready' ? await tooLarge(turns, snapshot, services.bounds.maxExportRows) : null;
    if (large) return refusal(large);
    if (found.kind === 'refused') return refusal(found);
    return {
      status: 200,
      headers: [
        'Content-Type',
        jsonType,
        'Content-Disposition',
        'attachment; filename="account-export.json"',
        ...accountCommonHeaders,
      ],
      stream: documentOf(services, request, snapshot, found.manifest),
    };
  };
}

const cursorAlone =
  '/download accepts only the cursor of an account page. To export an account, request /exports with did and no cursor.';

function withoutCursor(search: string): 'invalid_cursor' | 'unknown_parameter' {
  return parseParameters(search)?.size === 0 ? 'invalid_cursor' : 'unknown_parameter';
}

const comma = Buffer.from(',');

async function* documentOf(
  services: AccountServices,
  request: AccountRequest,
  snapshot: Snapshot,
  manifest: WrittenManifest,
): AsyncGenerator<Buffer> {
  yield Buffer.from(`{"manifest":${manifest.text},"rows":[`);
  let progress = begin(manifest);
  for (let terminal = false; !terminal; ) {
    const before = progress.count;
    const from = progress;
    // Read one chunk per turn, so that a slow client does not occupy a reading process while it receives the chunk.
    const read = await services.readWhileSending(request, snapshot.account, (store) =>
      store.readExport({ snapshot, from, limit: maxChunkRows, now: null }),
    );
    // Abort the connection: after the headers have been sent, only an aborted connection shows the client that the
    // document is incomplete.
    if (read.kind === 'refused') throw new SnapshotGone();
    ({ progress, terminal } = read);
    if (read.rows.length > 0) {
      const bytes = before > 0 ? Buffer.concat([comma, read.rows]) : Buffer.from(read.rows);
      services.sent(request, bytes.length);
      yield bytes;
    }
  }
  yield Buffer.from(`],"count":${progress.count},"content_sha256":"${progress.digest.toString('hex')}"}`);
}

/** Error for a download during which rows were purged. */
class SnapshotGone extends Error {
  constructor() {
    super('rows were purged during a download');
    this.name = 'SnapshotGone';
  }
}

/** A decoded cursor of the kind that a route accepts. */
interface AskedCursor<K extends Cursor['kind']> {
  readonly kind: 'cursor';
  readonly cursor: Extract<Cursor, { kind: K }>;
}

/** Refusal of a query because of its cursor. `message` is set if it is more specific than the message of the code. */
interface CursorRefusal {
  readonly kind: 'refused';
  readonly code: 'invalid_cursor' | 'unknown_parameter';
  readonly message?: string;
}

/**
 * Decodes the cursor in a query string. Returns a refusal if the cursor is invalid, belongs to another route, or is not
 * the only parameter. Returns null if the query has no cursor or cannot be parsed.
 */
function askedCursor<K extends Cursor['kind']>(
  search: string,
  kind: K,
  cursors: Cursors,
): AskedCursor<K> | CursorRefusal | null {
  const parameters = parseParameters(search);
  if (!parameters?.has('cursor')) return null;
  if (parameters.size > 1) return { kind: 'refused', code: 'unknown_parameter', message: carriesItsQuery };
  const text = parameters.get('cursor') ?? null;
  const cursor = text === null ? null : cursors.open(text);
  if (cursor === null) return { kind: 'refused', code: 'invalid_cursor' };
  if (isOf(cursor, kind)) return { kind: 'cursor', cursor };
  return { kind: 'refused', code: 'invalid_cursor', message: elsewhere[cursor.kind] };
}

const carriesItsQuery = 'A cursor contains its whole query: send it as the only parameter, or omit it for a new query.';

/** Messages for cursors of the wrong kind, by the kind of the cursor. */
const elsewhere = {
  export:
    'This cursor belongs to an export, whose pages are at /exports. /download accepts only the cursor of an account page.',
  snapshot:
    'This cursor belongs to an account page and is valid only at /download. To start an export, request /exports with did and no cursor.',
} as const satisfies Record<Cursor['kind'], string>;

function isOf<K extends Cursor['kind']>(cursor: Cursor, kind: K): cursor is Extract<Cursor, { kind: K }> {
  return cursor.kind === kind;
}

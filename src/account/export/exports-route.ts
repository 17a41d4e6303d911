import type { ExportCreated, ExportLastPage, ExportNextPage } from '../../contract/account.ts';
import { jsonType, withBody } from '../../http/reply.ts';
import type { Turns } from '../query/account-parts.ts';
import { parseAccountQuery } from '../query/query.ts';
import { patiently } from '../reading/patience.ts';
import { accountCommonHeaders, accountError } from '../replies.ts';
import type { AccountReply, AccountRequest, AccountRoute, AccountServices } from '../route.ts';
import type { AskedCursor } from './asked-cursor.ts';
import { askedCursor } from './asked-cursor.ts';
import { createExport, type ExportRefusal, readOnWhole, whyGone } from './exports.ts';

/** Creates the route `GET /exports`, which creates an export or returns one of its pages. */
export function exportsRoute(services: AccountServices): AccountRoute {
  return (request) => {
    const asked = askedCursor(request.search, 'export', services.cursors);
    if (asked === null) return create(services, request);
    return asked.kind === 'refused' ? accountError(asked.code, asked) : page(services, request, asked);
  };
}

async function create(services: AccountServices, request: AccountRequest): Promise<AccountReply> {
  const parsed = parseAccountQuery(request.search);
  if (parsed.kind === 'refused') return accountError(parsed.code);
  const wait = services.waitFor(request, parsed.query.account);
  if (wait !== null) return accountError('client_budget', { retryAfterSeconds: wait });
  const { manifests, bounds, cursors } = services;
  const turns = turnsOf(services, request, parsed.query.account);
  const created = await createExport(turns, manifests, parsed.query, request.now, bounds);
  if (created.kind === 'refused') return refusal(created);
  const { manifest, snapshot, progress } = created;
  const end: Omit<ExportCreated, 'manifest'> = { cursor: cursors.seal({ kind: 'export', snapshot, progress }) };
  return written(`{"manifest":${manifest.text},${JSON.stringify(end).slice(1)}`);
}

async function page(
  { read, manifests, bounds, cursors }: AccountServices,
  request: AccountRequest,
  { cursor: { snapshot, progress: from } }: AskedCursor<'export'>,
): Promise<AccountReply> {
  const found = await read(request, snapshot.account, async (store) => {
    const gone = await whyGone(store, snapshot, request.now);
    if (gone) return gone;
    const manifest = await manifests.of(store, snapshot);
    const limit = Math.min(snapshot.pageRows, bounds.pageRows);
    const read = await readOnWhole(store, snapshot, from, limit);
    return read.kind === 'refused' ? read : ({ ...read, manifest } as const);
  });
  if (found.kind === 'refused') return refusal(found);
  const { manifest, rows, progress, terminal } = found;
  const end: PageEnd = terminal
    ? { next_cursor: null, terminal, count: progress.count, content_sha256: progress.digest.toString('hex') }
    : { next_cursor: cursors.seal({ kind: 'export', snapshot, progress }), terminal };
  // Send the same serialized rows that the digest covers.
  return written(`{"manifest":${manifest.text},"rows":[${rows.join(',')}],${JSON.stringify(end).slice(1)}`);
}

/**
 * Returns a function that runs the turns of one request. Retries every turn except the first one while the store is
 * busy.
 */
export function turnsOf({ read }: AccountServices, request: AccountRequest, account: string): Turns {
  let first = true;
  return (work) => {
    const turn = () => read(request, account, work);
    if (!first) return patiently(turn, request.gone);
    first = false;
    return turn();
  };
}

function written(text: string): AccountReply {
  return withBody(200, jsonType, Buffer.from(text), accountCommonHeaders);
}

/** Fields that follow the rows of a page. */
type PageEnd = Omit<ExportNextPage, 'manifest' | 'rows'> | Omit<ExportLastPage, 'manifest' | 'rows'>;

/** Returns the error response for a refused export. */
export function refusal({ code, intervals }: ExportRefusal): AccountReply {
  return accountError(code, intervals ? { intervals } : {});
}

import { jsonType } from '../../http/reply.ts';
import { maxChunkRows } from '../../store/port.ts';
import { parseParameters } from '../query/parameters.ts';
import type { Snapshot } from '../query/snapshot.ts';
import { patiently } from '../reading/patience.ts';
import { accountCommonHeaders, accountError } from '../replies.ts';
import type { AccountRequest, AccountRoute, AccountServices } from '../route.ts';
import { askedCursor } from './asked-cursor.ts';
import { begin, readOnWhole, tooLarge, whyGone } from './exports.ts';
import { refusal, turnsOf } from './exports-route.ts';
import type { WrittenManifest } from './manifest.ts';

/** Creates the route `GET /download`, which streams the rows of an account page as one document. */
export function downloadRoute(services: AccountServices): AccountRoute {
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
    const turn = () =>
      services.read(request, snapshot.account, (store) => readOnWhole(store, snapshot, from, maxChunkRows));
    const read = await patiently(turn, request.gone);
    // Abort the connection: after the headers have been sent, only an aborted connection shows the client that the
    // document is incomplete.
    if (read.kind === 'refused') throw new SnapshotGone();
    ({ progress, terminal } = read);
    if (read.rows.length > 0) {
      const rows = read.rows.join(',');
      const bytes = Buffer.from(before > 0 ? `,${rows}` : rows);
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

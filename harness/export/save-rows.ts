import { accountExamples } from '../../src/contract/account-openapi/responses.ts';
import { startChain } from '../../src/export/part.ts';
import { type ExportOrder, saveExport } from '../../src/export/save.ts';
import type { ServiceOptions } from '../../src/export/service.ts';

const { manifest } = accountExamples.exports.created;
const rows = accountExamples.exports.next.rows;
const quiet = {
  rows: () => undefined,
  waiting: () => undefined,
  restarted: () => undefined,
  narrowed: () => undefined,
  end: () => undefined,
};

/**
 * Saves the export of a few rows as CSV with a separate manifest, from a service that needs no network. Calls
 * `meanwhile` while the rows are downloaded.
 */
export async function saveRows(path: string, meanwhile: () => void = () => undefined): Promise<void> {
  const chain = startChain(manifest);
  for (const row of rows) chain.add(row);
  const end = { next_cursor: null, terminal: true, count: chain.count, content_sha256: chain.sha256 };
  const service: ServiceOptions = {
    base: 'http://127.0.0.1:1',
    fetch: ((url: string | URL | Request) => {
      const isRows = String(url).includes('cursor=');
      if (isRows) meanwhile();
      const body = isRows ? { manifest, rows, ...end } : { manifest, cursor: 'AAAA' };
      return Promise.resolve(new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } }));
    }) as typeof fetch,
    timeoutMs: 10_000,
    giveUpMs: 1,
    clock: Date.now,
    monotonic: () => performance.now(),
    random: () => 0,
    wait: () => Promise.resolve(),
    waiting: () => undefined,
    signal: new AbortController().signal,
  };
  const interval = { kind: 'explicit', start: manifest.interval.start, end: manifest.interval.end } as const;
  const order: ExportOrder = { account: manifest.account, interval, filters: manifest.filters, format: 'csv' };
  await saveExport(order, path, service, quiet);
}

import { describe, expect, it } from 'vitest';
import { accountOpenApi } from '../../../harness/artifacts/openapi.ts';
import { accountErrorCodes, accountErrorTable } from '../errors.ts';
import { accountExamples as examples } from './responses.ts';

const described: readonly (readonly [path: string, status: number, name: string, value: object])[] = [
  ...Object.entries(examples.exports).map(([name, value]) => ['/exports', 200, name, value] as const),
  ...Object.entries(examples.refused).map(([name, value]) => ['/exports', 409, name, value] as const),
  ...Object.entries(examples.expired).map(([name, value]) => ['/exports', 410, name, value] as const),
  ...Object.entries(examples.busy).map(([name, value]) => ['/exports', 503, name, value] as const),
  ['/download', 200, 'whole', examples.download.whole],
  ['/health', 200, 'ok', examples.health.ok],
];

describe('the OpenAPI document of the account-view API', () => {
  it.each(described)('accepts the example response of %s with status %i (%s)', (path, status, _name, value) => {
    expect(accountOpenApi.faults('get', path, status, JSON.parse(JSON.stringify(value)))).toEqual([]);
  });

  it('rejects a page that has no cursor but is not marked as the last page', () => {
    const { next } = examples.exports;
    expect(accountOpenApi.faults('get', '/exports', 200, { ...next, next_cursor: null })).not.toEqual([]);
  });
});

describe('the documented account page', () => {
  const { paths, components } = accountOpenApi.document as unknown as {
    paths: Record<string, { get: { parameters: { $ref: string }[]; responses: Record<string, { $ref: string }> } }>;
    components: Record<string, Record<string, { name?: string; schema?: object; headers?: object }>>;
  };
  const named = ({ $ref }: { $ref: string }) => components[$ref.split('/')[2] ?? '']?.[$ref.split('/')[3] ?? ''];
  const of = (path: string) => (paths[path]?.get.parameters ?? []).map((one) => named(one));

  it('has the parameters of an export except the cursor, and additional parameters for the language and for the instant at which a list continues', () => {
    const exported = of('/exports').map((one) => one?.name);
    const own = ['before', 'lang'];
    expect(of('/account').map((one) => one?.name)).toEqual([...exported.filter((name) => name !== 'cursor'), ...own]);
  });

  it('accepts a handle, unlike an export, and describes the redirect to its DID', () => {
    expect(of('/account')[0]).toMatchObject({ name: 'did', schema: { type: 'string' } });
    expect(of('/account')[0]?.schema).not.toHaveProperty('pattern');
    expect(of('/exports')[0]?.schema).toHaveProperty('pattern');
    const { headers } = named(paths['/account']?.get.responses['303'] ?? { $ref: '' }) ?? {};
    expect(headers).toHaveProperty('Location');
    expect(headers).not.toHaveProperty('Access-Control-Allow-Origin');
  });
});

describe('the documented errors of the account-view API', () => {
  it('have the statuses 409, 410 and 503 for the codes that the contract lists', () => {
    const by = Map.groupBy(accountErrorCodes, (code) => accountErrorTable[code].status as number);
    expect(Object.fromEntries([...by].filter(([status]) => [409, 410, 503].includes(status)))).toEqual({
      409: [
        'invalid_account',
        'invalid_interval',
        'unsupported_interval',
        'out_of_window',
        'invalid_filter',
        'unknown_parameter',
        'invalid_cursor',
        'export_too_large',
      ],
      410: ['snapshot_expired'],
      503: ['store_busy', 'store_behind', 'client_budget', 'asset_unavailable'],
    });
  });
});

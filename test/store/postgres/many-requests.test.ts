import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { labelNumber, noon, observationOf } from '../../../harness/conformance/labels.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../harness/postgres/server.ts';
import { labelerLimits } from '../../../src/labels/state/reading-state.ts';
import { parsePostgresUrl } from '../../../src/store/postgres/base/place.ts';
import { openPostgresWriter } from '../../../src/store/postgres/write/writer.ts';

describe.skipIf(!hasPostgres())('a writer', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  const batch = { at: noon, observations: [observationOf(labelNumber(1))], refusals: [], positions: [] };

  it('refuses no request of the most labelers that ask at once', async () => {
    const writer = await openPostgresWriter({ place: parsePostgresUrl(server.url('many_requests')), at: noon });
    const asked = Array.from({ length: labelerLimits.highest }, (_, n) => writer.keys(`did:web:${n}.example`));
    expect((await Promise.all(asked)).flat()).toEqual([]);
    await writer.close();
  });

  it('refuses further requests, but commits a batch', async () => {
    const writer = await openPostgresWriter({ place: parsePostgresUrl(server.url('most_requests')), at: noon });
    await writer.append(batch);
    const asked = Array.from({ length: 2.1 * labelerLimits.highest }, (_, n) => writer.keys(`did:web:${n}.example`));
    const [appended, ...others] = await Promise.allSettled([writer.append(batch), ...asked]);
    expect(appended).toMatchObject({ status: 'fulfilled' });
    expect(others.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0);
    await writer.close();
  });
});

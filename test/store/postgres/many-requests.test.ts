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

  it('refuses neither a request of each of the most labelers at once, nor the batch that follows them', async () => {
    const writer = await openPostgresWriter({ place: parsePostgresUrl(server.url('many_requests')), at: noon });
    const asked = Array.from({ length: labelerLimits.highest }, (_, n) => writer.keys(`did:web:${n}.example`));
    const batch = { at: noon, observations: [observationOf(labelNumber(1))], refusals: [], positions: [] };
    const outcomes = await Promise.allSettled([...asked, writer.append(batch)]);
    expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([]);
    await writer.close();
  });
});

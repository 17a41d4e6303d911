import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { labelNumber, noon, observationOf, subjects } from '../../../harness/conformance/labels.ts';
import { problems } from '../../../harness/conformance/suite.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../harness/postgres/server.ts';
import type { Batch } from '../../../src/store/port.ts';
import { parsePostgresUrl } from '../../../src/store/postgres/base/place.ts';
import { openPostgresWriter } from '../../../src/store/postgres/write/writer.ts';

const [alice = ''] = subjects;

/** Returns a batch of new labels of one account. */
function ofAlice(first: number, count: number): Batch {
  const labels = Array.from({ length: count }, (_, i) => labelNumber(first + i, { uri: alice }));
  return { at: noon, observations: labels.map(observationOf), refusals: [], positions: [] };
}

describe.skipIf(!hasPostgres())('a commit in which the server rejects the rows', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  it.each([
    ['53100', 'disk_full'],
    ['53200', 'busy'],
    ['55P03', 'busy'],
    ['57014', 'busy'],
  ])(
    'is rejected with a retryable error, even if its rows make an account hot (%s), and succeeds later',
    async (state, code) => {
      const schema = `rejected_${state.toLowerCase()}`;
      const client = new pg.Client(server.client);
      await client.connect();
      onTestFinished(() => client.end());
      const writer = await openPostgresWriter({ place: parsePostgresUrl(server.url(schema)), at: noon });
      onTestFinished(() => writer.close());
      expect(await writer.append(ofAlice(0, 1))).toMatchObject({ accepted: 1 });
      await client.query(`SET search_path TO ${schema};
      CREATE FUNCTION reject() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'rejected' USING ERRCODE = '${state}'; END $$;
      CREATE TRIGGER rejecting BEFORE INSERT ON observation_2024_10_04 FOR EACH ROW EXECUTE FUNCTION reject()`);
      for (const count of [2, 64]) {
        const paused = writer.append(ofAlice(1, count));
        await expect(paused).rejects.toMatchObject({ code, retry: true, fatal: false });
      }
      await client.query('DROP TRIGGER rejecting ON observation_2024_10_04');
      expect(await writer.append(ofAlice(0, 65))).toMatchObject({ accepted: 64, duplicates: [0] });
      expect(await problems(writer)).toEqual([]);
    },
  );
});

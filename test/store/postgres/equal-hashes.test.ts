import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { labelNumber, noon, observationOf, subjects } from '../../../harness/conformance/labels.ts';
import { around, problems } from '../../../harness/conformance/suite.ts';
import { statement } from '../../../harness/postgres/appending.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../harness/postgres/server.ts';
import { parsePostgresUrl } from '../../../src/store/postgres/base/place.ts';
import { openPostgresWriter } from '../../../src/store/postgres/write/writer.ts';

/** Number of rows that make an account hot. */
const many = 70;
const schema = 'equal_hashes';

describe.skipIf(!hasPostgres())('accounts whose subjects have the same hash', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  it('have separate pages, counts and intervals', async () => {
    const writer = await openPostgresWriter({ place: parsePostgresUrl(server.url(schema)), at: noon });
    await statement(
      server,
      `CREATE OR REPLACE FUNCTION ${schema}.subject_hash(subject text) RETURNS bigint LANGUAGE sql IMMUTABLE
       PARALLEL SAFE RETURN length(subject) * 0 + 7`,
    );
    for (let i = 0; i < many; i += 10) {
      const observations = subjects.flatMap((uri, at) =>
        Array.from({ length: 10 }, (_, n) => observationOf(labelNumber(1_000 * at + i + n, { uri }))),
      );
      await writer.append({ at: noon, observations, refusals: [], positions: [] });
    }
    for (const account of subjects) {
      const asked = { account, ...around(noon) };
      const { rows } = await writer.readAccount({ ...asked, order: 'oldest', after: null, limit: 500 });
      expect(rows.map(({ label }) => label.uri)).toEqual(Array.from({ length: many }, () => account));
      const { days } = await writer.tallyAccount({ ...asked, budget: 1_000 });
      expect(days.reduce((sum, { counts }) => sum + (counts?.rows ?? 0), 0)).toBe(many);
      const parts = await writer.accountIntervals({ ...asked, maxRows: 1_000, budget: 1_000 });
      expect(parts.map(({ rows: n }) => n)).toEqual([many]);
    }
    expect(await problems(writer)).toEqual([]);
    await writer.close();
  });
});

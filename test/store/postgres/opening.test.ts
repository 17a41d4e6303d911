import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noon } from '../../../harness/conformance/labels.ts';
import { batch } from '../../../harness/conformance/suite.ts';
import { statement } from '../../../harness/postgres/appending.ts';
import { startSchemaChanges } from '../../../harness/postgres/schema-changes.ts';
import { hasPostgres, type PostgresServer, startPostgres, startStandby } from '../../../harness/postgres/server.ts';
import { until } from '../../../harness/process/until.ts';
import { openStoreReader } from '../../../src/store/open.ts';
import { parsePostgresUrl } from '../../../src/store/postgres/base/place.ts';
import { openPostgresWriter } from '../../../src/store/postgres/write/writer.ts';

const opens = 1_000;
const atOnce = 4;
const schema = 'opened';

describe.skipIf(!hasPostgres())(
  'a standby that cancels each statement that conflicts with a change of the schema',
  () => {
    let primary: PostgresServer;
    let standby: PostgresServer;
    beforeAll(async () => {
      primary = await startPostgres();
      standby = await startStandby(primary, { settings: { max_standby_streaming_delay: '0' } });
      const writer = await openPostgresWriter({ place: parsePostgresUrl(primary.url(schema)), at: noon });
      await writer.append(batch(noon, [1]));
      await writer.close();
      await until('the store on the standby', async () => {
        const found = await statement(standby, `SELECT to_regclass('${schema}.store') AS found`);
        return found[0]?.found !== null;
      });
    });
    afterAll(async () => {
      await standby.stop();
      await primary.stop();
    });

    it(`can be opened ${opens} times by readers`, async () => {
      const changes = await startSchemaChanges(primary, schema);
      const failures: string[] = [];
      let left = opens;
      await Promise.all(
        Array.from({ length: atOnce }, async () => {
          while (left-- > 0) {
            try {
              const reader = await openStoreReader(standby.url(schema));
              await reader.frontier();
              await reader.close();
            } catch (error) {
              failures.push(error instanceof Error ? error.message : String(error));
            }
          }
        }),
      );
      expect(await changes.stop()).toBeGreaterThan(0);
      expect(failures).toEqual([]);
      // The standby did cancel statements.
      const [conflicts] = await statement(
        standby,
        `SELECT (confl_lock + confl_snapshot)::int AS n FROM pg_stat_database_conflicts WHERE datname = current_database()`,
      );
      expect(conflicts?.n).toBeGreaterThan(10);
    });
  },
);

import { randomInt } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problems } from '../../../harness/conformance/suite.ts';
import { startAppending } from '../../../harness/postgres/appending.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../harness/postgres/server.ts';
import { accounts, rowsOfBatch, source } from '../../../harness/store/appender-batches.ts';
import { scanAccount } from '../../../harness/store/scan.ts';
import { parsePostgresUrl } from '../../../src/store/postgres/base/place.ts';
import { openPostgresReader } from '../../../src/store/postgres/read/reader.ts';

const rounds = Number(process.env.ALMANAC_KILLS ?? 12);
const leaseMs = 400;

describe.skipIf(!hasPostgres())('a store in PostgreSQL whose writer is killed', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres({ durable: true });
  });
  afterAll(() => server.stop());

  it('contains every acknowledged label once after each kill, with matching counters and position', async () => {
    const url = server.url('kills');
    let acknowledged = 0;
    for (let round = 1; round <= rounds; round++) {
      const appending = startAppending(url, leaseMs);
      for (let left = randomInt(1, 30); left > 0; left--) {
        const [what, number] = ((await appending.line()) ?? 'ended').split(' ');
        expect(what).toMatch(/^(?:open|ack)$/);
        expect(Number(number)).toBeGreaterThanOrEqual(acknowledged);
        if (what === 'ack') acknowledged = Number(number);
      }
      // Kill the process at a random moment of the next commit.
      for (let turns = randomInt(0, 60); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
      await appending.end('SIGKILL');
      acknowledged = await check(url, acknowledged);
    }
  });
});

/** Checks the content of the store. Returns the number of stored labels. */
async function check(url: string, acknowledged: number): Promise<number> {
  const reader = await openPostgresReader(parsePostgresUrl(url));
  const { floor, end } = await reader.frontier();
  const numbers: number[] = [];
  if (floor === end) {
    // The process was killed before its first commit.
    expect([acknowledged, await reader.positions()]).toEqual([0, []]);
    await reader.close();
    return 0;
  }
  for (const account of accounts) {
    for await (const rows of scanAccount(reader, { account, start: floor, end, order: 'oldest' }, 1e6)) {
      numbers.push(...rows.map(({ label }) => Number(label.exp)));
    }
  }
  const stored = numbers.length;
  expect(stored).toBeGreaterThanOrEqual(acknowledged);
  expect(numbers.sort((a, b) => a - b)).toEqual(Array.from({ length: stored }, (_, i) => i));
  expect(await reader.positions()).toMatchObject([{ source, value: String(stored) }]);
  const [counts] = await reader.countsByLabeler({ start: floor, end });
  expect((counts?.applied ?? 0) + (counts?.removed ?? 0)).toBe(stored);
  const refusals = await reader.refusals({ start: floor, end });
  const batches = stored / (rowsOfBatch / 2) - 1;
  expect(refusals.find(({ reason }) => reason === 'late')?.count).toBe(batches);
  expect(await problems(reader)).toEqual([]);
  await reader.close();
  return stored;
}

import { copyFileSync, existsSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { noon } from '../../../harness/conformance/labels.ts';
import { batch } from '../../../harness/conformance/suite.ts';
import { statement } from '../../../harness/postgres/appending.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../harness/postgres/server.ts';
import { openStoreWriter } from '../../../src/store/open.ts';
import type { AppendResult } from '../../../src/store/port.ts';
import { micros, second } from '../../../src/store/time.ts';

describe.skipIf(!hasPostgres())('the identities that a closed writer of a database keeps', () => {
  let server: PostgresServer;
  let companions: string;
  let stores = 0;
  let schema: string;
  const kept = (): string => join(companions, 'identities.kept');

  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(async () => {
    await server.stop();
  });
  beforeEach(() => {
    companions = mkdtempSync(join(tmpdir(), 'almanac-companions-'));
    stores += 1;
    schema = `kept_${stores}`;
  });
  afterEach(() => rmSync(companions, { recursive: true }));

  /** Opens the store, appends labels one second after the last ones, and closes it. */
  let at = noon;
  async function append(
    numbers: readonly number[],
    options: { readonly isKept?: boolean } = {},
  ): Promise<AppendResult> {
    const writer = await openStoreWriter(server.url(schema), { at, ...(options.isKept !== false && { companions }) });
    at = micros(at + second);
    try {
      return await writer.append(batch(at, numbers));
    } finally {
      await writer.close();
    }
  }

  it('let the next writer recognise the labels of the last two days without reading their rows', async () => {
    await append([0, 4]);
    // A writer that reads these rows takes the same labels for new ones.
    await statement(server, `UPDATE ${schema}.observation SET identity = decode(md5(at::text), 'hex')`);
    expect(await append([0, 4, 8])).toMatchObject({ accepted: 1, duplicates: [0, 1] });
    await statement(server, `UPDATE ${schema}.observation SET identity = decode(md5(at::text), 'hex')`);
    rmSync(kept());
    expect(await append([0, 4, 8])).toMatchObject({ accepted: 3 });
  });

  it('are removed by the next writer before it accepts labels', async () => {
    await append([0]);
    const writer = await openStoreWriter(server.url(schema), { at, companions });
    expect(existsSync(kept())).toBe(false);
    await writer.close();
    expect(existsSync(kept())).toBe(true);
  });

  it('are not used if another process has written since, because it may have purged labels', async () => {
    await append([0]);
    copyFileSync(kept(), `${kept()}.copy`);
    // The other process adds no row, so that the last row is the same.
    await append([], { isKept: false });
    await statement(server, `DELETE FROM ${schema}.observation`);
    renameSync(`${kept()}.copy`, kept());
    expect(await append([0])).toMatchObject({ accepted: 1 });
  });

  it('are not used if the database has lost rows, so that the labels of these rows are accepted again', async () => {
    await append([0]);
    const [before] = await statement(server, `SELECT last_stamp, observed_through FROM ${schema}.store`);
    await append([4]);
    // The state of a server that did not receive the last commit.
    await statement(
      server,
      `DELETE FROM ${schema}.observation WHERE at > ${before?.last_stamp};
       UPDATE ${schema}.store SET last_stamp = ${before?.last_stamp}, observed_through = ${before?.observed_through}`,
    );
    expect(await append([0, 4])).toMatchObject({ accepted: 1, duplicates: [0] });
  });

  it('are not kept without a directory for them', async () => {
    await append([0], { isKept: false });
    expect(existsSync(kept())).toBe(false);
    expect(await append([0, 4])).toMatchObject({ accepted: 1, duplicates: [0] });
  });
});

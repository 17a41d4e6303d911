import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { labelNumber, noon, observationOf } from '../../../harness/conformance/labels.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../harness/postgres/server.ts';
import { labelerLimits } from '../../../src/labels/state/reading-state.ts';
import type { StoredGap, StoreReader } from '../../../src/store/port.ts';
import { parsePostgresUrl } from '../../../src/store/postgres/base/place.ts';
import { Session } from '../../../src/store/postgres/base/session.ts';
import { openPostgresStandby } from '../../../src/store/postgres/standby/standby.ts';
import { openPostgresWriter } from '../../../src/store/postgres/write/writer.ts';
import { micros } from '../../../src/store/time.ts';

describe.skipIf(!hasPostgres())('a writer', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  const batch = { at: noon, observations: [observationOf(labelNumber(1))], refusals: [], positions: [] };

  /** Makes requests at once. Returns the number of those that were refused as `busy`. */
  const refusedOf = async (reader: Pick<StoreReader, 'keys'>, requests: number): Promise<number> => {
    const asked = Array.from({ length: requests }, (_, n) => reader.keys(`did:web:${n}.example`));
    const settled = await Promise.allSettled(asked);
    return settled.filter((one) => one.status === 'rejected' && one.reason.code === 'busy').length;
  };
  const tooMany = 2.1 * labelerLimits.highest;

  it('refuses no request of the most labelers that ask at once', async () => {
    const writer = await openPostgresWriter({ place: parsePostgresUrl(server.url('many_requests')), at: noon });
    const refused = refusedOf(writer, labelerLimits.highest);
    await writer.close();
    expect(await refused).toBe(0);
  });

  it('refuses further reads, but commits a batch and the changes that precede it', async () => {
    const writer = await openPostgresWriter({ place: parsePostgresUrl(server.url('most_requests')), at: noon });
    await writer.append(batch);
    const refused = refusedOf(writer, tooMany);
    const gap: StoredGap = { source: 'did:web:0.example', start: noon, end: micros(noon + 1), reason: 'unknown' };
    const [appended] = await Promise.all([
      writer.append(batch),
      writer.recordGap(gap),
      writer.changeGaps([{ kind: 'withdraw', gap }]),
    ]);
    expect(appended).toMatchObject({ accepted: 0 });
    await writer.close();
    expect(await refused).toBeGreaterThan(0);
  });

  it('can be observed, followed and replaced by a standby that refuses further reads', async () => {
    const place = parsePostgresUrl(server.url('standby_requests'));
    const writer = await openPostgresWriter({ place, at: noon });
    await writer.append(batch);
    const standby = await openPostgresStandby({ place, clock: () => noon });
    const refused = refusedOf(standby, tooMany);
    expect(await standby.writer()).toMatchObject({ kind: 'writing' });
    const stored: string[] = [];
    await standby.follow((identity) => stored.push(identity));
    expect(stored).toHaveLength(1);
    await writer.close();
    const refusedAgain = refusedOf(standby, tooMany);
    const successor = await standby.takeOver();
    expect(await successor.append(batch)).toMatchObject({ accepted: 0 });
    await successor.close();
    for (const count of [await refused, await refusedAgain]) expect(count).toBeGreaterThan(0);
  });

  it('makes the changes in their order, before the reads that wait for a connection', async () => {
    const session = new Session(parsePostgresUrl(server.url('order_of_requests')), 'writer', 1);
    const order: string[] = [];
    const noted = (name: string) => async (): Promise<void> => void order.push(name);
    await Promise.all([
      ...['read 1', 'read 2'].map((name) => session.read(noted(name))),
      ...['change 1', 'change 2'].map((name) => session.write(noted(name))),
    ]);
    expect(order).toEqual(['read 1', 'change 1', 'change 2', 'read 2']);
    await session.close();
  });
});

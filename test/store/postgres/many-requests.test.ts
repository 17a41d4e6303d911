import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { labelNumber, noon, observationOf } from '../../../harness/conformance/labels.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../harness/postgres/server.ts';
import { labelerLimits } from '../../../src/labels/state/reading-state.ts';
import type { StoredGap, StoreReader } from '../../../src/store/port.ts';
import { parsePostgresUrl } from '../../../src/store/postgres/base/place.ts';
import { Session, shortLimits } from '../../../src/store/postgres/base/session.ts';
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

  /** Makes more requests at once than may wait. Returns the number of those that were refused as `busy`. */
  const refusedOf = async (reader: Pick<StoreReader, 'keys'>): Promise<number> => {
    const asked = Array.from({ length: 2.1 * labelerLimits.highest }, (_, n) => reader.keys(`did:web:${n}.example`));
    const settled = await Promise.allSettled(asked);
    return settled.filter((one) => one.status === 'rejected' && one.reason.code === 'busy').length;
  };

  it('refuses no request of the most labelers that ask at once', async () => {
    const writer = await openPostgresWriter({ place: parsePostgresUrl(server.url('many_requests')), at: noon });
    const asked = Array.from({ length: labelerLimits.highest }, (_, n) => writer.keys(`did:web:${n}.example`));
    expect((await Promise.all(asked)).flat()).toEqual([]);
    await writer.close();
  });

  it('refuses further reads, but commits a batch and the changes that precede it', async () => {
    const writer = await openPostgresWriter({ place: parsePostgresUrl(server.url('most_requests')), at: noon });
    await writer.append(batch);
    const refused = refusedOf(writer);
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
    const refused = refusedOf(standby);
    // A slow machine may exceed the time limit of a look, but the look is not refused.
    expect(await standby.writer().then(() => 'answered', String)).not.toContain('too many requests');
    const stored: string[] = [];
    await standby.follow((identity) => stored.push(identity));
    expect(stored).toHaveLength(1);
    await writer.close();
    const refusedAgain = refusedOf(standby);
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

  it('does not begin a change that was aborted while it waited for a connection', async () => {
    const session = new Session(parsePostgresUrl(server.url('aborted_requests')), 'writer', 1);
    const held = Promise.withResolvers<void>();
    const read = session.read(() => held.promise);
    const aborting = new AbortController();
    const work = vi.fn(() => Promise.resolve());
    const asked = Promise.allSettled([session.write(work, { ...shortLimits, signal: aborting.signal })]);
    aborting.abort();
    held.resolve();
    await read;
    expect(await asked).toMatchObject([{ status: 'rejected', reason: { code: 'closed' } }]);
    expect(work).not.toHaveBeenCalled();
    await session.close();
  });

  it('rejects the changes and the reads that wait for a connection when it is closed', async () => {
    const session = new Session(parsePostgresUrl(server.url('closed_requests')), 'writer', 1);
    const nothing = (): Promise<void> => Promise.resolve();
    const asked = Promise.allSettled([session.read(nothing), session.write(nothing), session.read(nothing)]);
    await session.close();
    const closed = { status: 'rejected', reason: { code: 'closed' } };
    expect(await asked).toMatchObject([{ status: 'fulfilled' }, closed, closed]);
  });
});

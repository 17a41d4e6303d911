import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { labelNumber, noon, observationOf } from '../../../harness/conformance/labels.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../harness/postgres/server.ts';
import { labelerLimits } from '../../../src/labels/state/reading-state.ts';
import type { StoredGap } from '../../../src/store/port.ts';
import { parsePostgresUrl } from '../../../src/store/postgres/base/place.ts';
import { Session } from '../../../src/store/postgres/base/session.ts';
import { openPostgresWriter } from '../../../src/store/postgres/write/writer.ts';
import { micros } from '../../../src/store/time.ts';

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

  it('refuses further reads, but commits a batch and the changes that precede it', async () => {
    const writer = await openPostgresWriter({ place: parsePostgresUrl(server.url('most_requests')), at: noon });
    await writer.append(batch);
    const asked = Array.from({ length: 2.1 * labelerLimits.highest }, (_, n) => writer.keys(`did:web:${n}.example`));
    const gap: StoredGap = { source: 'did:web:0.example', start: noon, end: micros(noon + 1), reason: 'unknown' };
    const changed = [writer.append(batch), writer.recordGap(gap), writer.changeGaps([{ kind: 'withdraw', gap }])];
    const [changes, reads] = await Promise.all([Promise.allSettled(changed), Promise.allSettled(asked)]);
    expect(changes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled']);
    expect(reads.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0);
    await writer.close();
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

import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { suspendedServer } from '../../../harness/net/listen.ts';
import { isConnecting, type Refuse, refusingServer } from '../../../harness/postgres/refusing-server.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../harness/postgres/server.ts';
import { parsePostgresUrl } from '../../../src/store/postgres/base/place.ts';
import { type Queries, Session, shortLimits } from '../../../src/store/postgres/base/session.ts';
import { sqlStates } from '../../../src/store/postgres/base/sqlstates.ts';

const delays = [20, 40, 80, ...Array.from({ length: 12 }, () => 160)];

describe.skipIf(!hasPostgres())('an error of a PostgreSQL server', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  const urlOf = async (...servers: readonly Refuse[]): Promise<string> => {
    const ports = await Promise.all(servers.map((refuse) => refusingServer(server, refuse)));
    return `postgres://almanac@${ports.map((port) => `127.0.0.1:${port}`).join(',')}/postgres?schema=public`;
  };

  /** Reads through a server. Returns the rows or the error, and the delays between the attempts. */
  async function readThrough(url: string) {
    const waited: number[] = [];
    const wait = (ms: number): Promise<void> => Promise.resolve(void waited.push(ms));
    const session = new Session(parsePostgresUrl(url), 'any', 1, undefined, wait);
    const result = await session.read((queries) => queries.rows('SELECT 7 AS n')).catch((error: unknown) => error);
    await session.close();
    return { result, waited };
  }

  describe.each(Object.entries(sqlStates))('is treated as the table says (%s)', (key, state) => {
    const refusal = { code: key.padEnd(5, '0'), isFatal: !state.isKept };
    const refuse: Refuse = (sql) => (isConnecting(sql) ? refusal : null);

    it('while a connection is made', async () => {
      const { result, waited } = await readThrough(await urlOf(refuse));
      // An error that ends the choice keeps its code. If no server can be used, only a lack of room differs.
      const expected = state.connecting === 'report' || state.error === 'busy' ? state.error : 'unreachable';
      expect(result).toMatchObject({ code: expected });
      expect(waited).toEqual(state.connecting === 'repeat' || state.connecting === 'round' ? delays : []);
    });

    it('while a connection is made, with another server in the URL', async () => {
      // The other server is tried when the first has failed, and not because the machine takes long to repeat a statement.
      vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
      onTestFinished(() => void vi.useRealTimers());
      const { result, waited } = await readThrough(await urlOf(refuse, () => null));
      if (state.connecting === 'report') expect(result).toMatchObject({ code: state.error });
      else expect(result).toEqual([{ n: 7 }]);
      expect(waited).toEqual(state.connecting === 'repeat' ? delays : []);
    });

    it('in a read', async () => {
      let attempts = 0;
      const url = await urlOf((sql) => {
        if (sql !== 'SELECT 7 AS n') return null;
        attempts += 1;
        return refusal;
      });
      const { result } = await readThrough(url);
      expect(result).toMatchObject({ code: state.error });
      expect(attempts).toBe({ repeat: delays.length + 1, once: 2, report: 1 }[state.reading]);
    });
  });

  /** Returns a function that refuses the first statement for which `holds` is true. */
  function once(holds: (sql: string) => boolean, refusal: ReturnType<Refuse>): Refuse {
    let isRefused = false;
    return (sql) => {
      if (isRefused || !holds(sql)) return null;
      isRefused = true;
      return refusal;
    };
  }

  it('that ends a new connection before its first statement, does not prevent reading', async () => {
    const refusal = { code: '40001', isAfterwards: true };
    const { result, waited } = await readThrough(await urlOf(once(isConnecting, refusal)));
    expect(result).toEqual([{ n: 7 }]);
    expect(waited).toEqual([20]);
  });

  it('that ends each new connection before its first statement, is reported with the reason of the server', async () => {
    const { result, waited } = await readThrough(
      await urlOf((sql) => (isConnecting(sql) ? { code: '40001', isAfterwards: true } : null)),
    );
    expect(result).toMatchObject({ code: 'busy', message: expect.stringContaining('40001') });
    expect(waited).toEqual(delays);
  });

  it('that ends idle connections one after the other, does not prevent reading', async () => {
    let left = 3;
    const { result } = await readThrough(
      await urlOf((sql) => (sql.startsWith('BEGIN') && left-- > 0 ? 'close' : null)),
    );
    expect(result).toEqual([{ n: 7 }]);
  });

  it('is recognized as a conflict with recovery in later versions of PostgreSQL and in other languages', async () => {
    const refusal = { code: '57014', message: 'Konflikt', routine: 'ProcessRecoveryConflictInterrupt' };
    const { result } = await readThrough(await urlOf(once((sql) => sql.startsWith('SELECT 7'), refusal)));
    expect(result).toEqual([{ n: 7 }]);
  });

  it('does not make all servers be tried again if one of them has not responded', async () => {
    const port = await suspendedServer();
    const url = await urlOf((sql) => (isConnecting(sql) ? { code: '57P03', isFatal: true } : null));
    const waited: number[] = [];
    const wait = (ms: number): Promise<void> => Promise.resolve(void waited.push(ms));
    const limits = { statementMs: 1_000, replyMs: 50 };
    const place = parsePostgresUrl(url.replace('/postgres?', `,127.0.0.1:${port}/postgres?`));
    const session = new Session(place, 'any', 1, limits, wait);
    const read = session.read((queries) => queries.rows('SELECT 7 AS n'));
    await expect(read).rejects.toMatchObject({ code: 'unreachable' });
    expect(waited).toEqual([]);
    await session.close();
  });

  describe('in a change', () => {
    let calls = 0;
    const change = (queries: Queries) => {
      calls += 1;
      return queries.rows('SELECT 7 AS n');
    };
    const sessionOver = async (refuse: Refuse): Promise<Session> => {
      calls = 0;
      return new Session(parsePostgresUrl(await urlOf(refuse)), 'primary', 1);
    };

    it('has no effect if the server ended the connection before the change began', async () => {
      const ended = { code: '57P01', isFatal: true };
      const session = await sessionOver(once((sql) => sql.startsWith('BEGIN'), ended));
      expect(await session.write(change)).toEqual([{ n: 7 }]);
      expect(calls).toBe(1);
      await session.close();
    });

    it.each(['SELECT 7', 'COMMIT'])('is reported if the connection was lost after that (at %s)', async (statement) => {
      const session = await sessionOver(once((sql) => sql.startsWith(statement), 'close'));
      await expect(session.write(change)).rejects.toMatchObject({ code: 'unreachable', retry: true });
      expect(calls).toBe(1);
      await session.close();
    });

    it('is reported by a read with effects outside the database, which is not repeated either', async () => {
      const session = await sessionOver(once((sql) => sql.startsWith('SELECT 7'), 'close'));
      const limits = { ...shortLimits, repeats: 'unbegun' } as const;
      await expect(session.read(change, { limits })).rejects.toMatchObject({ code: 'unreachable' });
      expect(calls).toBe(1);
      await session.close();
    });

    it('is reported to a caller that must learn of each error', async () => {
      const session = await sessionOver(once((sql) => sql.startsWith('BEGIN'), 'close'));
      const limits = { ...shortLimits, repeats: 'nothing' } as const;
      await expect(session.write(change, limits)).rejects.toMatchObject({ code: 'unreachable' });
      expect(calls).toBe(0);
      await session.close();
    });
  });
});

import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { noon } from '../../../harness/conformance/labels.ts';
import { batch, later } from '../../../harness/conformance/suite.ts';
import { isConnecting, type Refusal, type Refuse, refusingServer } from '../../../harness/postgres/refusing-server.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../../harness/postgres/server.ts';
import type { CopiedRow, CopySource } from '../../../src/store/copy/parts.ts';
import { inspect, openStoreReader, storeProcesses } from '../../../src/store/open.ts';
import type { AppendResult, StoredGap, StoreWriter } from '../../../src/store/port.ts';
import { type PostgresPlace, parsePostgresUrl } from '../../../src/store/postgres/base/place.ts';
import { sqlStates } from '../../../src/store/postgres/base/sqlstates.ts';
import { openPostgresSource } from '../../../src/store/postgres/copy/source.ts';
import { openPostgresTarget } from '../../../src/store/postgres/copy/target.ts';
import { openPostgresStandby } from '../../../src/store/postgres/standby/standby.ts';
import { openPostgresWriter } from '../../../src/store/postgres/write/writer.ts';
import { dayOf, hour, micros } from '../../../src/store/time.ts';

const schema = 'refused';
/** Duration of a lease that is not renewed, in milliseconds. */
const leaseMs = 50;

type Open = (url: string) => Promise<void>;

const read: Open = async (url) => {
  const reader = await openStoreReader(url);
  await reader.frontier();
  await reader.close();
};

/** Reads of the commands and of a copy. */
const commands: readonly (readonly [string, Open])[] = [
  [
    'labels verify',
    async (url) => {
      const reader = await openStoreReader(url);
      for await (const { problems } of reader.verify()) expect(problems).toEqual([]);
      await reader.close();
    },
  ],
  ['doctor', async (url) => void (await inspect(url))],
  ['the list of processes', async (url) => void (await storeProcesses(url))],
  [
    'the source of a copy',
    async (url) => {
      const source = await openPostgresSource(parsePostgresUrl(url));
      await source.look();
      await source.content();
      await source.close();
    },
  ],
];

/** Errors after which a read is repeated. */
const repeatable: readonly (readonly [string, Refusal | 'close'])[] = [
  ['a conflict with recovery', { code: '40001' }],
  ['a closed connection', 'close'],
  ['a conflict with recovery that ends the connection', { code: '40001', isFatal: true }],
  ['a deadlock with recovery', { code: '40P01' }],
  [
    'a conflict in a later version and another language',
    { code: '57014', message: 'Konflikt', routine: 'ProcessRecoveryConflictInterrupt' },
  ],
  ['a shutdown', { code: '57P01', isFatal: true }],
  ['a crash', { code: '57P02', isFatal: true }],
  ['an idle connection that the server ended', { code: '57P05', isFatal: true }],
  ['a lost connection', { code: '08006', isFatal: true }],
  ['a pooler that ended the connection', { code: '08P01', isFatal: true }],
];

/** Errors after which a connection attempt is repeated, but not a read; and whether they are fatal. */
const temporary = [
  ['55P03', false],
  ['57014', false],
  ['53300', true],
  ['57P03', true],
] as const;

const writers: readonly (readonly [string, Open])[] = [
  ['a writer', async (url) => (await openPostgresWriter({ place: parsePostgresUrl(url), at: noon, leaseMs })).close()],
  [
    'a standby',
    async (url) => (await openPostgresStandby({ place: parsePostgresUrl(url), clock: () => noon, leaseMs })).close(),
  ],
];

describe.skipIf(!hasPostgres())('a server, a failover or a pooler that refuses a statement', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
    const writer = await openPostgresWriter({ place: parsePostgresUrl(server.url(schema)), at: noon });
    await writer.append(batch(noon, [1, 2]));
    await writer.close();
  });
  afterAll(() => server.stop());

  const urlOf = async (refuse: Refuse): Promise<string> =>
    `postgres://almanac@127.0.0.1:${await refusingServer(server, refuse)}/postgres?schema=${schema}`;

  /**
   * Runs `open` once for each of its statements, and refuses this statement once. Returns the number of statements, the
   * first of which is the start of a connection.
   */
  async function refuseEach(
    refusal: Refusal | 'close',
    open: (url: string, refused: () => string) => Promise<void>,
  ): Promise<number> {
    let seen = 0;
    let at = 0;
    let refused = '';
    const url = await urlOf((sql) => {
      if (seen++ !== at) return null;
      refused = sql;
      return refusal;
    });
    for (; at === 0 || refused !== ''; at++) {
      seen = 0;
      refused = '';
      await open(url, () => refused);
    }
    return at - 1;
  }

  it.each(repeatable)('does not prevent reading (%s)', async (_, refusal) => {
    expect(await refuseEach(refusal, read)).toBeGreaterThan(9);
  });

  describe.each(commands)('does not prevent %s', (_, run) => {
    it.each(repeatable.slice(0, 2))('(%s)', async (__, refusal) => {
      expect(await refuseEach(refusal, run)).toBeGreaterThan(9);
    });
  });

  it.each(temporary)('does not prevent a new connection, if it answers with %s once', async (code, isFatal) => {
    await refuseEach({ code, isFatal }, async (url, refused) => {
      const error = await read(url).catch((thrown: unknown) => thrown);
      if (refused() === '' || isConnecting(refused())) expect(error).toBe(undefined);
      else expect(error).toMatchObject({ code: sqlStates[code]?.error, retry: true });
    });
  });

  describe.each(writers)('prevents the opening of %s only if work has begun, and not the next opening', (_, open) => {
    it.each(repeatable.slice(0, 2))('(%s)', async (__, refusal) => {
      await refuseEach(refusal, async (url, refused) => {
        const error = await open(url).catch((thrown: unknown) => thrown);
        if (error === undefined) return;
        expect(error).toMatchObject({ retry: true });
        expect(isConnecting(refused()) || refused().startsWith('BEGIN')).toBe(false);
        await open(server.url(schema));
      });
    });
  });

  describe('rolls back a transaction that a busy machine left idle', () => {
    /** Opens a store. The server then refuses the statements for which `holds` is true, as often as `times` says. */
    async function opened<T extends { close(): Promise<void> }>(
      open: (place: PostgresPlace) => Promise<T>,
      name: string,
      holds: (sql: string) => boolean,
      times: number,
    ): Promise<T> {
      let left = 0;
      const url = await urlOf((sql) => {
        if (!holds(sql) || left === 0) return null;
        left -= 1;
        return { code: '25P03', isFatal: true };
      });
      const store = await open({ ...parsePostgresUrl(url), schema: name });
      onTestFinished(() => store.close());
      left = times;
      return store;
    }
    const write = (place: PostgresPlace) => openPostgresWriter({ place, at: noon });
    const countsRows = (sql: string): boolean => sql.includes('add_counts');
    const readsGaps = (sql: string): boolean => sql.includes('FROM gap');
    const gap: StoredGap = { source: 'did:web:a.example', start: noon, end: micros(noon + 1), reason: 'unknown' };

    it('once: a batch and a gap are stored in spite of it', async () => {
      const writer = await opened(write, 'idle_batch', countsRows, 1);
      expect(await writer.append(batch(noon, [1, 2]))).toMatchObject({ accepted: 2, duplicates: [] });
      expect(await writer.append(batch(noon, [1, 2, 3]))).toMatchObject({ accepted: 1, duplicates: [0, 1] });
      const other = await opened(write, 'idle_gap', readsGaps, 1);
      await other.recordGap(gap);
      expect(await other.gaps({ start: noon, end: later(noon, hour) })).toEqual([gap]);
    });

    it('twice: they are rejected as busy, and are stored at the next attempt', async () => {
      const writer = await opened(write, 'idle_batches', countsRows, 2);
      await expect(writer.append(batch(noon, [1, 2]))).rejects.toMatchObject({ code: 'busy', retry: true });
      expect(await writer.append(batch(noon, [1, 2]))).toMatchObject({ accepted: 2 });
      const other = await opened(write, 'idle_gaps', readsGaps, 2);
      await expect(other.recordGap(gap)).rejects.toMatchObject({ code: 'busy', retry: true });
      await other.recordGap(gap);
      expect(await other.gaps({ start: noon, end: later(noon, hour) })).toEqual([gap]);
    });

    /** Appends a batch that is rolled back. A second batch arrives while the writer reads the state again. */
    const appendDuringReload = async (name: string, times: number) => {
      const isReload = (sql: string): boolean => sql.includes('max(day)');
      let writer: StoreWriter | null = null;
      let second: Promise<AppendResult> | undefined;
      const holds = (sql: string): boolean => {
        if (isReload(sql)) second ??= writer?.append(batch(noon, [2]));
        return countsRows(sql) || isReload(sql);
      };
      writer = await opened(write, name, holds, times);
      const [first] = await Promise.allSettled([writer.append(batch(noon, [1]))]);
      return { writer, first, second: await second };
    };

    it('once: a batch that arrives while the state is read again is stored after the first', async () => {
      const { writer, first, second } = await appendDuringReload('idle_reload', 1);
      expect(first).toMatchObject({ value: { accepted: 1, last: noon } });
      expect(second).toMatchObject({ accepted: 1, last: noon + 1 });
      expect(await writer.append(batch(noon, [1, 2]))).toMatchObject({ accepted: 0, duplicates: [0, 1] });
    });

    it('twice, also when the state is read again: the first batch is rejected as busy, and can be stored later', async () => {
      const { writer, first, second } = await appendDuringReload('idle_reloads', 2);
      expect(first).toMatchObject({ reason: { code: 'busy', retry: true } });
      expect(second).toMatchObject({ accepted: 1 });
      expect(await writer.append(batch(noon, [1, 2]))).toMatchObject({ accepted: 1, duplicates: [1] });
    });

    it('once: rows of a copy are rejected as busy, and keep their labeler at the next attempt', async () => {
      const source = await openPostgresSource(parsePostgresUrl(server.url(schema)));
      onTestFinished(() => source.close());
      const begin = async (place: PostgresPlace) =>
        openPostgresTarget(place, (await source.look()).epoch.generationId, noon);
      const target = await opened(begin, 'idle_copy', (sql) => sql.startsWith('COPY'), 1);
      const rowsOf = async (from: Pick<CopySource, 'rows'>): Promise<readonly CopiedRow[]> => {
        const rows: CopiedRow[] = [];
        await from.rows(dayOf(noon), -1, async (chunk) => void rows.push(...chunk));
        return rows;
      };
      const rows = await rowsOf(source);
      const progress = {
        day: dayOf(noon),
        revision: 0,
        through: rows.at(-1)?.at ?? -1,
        rows: 2,
        digest: '',
        isVerified: false,
      };
      await target.beginDay(progress.day, progress.revision);
      await expect(target.add(rows, progress)).rejects.toMatchObject({ code: 'busy', retry: true });
      await target.add(rows, progress);
      expect(await rowsOf(target)).toEqual(rows);
    });
  });
});

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Script, startScript } from '../../harness/process/script.ts';
import { accounts, firstInstant, rowsOfBatch } from '../../harness/store/appender-batches.ts';
import { scanAccount } from '../../harness/store/scan.ts';
import type { StoreReader } from '../../src/store/port.ts';
import { faultPoints } from '../../src/store/sqlite/base/connection.ts';
import { openSqliteReader } from '../../src/store/sqlite/read/reader.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { day, micros } from '../../src/store/time.ts';

/** Number of runs with random kills. */
const kills = Number(process.env.ALMANAC_TEST_KILLS ?? 50);
/** Maximum duration of a run after the store has been opened or the run has made progress, in milliseconds. */
const maxRun = 60;

describe('a writer that is killed', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'almanac-kill-'));
  });
  afterEach(async () => {
    await rm(folder, { recursive: true, force: true });
  });

  it(
    `loses no accepted row, stores no row twice and keeps its counters, after ${kills} kills at random times`,
    async () => {
      const random = xorshift(20_261_121);
      let accepted = 0;
      for (let run = 0; run < kills; run++) {
        // Every second run may be killed before it makes progress. The other runs make progress on a machine of any
        // speed.
        const wait = async (appender: Script): Promise<void> => {
          for (let ack = 0; run % 2 === 1 && ack < 2; ack++) expect(await appender.line('ack')).not.toBeNull();
          await delay(random() * maxRun);
        };
        accepted = Math.max(accepted, await runAndKill(folder, wait));
        if (run % 10 === 9) await expectWhole(folder, accepted);
      }
      expect(accepted).toBeGreaterThan((kills * rowsOfBatch) / 2);
      await expectWhole(folder, accepted);
    },
    60_000 + kills * 4_000,
  );

  it('excludes other writers while it runs, and leaves no lock behind', async () => {
    await runAndKill(folder, () => {
      expect(() => openSqliteWriter({ folder, at: firstInstant })).toThrowError(
        expect.objectContaining({ code: 'second_writer', retry: false }),
      );
      return Promise.resolve();
    });
    await openSqliteWriter({ folder, at: firstInstant }).close();
  });

  it.each(
    faultPoints
      .filter((point) => !/^(expire|checksums|purge|new-epoch|restore)\./.test(point))
      .map((point) => ({ point })),
  )('leaves a consistent store (kill at $point)', async ({ point }) => {
    const count = point.startsWith('append') ? 7 : 2;
    const accepted = await runUntilDead(folder, `${point}:${count}`);
    await expectWhole(folder, accepted);
    await expectWhole(folder, await runUntilDead(folder, `append.committed:30`));
  });
});

/**
 * Starts an appender, and kills it once the store has been opened and `wait` has resolved. Returns the number of
 * acknowledged rows.
 */
async function runAndKill(folder: string, wait: (appender: Script) => Promise<void>): Promise<number> {
  const { appender, acknowledged } = start(folder);
  expect(await appender.line('open')).not.toBeNull();
  await wait(appender);
  await appender.end('SIGKILL');
  return acknowledged();
}

/** Starts an appender that kills itself at a fault point. Returns the number of acknowledged rows. */
async function runUntilDead(folder: string, fault: string): Promise<number> {
  const { appender, acknowledged } = start(folder, fault);
  expect(await appender.ended).toBe('SIGKILL');
  return acknowledged();
}

function start(...args: readonly string[]) {
  let acknowledged = 0;
  const appender = startScript('store/appender.ts', args, (line) => {
    acknowledged = Number(line.split(' ')[1]);
  });
  return { appender, acknowledged: () => acknowledged };
}

/** Opens the store as the next run would, and compares its rows with the acknowledged ones. */
async function expectWhole(folder: string, accepted: number): Promise<void> {
  const writer = openSqliteWriter({ folder, at: firstInstant });
  await writer.close();
  const store = openSqliteReader(folder);
  try {
    const numbers = await everyNumber(store);
    // Compare the rows with the batches: the rows are in order of acceptance, each occurs once, and all acknowledged
    // rows exist.
    expect(numbers.findIndex((n, i) => n !== i)).toBe(-1);
    expect(numbers.length).toBeGreaterThanOrEqual(accepted);
    const [position] = await store.positions();
    const through = Number(position?.value ?? 0);
    expect(through).toBe(numbers.length);
    for await (const report of store.verify()) expect(report.problems).toEqual([]);
    const { floor, end } = await store.frontier();
    const counts = numbers.length === 0 ? [] : await store.countsByLabeler({ start: floor, end });
    expect(counts.reduce((sum, { applied, removed }) => sum + applied + removed, 0)).toBe(numbers.length);
    // Each batch had one refused label, which is counted once, in the commit of that batch.
    const refused = numbers.length === 0 ? [] : await store.refusals({ start: floor, end: micros(end + day) });
    const batches = through === 0 ? 0 : (through - rowsOfBatch) / (rowsOfBatch / 2) + 1;
    expect(refused.find(({ reason }) => reason === 'late')?.count ?? 0).toBe(batches);
  } finally {
    await store.close();
  }
}

async function everyNumber(store: StoreReader): Promise<number[]> {
  const { floor, end } = await store.frontier();
  const interval = { start: floor, end: micros(Math.max(end, floor + day)), order: 'oldest' } as const;
  const found: [at: number, number: number][] = [];
  for (const account of accounts) {
    for await (const rows of scanAccount(store, { account, ...interval }, 1e6)) {
      for (const { observedAt, label } of rows) found.push([observedAt, Number(label.exp)]);
    }
  }
  return found.sort(([a], [b]) => a - b).map(([, number]) => number);
}

/** Returns a generator of numbers from 0 to 1 that produces the same sequence in every run. */
function xorshift(seed: number): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { spawnLabels } from '../../harness/labels/labels-process.ts';
import { until } from '../../harness/process/until.ts';
import { createSim } from '../../sim/index.ts';
import { openStoreReader, storeProcesses } from '../../src/store/open.ts';

/** Starts a network. Returns the directory of a store, and the arguments of instruments that observe the network. */
async function network() {
  const sim = createSim({ seed: 2, labelers: 2, labelRate: 20, rate: 1, historyHours: 0 });
  const { seeds, plc, jetstream } = await sim.start();
  const folder = mkdtempSync(join(tmpdir(), 'almanac-fenced-'));
  onTestFinished(async () => {
    await sim.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const url = `sqlite:${join(folder, 'store')}`;
  const args = [
    ...['--store', url, '--artifacts', join(folder, 'artifacts'), '--plc', plc ?? '', '--relay', plc ?? ''],
    ...['--jetstream', jetstream, '--seeds', seeds ?? '', '--allow-loopback', '--min-free-megabytes', '0'],
  ];
  return { folder, url, args };
}

function start(args: readonly string[]) {
  const labels = spawnLabels(args);
  onTestFinished(() => void labels.process.kill('SIGKILL'));
  return labels;
}

async function endOf(url: string): Promise<number> {
  const store = await openStoreReader(url);
  try {
    return (await store.frontier()).end;
  } finally {
    await store.close();
  }
}

/**
 * Suspends the writer and replaces its token. Resumes the writer and returns false if it was suspended within a commit,
 * because it then holds the file's lock.
 */
function replaceToken(writer: ReturnType<typeof start>, state: Database.Database): boolean {
  writer.process.kill('SIGSTOP');
  try {
    state.prepare('UPDATE epoch SET writer = ?').run('another pid 1');
    return true;
  } catch (error) {
    if (!(error instanceof Database.SqliteError) || error.code !== 'SQLITE_BUSY') throw error;
    writer.process.kill('SIGCONT');
    return false;
  }
}

test('a writer whose token was replaced while it was suspended stores nothing after it resumes, and exits with the reason', async () => {
  const { folder, url, args } = await network();
  const writer = start(args);
  await writer.observing;
  await until('labels are stored', async () => (await endOf(url)) > 0);
  const state = new Database(join(folder, 'store/state.sqlite'), { timeout: 0 });
  await until('the writer is suspended between two commits', () => replaceToken(writer, state));
  state.close();
  const end = await endOf(url);
  writer.process.kill('SIGCONT');
  const { code, stderr } = await writer.ended;
  expect(code).toBe(1);
  expect(stderr.join('\n')).toContain('another process (pid 1) became the writer of this store');
  expect(await endOf(url)).toBe(end);
});

test('a store has at most one standby, cannot be handed over without a standby, and keeps its writer when the standby stops', async () => {
  const { url, args } = await network();
  const writer = start(args);
  await writer.observing;
  const alone = await start(['hand-over', '--store', url]).ended;
  expect([alone.code, alone.stderr.join(' ')]).toEqual([1, expect.stringContaining('this store has no standby')]);
  const standby = start(['--standby', ...args]);
  await until('the standby is ready', async () => (await storeProcesses(url)).standby?.state === 'ready');
  const second = await start(['--standby', ...args]).ended;
  expect([second.code, second.stderr.join(' ')]).toEqual([
    1,
    expect.stringContaining('this store already has a standby'),
  ]);
  standby.process.kill('SIGTERM');
  const { code, stdout } = await standby.ended;
  expect([code, stdout]).toEqual([0, ['almanac labels standing by']]);
  expect(await storeProcesses(url)).toMatchObject({
    standby: null,
    writer: { state: 'ready', pid: writer.process.pid },
  });
});

test('a hand-over to a suspended standby does not stop the writer', async () => {
  const { url, args } = await network();
  const writer = start(args);
  await writer.observing;
  const standby = start(['--standby', ...args]);
  await until('the standby is ready', async () => (await storeProcesses(url)).standby?.state === 'ready');
  standby.process.kill('SIGSTOP');
  const { code, stderr } = await start(['hand-over', '--store', url]).ended;
  expect([code, stderr.join(' ')]).toEqual([1, expect.stringContaining('the standby is suspended')]);
  expect((await storeProcesses(url)).writer).toMatchObject({ state: 'ready', pid: writer.process.pid });
  standby.process.kill('SIGCONT');
});

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import { folderInTest } from '../../harness/process/folder.ts';
import { takeWriterLock } from '../../src/store/sqlite/base/files.ts';
import { openSqliteStandby, sqliteProcesses } from '../../src/store/sqlite/standby/standby.ts';
import { openSqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { day, micros } from '../../src/store/time.ts';

const at = micros(20_000 * day + 1_000);

function batch(values: readonly string[]) {
  const observations = values.map((val) => ({
    label: { src: 'did:plc:a', uri: 'did:plc:b', val, cts: '2026-11-22T00:00:00.000Z' },
    signature: 'verified' as const,
  }));
  return { at, observations, refusals: [], positions: [] };
}

test('a standby follows the rows that the writer stores, and does not store them again when it becomes the writer', async () => {
  const folder = folderInTest();
  const writer = openSqliteWriter({ folder, at });
  await writer.append(batch(['a', 'b']));
  const standby = openSqliteStandby({ folder, clock: () => at });
  const stored: string[] = [];
  await standby.follow((identity) => stored.push(identity));
  await writer.append(batch(['c']));
  await standby.follow((identity) => stored.push(identity));
  const { observations } = batch(['a', 'b', 'c', 'd']);
  expect(stored).toEqual(observations.slice(0, 3).map(({ label }) => standby.identityOf(label)));
  expect(observations.map(({ label }) => standby.knows(standby.identityOf(label)))).toEqual([true, true, true, false]);
  await writer.append(batch(['d']));
  await expect(standby.takeOver()).rejects.toMatchObject({ code: 'second_writer' });
  await writer.close();
  expect(await standby.writer()).toEqual({ kind: 'none' });
  const next = await standby.takeOver();
  onTestFinished(() => next.close());
  expect(await next.append(batch(['a', 'c', 'd', 'e']))).toMatchObject({ accepted: 1, duplicates: [0, 1, 2] });
});

test('a standby reads the label identities again after rows were purged', async () => {
  const folder = folderInTest();
  const writer = openSqliteWriter({ folder, at });
  onTestFinished(() => writer.close());
  await writer.append(batch(['a']));
  const standby = openSqliteStandby({ folder, clock: () => at });
  onTestFinished(() => standby.close());
  await standby.follow();
  const later = micros(at + 1_000_000);
  await writer.requestPurge({ source: 'did:plc:a', at: later });
  while (await writer.purge(later));
  await standby.follow();
  const [only] = batch(['a']).observations;
  expect(only && standby.knows(standby.identityOf(only.label))).toBe(false);
});

test('a standby that becomes the writer does not know the rows that were purged since it last followed the writer', async () => {
  const folder = folderInTest();
  const writer = openSqliteWriter({ folder, at });
  await writer.append(batch(['a']));
  const standby = openSqliteStandby({ folder, clock: () => at });
  await standby.follow();
  const later = micros(at + 1_000_000);
  await writer.requestPurge({ source: 'did:plc:a', at: later });
  while (await writer.purge(later));
  await writer.close();
  const next = await standby.takeOver();
  onTestFinished(() => next.close());
  expect(await next.append(batch(['a']))).toMatchObject({ accepted: 1, duplicates: [] });
});

test('a store accepts only one standby, and lists the standby and the writer with their states', async () => {
  const folder = folderInTest();
  expect(() => openSqliteStandby({ folder, clock: () => at })).toThrow(
    expect.objectContaining({ code: 'not_a_store' }),
  );
  const writer = openSqliteWriter({ folder, at });
  onTestFinished(() => writer.close());
  const standby = openSqliteStandby({ folder, clock: () => at });
  expect(() => openSqliteStandby({ folder, clock: () => at })).toThrow(
    expect.objectContaining({
      code: 'second_writer',
      message: 'this store already has a standby; a store can have only one',
    }),
  );
  const own = { pid: process.pid };
  expect(sqliteProcesses(folder)).toMatchObject({
    writer: { state: 'ready', ...own },
    standby: { state: 'opening', ...own },
  });
  await standby.ready();
  expect(sqliteProcesses(folder).standby?.state).toBe('ready');
  await standby.close();
  expect(sqliteProcesses(folder).standby).toBe(null);
});

test('a check for a writer or a standby never prevents a process from becoming one', async () => {
  const path = join(folderInTest(), 'writer.lock');
  takeWriterLock(path).release();
  // The other process checks in the same way as `writerLockHeld`, without a pause.
  const look = `const Database = require(process.argv[2]);
    process.stdout.write('looking');
    for (;;) {
      const db = new Database(process.argv[1], { readonly: true, timeout: 0 });
      try { db.prepare('SELECT 1 FROM sqlite_master').get(); } catch {} finally { db.close(); }
    }`;
  const sqlite = createRequire(import.meta.url).resolve('better-sqlite3');
  const looking = spawn(process.execPath, ['-e', look, path, sqlite], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void looking.kill('SIGKILL'));
  await once(looking.stdout, 'data');
  for (let times = 0; times < 1_000; times += 1) takeWriterLock(path).release();
});

test('the heartbeat changes while the writer is open', async () => {
  const folder = folderInTest();
  const writer = openSqliteWriter({ folder, at });
  onTestFinished(() => writer.close());
  const standby = openSqliteStandby({ folder, clock: () => at });
  onTestFinished(() => standby.close());
  const first = await standby.writer();
  await expect.poll(() => standby.writer()).not.toEqual(first);
});

test('a standby signals the recorded writer, or reports why it cannot', async () => {
  const folder = folderInTest();
  const writer = openSqliteWriter({ folder, at });
  onTestFinished(() => writer.close());
  const signalled: [number, string][] = [];
  let refusal: Error | null = null;
  const standby = openSqliteStandby({
    ...{ folder, clock: () => at },
    signal: (pid, name) => {
      if (refusal) throw refusal;
      signalled.push([pid, name]);
    },
  });
  onTestFinished(() => standby.close());
  expect(await standby.endWriter()).toEqual({ kind: 'killed', pid: process.pid });
  expect(signalled).toEqual([[process.pid, 'SIGKILL']]);
  refusal = Object.assign(new Error('refused'), { code: 'EPERM' });
  expect(await standby.endWriter()).toEqual({
    kind: 'kept',
    why: `this process may not signal process ${process.pid} (EPERM)`,
  });
});

test.each([
  ['with another start time', { started: '1' }],
  ['of another namespace', { namespace: 'pid:[1]' }],
  ['that is a group of processes', { pid: -1 }],
  ['that does not exist', { pid: 2 ** 30 }],
])('a standby never signals a recorded process %s', async (_, change) => {
  const folder = folderInTest();
  const writer = openSqliteWriter({ folder, at });
  onTestFinished(() => writer.close());
  const signalled: number[] = [];
  const standby = openSqliteStandby({ folder, clock: () => at, signal: (pid) => void signalled.push(pid) });
  onTestFinished(() => standby.close());
  const { readFileSync } = await import('node:fs');
  const path = join(folder, 'writer.json');
  const record = JSON.parse(readFileSync(path, 'utf8')) as { process: object };
  writeFileSync(path, JSON.stringify({ ...record, process: { ...record.process, ...change } }));
  expect((await standby.endWriter()).kind).toBe('kept');
  expect(signalled).toEqual([]);
});

test('changes of a writer whose token was replaced are refused as fenced', async () => {
  const folder = folderInTest();
  const writer = openSqliteWriter({ folder, at });
  onTestFinished(() => writer.close());
  await writer.append(batch(['a']));
  await expect(writer.assertWriter()).resolves.toBeUndefined();
  const state = new Database(join(folder, 'state.sqlite'));
  state.prepare('UPDATE epoch SET writer = ?').run('another pid 7');
  state.close();
  const gap = { source: null, start: at, end: micros(at + 1), reason: 'ingest_paused' as const };
  const changes = [
    () => writer.append(batch(['b'])),
    () => writer.recordGap(gap),
    () => writer.changeGaps([{ kind: 'record', gap }]),
    () => writer.beat(at),
    () => writer.putNote('a', 'b'),
    () => writer.maintain(at),
    () => writer.purge(at),
    () => writer.assertWriter(),
  ];
  for (const change of changes) await expect(change()).rejects.toMatchObject({ code: 'fenced', fatal: true });
  expect([await writer.gaps({ start: at, end: micros(at + 9) }), await writer.note('a')]).toEqual([[], null]);
  expect((await writer.frontier()).end).toBe(at + 1);
});

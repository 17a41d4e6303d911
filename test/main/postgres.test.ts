import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { spawnLabels } from '../../harness/labels/labels-process.ts';
import { hasPostgres, type PostgresServer, startPostgres } from '../../harness/postgres/server.ts';
import { runProgram, startProgramInTest } from '../../harness/process/program-in-test.ts';
import { until } from '../../harness/process/until.ts';
import { createSim } from '../../sim/index.ts';
import { checkDenied, checkStore } from '../../src/main/doctor/stores.ts';
import { openStoreReader } from '../../src/store/open.ts';
import { micros } from '../../src/store/time.ts';

describe.skipIf(!hasPostgres())('an observatory whose store is in PostgreSQL', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.stop());

  it('observes, survives a kill, passes verification, and serves the account surface, with the roles of store init', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'almanac-postgres-'));
    const admin = server.url('observatory');
    const made = await runProgram(['store', 'init', '--store', admin]);
    expect(made).toMatchObject({ code: 0, stderr: [] });
    const as = (role: string) => admin.replace('almanac@', `${role}@`);
    const [writerUrl, readerUrl] = [as('almanac_writer'), as('almanac_reader')];

    const shapeLabeler = () => ({ software: 'skyware' }) as const;
    const sim = createSim({ rate: 1, historyHours: 0, labelers: 3, labelRate: 20, shapeLabeler });
    const { seeds, plc, relays, jetstream } = await sim.start();
    const network = ['--plc', plc ?? '', '--jetstream', jetstream, '--seeds', seeds ?? '', '--allow-loopback'];
    network.push(...relays.flatMap((relay) => ['--relay', relay]));
    const places = ['--store', writerUrl, '--state', `${folder}/state`, '--artifacts', `${folder}/artifacts`];
    const observe = async () => {
      const labels = spawnLabels([...places, ...network, '--publish-seconds', '1']);
      onTestFinished(async () => {
        labels.process.kill('SIGKILL');
        await labels.ended;
        await sim.stop();
        rmSync(folder, { recursive: true, force: true });
      });
      await labels.observing;
      return labels;
    };
    const stored = async () => {
      const store = await openStoreReader(readerUrl);
      try {
        const { startedAt: start } = await store.epoch();
        const counts = await store.countsByLabeler({ start, end: micros(Date.now() * 1000 + 3_600_000_000) });
        return { start, rows: counts.map(({ labeler, ...actions }) => [labeler, actions]).sort() };
      } finally {
        await store.close();
      }
    };

    const first = await observe();
    await until('some labels are stored', async () => (await stored()).rows.length > 0);
    first.process.kill('SIGKILL');
    await first.ended;
    const second = await observe();
    for (const { faults } of sim.labelers.list) faults.setRate(0);
    await until('the stored rows agree with the record', async () => {
      const { start, rows } = await stored();
      const { byAction } = sim.labelers.truth.expected({ epochUs: start, which: 'emitted' });
      return isDeepStrictEqual(rows, [...byAction].sort());
    });
    const findings = await checkStore(readerUrl, Date.now());
    expect(findings.findings.map(({ check, level }) => [check, level])).toEqual([
      ['label store', 'ok'],
      ['label writer', 'ok'],
      ['label standby', 'ok'],
    ]);
    const [gone = ''] = sim.labelers.truth.expected({ epochUs: 0, which: 'emitted' }).byAction.keys();
    const operated = ['--store', writerUrl, '--state', `${folder}/state`];
    for (const action of ['deny', 'purge']) {
      expect(await runProgram(['labels', action, gone, ...operated])).toMatchObject({ code: 0, stderr: [] });
    }
    await until('a labeler is removed', async () => {
      const { stdout } = await runProgram(['labels', 'purge', ...operated]);
      return stdout.join().includes('completed');
    });
    expect((await stored()).rows.map(([labeler]) => labeler)).not.toContain(gone);
    const sources = await runProgram(['labels', 'sources', ...operated]);
    expect([sources.code, sources.stdout.join()]).toEqual([0, expect.stringContaining(gone)]);
    expect(await checkDenied(readerUrl, `${folder}/state`)).toMatchObject([{ level: 'ok' }]);
    second.process.kill('SIGTERM');
    expect(await second.ended).toMatchObject({ code: 0 });

    const verified = await runProgram(['labels', 'verify', '--store', readerUrl]);
    expect([verified.code, verified.stdout.at(-1)]).toEqual([0, 'every counter matches its rows']);
    const listed = await runProgram(['labels', 'purge', '--store', readerUrl, '--state', `${folder}/state`]);
    expect([listed.code, listed.stdout]).toEqual([0, [expect.stringContaining(`${gone} requested`)]]);
    const refused = await runProgram(['labels', 'new-epoch', '--store', writerUrl]);
    expect([refused.code, refused.stderr.join()]).toEqual([1, expect.stringContaining('another schema')]);

    const account = startProgramInTest(['account', '--port', '0', '--store', readerUrl, '--data', folder]);
    const { url } = await account.listening();
    const [did] = sim.labelers.truth.expected({ epochUs: 0, which: 'emitted' }).byAction.keys();
    const page = await fetch(`${url}/exports?did=${did}&days=7`);
    expect([page.status, Object.keys((await page.json()) as object)]).toEqual([200, expect.any(Array)]);
    expect(await account.stop()).toBe(0);

    const copied = `sqlite:${folder}/copied`;
    const copy = await runProgram(['store', 'copy', writerUrl, copied, '--state', `${folder}/state`]);
    expect([copy.code, copy.stderr]).toEqual([0, []]);
    const again = await runProgram(['labels', 'verify', '--store', copied]);
    expect([again.code, again.stdout.at(-1)]).toEqual([0, 'every counter matches its rows']);
    expect((await runProgram(['labels', 'deny', '--store', copied])).stdout).toEqual([expect.stringContaining(gone)]);
    const moved = await runProgram(['labels', ...places, ...network]);
    expect([moved.code, moved.stderr.join()]).toEqual([1, expect.stringContaining('almanac store reopen')]);
    expect(await runProgram(['store', 'reopen', writerUrl])).toMatchObject({ code: 0, stderr: [] });
  });

  it('refuses a URL that contains a password, without repeating the password', async () => {
    const url = 'postgres://almanac:secret@db.example/almanac';
    for (const args of [['labels', 'verify'], ['account'], ['store', 'init']]) {
      const { code, stdout, stderr } = await runProgram([...args, '--store', url]);
      expect(code).toBe(1);
      expect(stderr.join()).toContain('it contains a password');
      expect([...stdout, ...stderr].join()).not.toContain('secret');
    }
  });
});

import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sealedToday, useSqliteFolder } from '../../harness/store/sqlite-folder.ts';
import { changeDenyFile, parseDenyTarget, requireDenyList } from '../../src/labels/operator/deny-file.ts';

/** Id of the user who runs the instrument. The backup belongs to root. */
const user = 65_534;
/** Group of the account view. The user of the instrument does not belong to it, as in deploy/. */
const readers = 65_533;
const asRoot = process.getuid?.() === 0;
const program = join(import.meta.dirname, '..', '..', 'bin', 'almanac.mjs');
const denial = {
  ...{ target: parseDenyTarget('example.com'), reason: 'floods' },
  ...{ since: '2026-11-20T12:00:00.000Z', purge: null },
};

const place = useSqliteFolder();
let backup = '';
let restored = '';
/** Directory of the backup if `backup` is a file. */
let backupFolder = '';

beforeEach(async () => {
  await place.sealBusyDay();
  await changeDenyFile(place.path, (list) => list.with(denial));
  backup = mkdtempSync(join(tmpdir(), 'almanac-backup-'));
  cpSync(place.path, backup, { recursive: true });
  chmodSync(backup, 0o755);
  restored = mkdtempSync(join(tmpdir(), 'almanac-restored-'));
  chownSync(restored, user, readers);
  chmodSync(restored, 0o2750);
});
afterEach(() => {
  for (const one of [backup, backupFolder, restored].filter(Boolean)) rmSync(one, { recursive: true, force: true });
  backupFolder = '';
});

/** Runs `almanac labels restore` with the umask 077, by default as the user of the instrument. Rejects if it fails. */
async function restore(uid = user): Promise<string> {
  const command = `umask 077; exec "$@"`;
  const args = [program, 'labels', 'restore', backup, '--store', `sqlite:${restored}`];
  const options = { uid, gid: uid, cwd: '/' };
  return (await promisify(execFile)('/bin/sh', ['-c', command, 'sh', process.execPath, ...args], options)).stdout;
}

/** Expects the command to fail with a message that contains `text`. */
async function expectFailure(text: string, uid = user): Promise<void> {
  await expect(restore(uid)).rejects.toMatchObject({ stderr: expect.stringContaining(text) as string });
}

describe.skipIf(!asRoot)('a restore for the user of the instrument', () => {
  it('accepts read-only files, restores the denials, and creates files that readers of the directory can read', async () => {
    chmodSync(join(backup, 'state.sqlite'), 0o444);
    expect((await restore()).split('\n').slice(-3)).toEqual([
      'denied labelers and domains in the backup: 1; they are denied again',
      `restored sqlite:${restored} from ${backup}; start almanac labels, and restart almanac account`,
      '',
    ]);
    expect((await requireDenyList(restored)).entries).toEqual([denial]);
    const names = ['days', join('days', sealedToday), 'state.sqlite'];
    const found = names.map((name) => statSync(join(restored, name)));
    expect(found.map(({ mode }) => mode & 0o7777)).toEqual([0o2750, 0o444, 0o640]);
    expect(found.map(({ gid }) => gid)).toEqual([readers, readers, readers]);
  });

  it('keeps the denials that the store already has', async () => {
    const own = { ...denial, reason: 'harassment' };
    await changeDenyFile(restored, (list) => list.with(own));
    await restore();
    expect((await requireDenyList(restored)).entries).toEqual([own]);
  });

  it('is refused to root if another user owns the parent of the new directory', async () => {
    rmSync(restored, { recursive: true });
    const parent = mkdtempSync(join(tmpdir(), 'almanac-restored-'));
    restored = join(parent, 'labels');
    chownSync(parent, user, user);
    await expectFailure('run this command as that user', 0);
    expect(readdirSync(parent)).toEqual([]);
  });

  it('is refused if an interrupted restore has copied another backup', async () => {
    const unfinished = join(restored, 'restore-move.unfinished');
    mkdirSync(unfinished);
    writeFileSync(join(unfinished, 'origin'), '/backup/other');
    chownSync(unfinished, user, user);
    await expectFailure('an interrupted restore from /backup/other must be completed first');
  });

  it('refuses a file in place of the directory of a backup', async () => {
    const file = join(backup, 'state.sqlite');
    [backup, backupFolder] = [file, backup];
    await expectFailure(`${file} contains no state.sqlite`);
  });

  it('names a file that the user cannot read, and leaves no file that prevents a start', async () => {
    chmodSync(join(backup, 'days', sealedToday), 0o400);
    await expectFailure(
      `${join(backup, 'days', sealedToday)}: copyfile: permission denied (EACCES): check its owner and mode`,
    );
    expect(readdirSync(restored).filter((name) => name.includes('unfinished'))).toEqual([]);
  });

  it('is refused to root if another user owns the directory of the store', async () => {
    await expectFailure(`${restored} belongs to the user ${user}: run this command as that user`, 0);
  });

  it('does not suggest moving aside a list of denials that the user cannot read', async () => {
    chmodSync(join(backup, 'labels-denied.json'), 0o600);
    await expectFailure(
      `${join(backup, 'labels-denied.json')} cannot be read: permission denied (EACCES): check its owner and mode`,
    );
  });

  it('reports missing permission, not a missing store, if the user cannot enter the directory of the backup', async () => {
    rmSync(join(backup, 'labels-denied.json'));
    chmodSync(backup, 0o700);
    await expectFailure('permission denied (EACCES)');
  });
});

import { execFileSync } from 'node:child_process';
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { folderInTest } from '../../harness/process/folder.ts';
import { root } from '../../harness/process/imports.ts';
import { emptyDelta, windowUs } from '../../src/weather/window/window.ts';
import { openWindowStore, storeFile, type WindowStore } from '../../src/weather/window/window-store.ts';

/** Tests the documented restore of a weather store whose instrument was killed. */

const host = 'wss://host.example/subscribe';
const first = 1_780_000_020_000_000;
const everything = { from: 0, to: Number.MAX_SAFE_INTEGER };

/** Commits a number of minutes after those that the store contains. */
function observe(store: WindowStore, minutes: number): void {
  const { id, revision } = store.series(host);
  for (let after = revision; after < revision + minutes; after += 1) {
    const from = first + after * windowUs;
    const observed = [{ from, to: from + windowUs }];
    const windows = [{ ...emptyDelta(from), events: 100 }];
    store.commit({ series: id, after, gains: [{ windows, observed }], live: null, backfill: null });
  }
}

/** Returns what the store contains: its revision, the observed time, and the minutes. */
function contentOf(folder: string) {
  const store = openWindowStore(folder);
  try {
    const { id, revision } = store.series(host);
    const minutes = store.windows(id, everything, []).map(({ startUs }) => (startUs - first) / windowUs);
    return { revision, observed: store.observed(id, everything), minutes };
  } finally {
    store.close();
  }
}

/** Returns the documented commands between the stop of the instrument and its start, for other directories. */
function documentedRestore(data: string, backup: string): string {
  const text = readFileSync(join(root, 'docs/operations.md'), 'utf8').split('To restore the copy:\n')[1] ?? '';
  const [block = ''] = /(?:\n {4}\S.*)+/.exec(text) ?? [];
  return block
    .replaceAll(/^ +systemctl .*$/gm, '')
    .replaceAll('sudo -u almanac-weather ', '')
    .replaceAll('/var/lib/almanac/weather', data)
    .replaceAll('/backup/weather', backup);
}

/** Creates the store of an instrument that was killed, with 440 minutes, and an earlier copy, with 40 minutes. */
function killedStore() {
  const folder = folderInTest();
  const [running, killed, backup] = [join(folder, 'running'), join(folder, 'killed'), join(folder, 'backup')];
  const begun = openWindowStore(running);
  observe(begun, 40);
  begun.close();
  const copied = contentOf(running);
  mkdirSync(backup);
  copyFileSync(join(running, storeFile), join(backup, storeFile));
  const store = openWindowStore(running);
  observe(store, 400);
  // The files of a killed process: the last commits are only in the log.
  cpSync(running, killed, { recursive: true });
  store.close();
  expect(existsSync(join(killed, `${storeFile}-wal`))).toBe(true);
  return { killed, backup, copied };
}

it('a weather store that is restored after a kill contains what the copy contains, and nothing of the log of the replaced file', () => {
  const { killed, backup, copied } = killedStore();
  execFileSync('sh', ['-euc', documentedRestore(killed, backup)]);
  expect(contentOf(killed)).toEqual(copied);
});

it('each restore of a weather store keeps the replaced files, and nothing of an earlier restore is added to them', () => {
  const { killed, backup, copied } = killedStore();
  execFileSync('sh', ['-euc', documentedRestore(killed, backup)]);
  const restored = openWindowStore(killed);
  observe(restored, 5);
  restored.close();
  execFileSync('sh', ['-euc', documentedRestore(killed, backup)]);
  expect(contentOf(killed)).toEqual(copied);
  const replaced = readdirSync(killed).filter((name) => name.startsWith('set-aside'));
  const revisions = replaced.map((name) => contentOf(join(killed, name)).revision);
  expect(revisions.toSorted((a, b) => a - b)).toEqual([45, 440]);
});

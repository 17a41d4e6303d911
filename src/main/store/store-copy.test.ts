import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { changeDenyFile, type DenyEntry, readDenyFile, requireDenyList } from '../../labels/operator/deny-file.ts';
import { openStoreWriter } from '../../store/open.ts';
import { micros } from '../../store/time.ts';
import { copyStores } from './store-copy.ts';

const since = '2026-11-22T10:00:00.000Z';

function denial(domain: string): DenyEntry {
  return { target: { kind: 'domain', domain }, reason: null, since, purge: null };
}

/** Copies an empty store with its denials to another directory, which may contain a list from an earlier attempt. */
async function copy(denials: { readonly from: readonly DenyEntry[]; readonly to: readonly DenyEntry[] }) {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-copy-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [from, to] = [join(folder, 'from'), join(folder, 'to')];
  await (await openStoreWriter(`sqlite:${from}`, { at: micros(0) })).close();
  for (const entry of denials.from) await changeDenyFile(from, (list) => list.with(entry));
  for (const entry of denials.to) await changeDenyFile(to, (list) => list.with(entry));
  const urls = { from: `sqlite:${from}`, to: `sqlite:${to}`, state: folder };
  expect(await copyStores({ ...urls, once: false, handOver: false }, () => undefined)).toBe(0);
  return to;
}

it('a copy of a store contains its denials and no others, also if the store denies no labeler', async () => {
  const [own, stale] = [denial('own.example'), denial('stale.example')];
  expect((await requireDenyList(await copy({ from: [own], to: [stale] }))).entries).toEqual([own]);
  expect((await requireDenyList(await copy({ from: [], to: [stale] }))).entries).toEqual([]);
});

it('a copy of a store without denials has no list of them', async () => {
  expect(await readDenyFile(await copy({ from: [], to: [] }))).toEqual({ kind: 'absent' });
});

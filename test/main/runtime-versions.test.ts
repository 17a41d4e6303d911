import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it, onTestFinished } from 'vitest';

const entry = join(import.meta.dirname, '..', '..', 'bin', 'almanac.mjs');
let folder = '';

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-runtime-'));
  mkdirSync(join(folder, 'bin'));
  mkdirSync(join(folder, 'dist'));
  cpSync(entry, join(folder, 'bin', 'almanac.mjs'));
  writeFileSync(join(folder, 'dist', 'almanac.js'), "console.log('ran in this process');\n");
  return () => rmSync(folder, { recursive: true });
});

/** Starts the entry point, without a pinned runtime, on a Node that reports another version. */
function startOn(version: string): { output: string; status: number | null } {
  const versions = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
  const preload = join(folder, `${version}.mjs`);
  writeFileSync(preload, versions);
  onTestFinished(() => rmSync(preload));
  const words = ['--import', preload, join(folder, 'bin', 'almanac.mjs')];
  const { stdout, stderr, status } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  return { output: `${stdout}${stderr}`, status };
}

it.each(['22.19.0', '22.22.1', '24.6.0', '24.21.0', '25.0.0', '26.1.0'])(
  'Node %s runs the program itself',
  (version) => {
    expect(startOn(version)).toEqual({ output: 'ran in this process\n', status: 0 });
  },
);

// Node 22.18 and 24.5 ignore the dictionary of a compressed stream; Node 23.6 has no zstd.
it.each(['20.20.2', '22.18.0', '23.6.0', '23.11.1', '24.0.0', '24.5.0'])(
  'Node %s, without a pinned runtime, is refused in one line that names the versions that run the program',
  (version) => {
    expect(startOn(version)).toEqual({
      output: `almanac: needs Node 22.19 or later of Node 22, or Node 24.6 or later; this is ${version}\n`,
      status: 1,
    });
  },
);

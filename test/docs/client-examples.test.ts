import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { artifactFolderInTest } from '../../harness/artifacts/artifacts.ts';
import { runsPython } from '../../harness/packages/python.ts';
import { root } from '../../harness/process/imports.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { writeClientPackage } from '../../scripts/packages/client-package.ts';

/** Runs the programs in the clients' documentation against the real program. */

const run = promisify(execFile);

/** Returns the only program of a language in a page. */
function programIn(page: string, language: string): string {
  const found = [...readFileSync(join(root, page), 'utf8').matchAll(/```(\w+)\n([\s\S]*?)```/g)];
  const [program, ...others] = found.filter(([, name]) => name === language).map(([, , text = '']) => text);
  if (program === undefined || others.length > 0) throw new Error(`${page} has not one program in ${language}`);
  return program;
}

async function service() {
  const folder = artifactFolderInTest();
  const { url } = await startProgramInTest(['facts', '--port', '0', '--artifacts', folder]).listening();
  return { url, refuse: () => rmSync(join(folder, 'weather-summary.json')) };
}

function directoryInTest(): string {
  const directory = mkdtempSync(join(tmpdir(), 'almanac-docs-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

const fetched = /^fetched \d{4}-\d\d-\d\dT\S+Z [\d.]+\n$/;

describe.each(['docs/client.md', 'clients/typescript/README.md'])('the TypeScript program in %s', (page) => {
  it('prints a fact and a refusal', async () => {
    const { url, refuse } = await service();
    const directory = directoryInTest();
    writeClientPackage(root, join(directory, 'node_modules', 'almanac-client'));
    const file = join(directory, 'example.mts');
    writeFileSync(file, programIn(page, 'ts').replace('https://facts.example', url));
    expect((await run(process.execPath, [file])).stdout).toMatch(fetched);
    refuse();
    expect((await run(process.execPath, [file])).stderr).toMatch(/^refused: source_unavailable: \S/);
  });
});

describe.skipIf(!runsPython)('the Python program', () => {
  it.each(['docs/client.md', 'clients/python/README.md'])('prints a fact and a refusal (%s)', async (page) => {
    const { url, refuse } = await service();
    const file = join(directoryInTest(), 'example.py');
    writeFileSync(file, programIn(page, 'python'));
    const path = { PYTHONPATH: join(root, 'clients', 'python'), PYTHONDONTWRITEBYTECODE: '1' };
    const python = async () => (await run('python3', [file, url], { env: { ...process.env, ...path } })).stdout;
    expect(await python()).toMatch(fetched);
    refuse();
    expect(await python()).toMatch(/^refused: source_unavailable: \S/);
  });
});

import { execFile } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { artifactFolderInTest } from '../../harness/artifacts/artifacts.ts';
import { writeClientPackage } from '../../harness/packages/client-package.ts';
import { runsPython } from '../../harness/packages/python.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { root } from '../../harness/process/imports.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';

/** Runs the programs in the clients' documentation against the real program. */

const run = promisify(execFile);

/** Returns the programs of a language in a page. */
function programsIn(page: string, language: string): string[] {
  const found = [...readFileSync(join(root, page), 'utf8').matchAll(/```(\w+)\n([\s\S]*?)```/g)];
  return found.filter(([, name]) => name === language).map(([, , text = '']) => text);
}

/** Returns the only program of a language in a page whose source contains `contained`. */
function programIn(page: string, language: string, contained: string): string {
  const [program, ...others] = programsIn(page, language).filter((text) => text.includes(contained));
  if (program === undefined || others.length > 0)
    throw new Error(`${page} does not have exactly one program in ${language} that contains ${contained}`);
  return program;
}

/** Writes a TypeScript program of a page to a directory in which it can import the client package. */
function writtenProgram(page: string, contained: string, url: string): string {
  const directory = folderInTest();
  writeClientPackage(root, join(directory, 'node_modules', 'almanac-client'));
  const file = join(directory, 'example.mts');
  writeFileSync(file, programIn(page, 'ts', contained).replace('https://facts.example', url));
  return file;
}

async function service() {
  const folder = artifactFolderInTest();
  const { url } = await startProgramInTest(['facts', '--port', '0', '--artifacts', folder]).listening();
  return { url, refuse: () => rmSync(join(folder, 'weather-summary.json')) };
}

const currentFact = /^current \d{4}-\d\d-\d\dT\S+Z [\d.]+\n$/;

describe.each(['docs/client.md', 'clients/typescript/README.md'])('the TypeScript program in %s', (page) => {
  it('prints a fact and a refusal', async () => {
    const { url, refuse } = await service();
    const file = writtenProgram(page, 'weatherMetrics', url);
    expect((await run(process.execPath, [file])).stdout).toMatch(currentFact);
    refuse();
    expect((await run(process.execPath, [file])).stderr).toMatch(/^refused: source_unavailable: \S/);
  });
});

it('the program in docs/client.md that reads the weather conditions prints a condition with its confidence, origin and age', async () => {
  const { url } = await service();
  const file = writtenProgram('docs/client.md', 'weatherConditions', url);
  expect((await run(process.execPath, [file])).stdout).toMatch(/^[a-z_]+, [a-z_]+\n[a-z]+ artifact [\d.]+ s old\n$/);
});

it('the documents of the clients contain only the programs that these tests run', () => {
  const pages = ['docs/client.md', 'clients/typescript/README.md', 'clients/python/README.md'];
  const counts = pages.map((page) => [programsIn(page, 'ts').length, programsIn(page, 'python').length]);
  expect(counts).toEqual([
    [2, 1],
    [1, 0],
    [0, 1],
  ]);
});

describe.skipIf(!runsPython)('the Python program', () => {
  it.each(['docs/client.md', 'clients/python/README.md'])('prints a fact and a refusal (%s)', async (page) => {
    const { url, refuse } = await service();
    const file = join(folderInTest(), 'example.py');
    writeFileSync(file, programIn(page, 'python', 'weather_metrics'));
    const path = { PYTHONPATH: join(root, 'clients', 'python'), PYTHONDONTWRITEBYTECODE: '1' };
    const python = async () => (await run('python3', [file, url], { env: { ...process.env, ...path } })).stdout;
    expect(await python()).toMatch(currentFact);
    refuse();
    expect(await python()).toMatch(/^refused: source_unavailable: \S/);
  });
});

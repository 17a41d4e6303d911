import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openApi } from '../../harness/artifacts/openapi.ts';
import { installProgram, packProgram } from '../../harness/packages/client-package.ts';
import { root } from '../../harness/process/imports.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { licencesFile, namesInLicences } from '../../scripts/packages/licences.mjs';

/** Tests the package as an operator installs it, without the repository. */

let directory = '';
let tarball = '';
let installed = '';

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'almanac-packed-'));
  tarball = await packProgram(directory);
  await installProgram(directory, tarball);
  installed = join(directory, 'node_modules', 'almanac');
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
}

function manifest(): { dependencies: Record<string, string> } {
  return JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
}

function isDependency(name: string): boolean {
  return Object.hasOwn(manifest().dependencies, name);
}

/** Returns the names of the packages that the sources import, except those imported only for their types. */
function importedPackages(): Set<string> {
  const files = ['src', 'sim'].flatMap((folder) => filesOf(join(root, folder)).map((file) => join(root, folder, file)));
  const names = files
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file))
    .flatMap((file) => [
      ...readFileSync(file, 'utf8').matchAll(/^(?!import type ).*\bfrom '((?:@[a-z]+\/)?[a-z][\w.-]*)/gm),
    ])
    // Skip packages that are not installed: a string with an example program names one.
    .flatMap(([, name = '']) => (existsSync(join(root, 'node_modules', name)) ? [name] : []));
  return new Set(names);
}

describe('the packed program', () => {
  it('runs the demo without the repository, serves facts, and stops', async () => {
    const data = join(directory, 'data');
    const demo = startProgramInTest(['demo', '--data', data, '--port', '0', '--account-port', '0'], {
      bin: join(directory, 'node_modules', '.bin', 'almanac'),
    });
    const { url } = await demo.listening();
    for (const path of ['/v1/instruments', '/v1/labels/overview', '/v1/weather/conditions', '/v1/weather/metrics']) {
      const response = await fetch(url + path);
      expect([path, response.status]).toEqual([path, 200]);
      expect(openApi.faults('get', path, 200, await response.json()), path).toEqual([]);
    }
    for (const path of ['/', '/docs', '/policy', '/llms.txt', '/openapi.json', '/assets/observatory.js']) {
      expect([path, (await fetch(url + path)).status]).toEqual([path, 200]);
    }
    expect(await demo.stop()).toBe(0);
  });

  it('contains the program with its assets and documents, but no sources or tests', () => {
    const files = filesOf(installed);
    const topLevel = [...new Set(files.map((file) => file.split('/')[0]))].sort();
    expect(topLevel).toEqual([
      ...['ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'SECURITY.md', 'assets'],
      ...['bin', 'deploy', 'dist', 'docs', 'examples', 'package.json'],
    ]);
    const unneeded = files.filter(
      (file) => /(?:^|\/)\.|\.test\.|\.map$|\.tsx$/.test(file) && !file.endsWith('.rules.test.yml'),
    );
    expect(unneeded).toEqual([]);
    expect(files.filter((file) => file.startsWith('assets/'))).toEqual(
      filesOf(join(root, 'assets')).map((file) => `assets/${file}`),
    );
  });

  it('has the licence text of every package whose code it contains', () => {
    const text = readFileSync(join(installed, 'dist', licencesFile), 'utf8');
    const names = namesInLicences(text);
    expect(importedPackages().size).toBeGreaterThan(10);
    expect([...importedPackages()].filter((name) => !names.includes(name) && !isDependency(name))).toEqual([]);
    expect(names.filter((name) => isDependency(name))).toEqual([]);
    const sections = text.split(/^={80}\n\S+ \S+ \(.*\)\n={80}$/m).slice(1);
    expect(sections.filter((section) => !/copyright|permission to use/i.test(section))).toEqual([]);
  });

  it('depends only on packages that are not bundled', () => {
    const resolved = createRequire(join(installed, 'dist', 'almanac.js'));
    for (const name of Object.keys(manifest().dependencies)) expect(() => resolved.resolve(name), name).not.toThrow();
    const imported = filesOf(join(installed, 'dist'))
      .filter((file) => file.endsWith('.js'))
      .flatMap((file) => [
        ...readFileSync(join(installed, 'dist', file), 'utf8').matchAll(
          /^import [^'"\n]*["']((?!node:)[^./'"][^'"]*)["']/gm,
        ),
      ])
      .map(([, name]) => name);
    expect([...new Set(imported)].sort()).toEqual(Object.keys(manifest().dependencies).sort());
    // Apart from these dependencies, an installation contains only the packages that they depend on.
    expect(readdirSync(join(directory, 'node_modules')).filter((name) => !name.startsWith('.')).length).toBeLessThan(5);
  });

  it('is at most 3 MB as a tarball', () => {
    expect(statSync(join(directory, tarball)).size).toBeLessThan(3_000_000);
  });

  it('contains every page that its pages link to', () => {
    const pages = filesOf(installed).filter((file) => file.endsWith('.md'));
    const missing = pages.flatMap((page) =>
      [...readFileSync(join(installed, page), 'utf8').matchAll(/\]\((?!https?:)([^)#]+)/g)].flatMap(
        ([, target = '']) => {
          const path = join(installed, dirname(page), target);
          return statSync(path, { throwIfNoEntry: false }) ? [] : [`${page}: ${target}`];
        },
      ),
    );
    expect(missing).toEqual([]);
  });

  it('has types that every kind of module resolution finds, and is ESM only', async () => {
    const analysis = await checkPackage(createPackageFromTarballData(readFileSync(join(directory, tarball))));
    expect(analysis.types && analysis.problems.map(({ kind }) => kind)).toEqual(['CJSResolvesToESM']);
  });

  it('passes publint without a message', async () => {
    expect((await publint({ pkgDir: installed, strict: true, pack: false })).messages).toEqual([]);
  });
});

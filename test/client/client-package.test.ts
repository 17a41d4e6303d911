import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { artifactFolderInTest } from '../../harness/artifacts/artifacts.ts';
import { writeClientPackage } from '../../harness/packages/client-package.ts';
import { root } from '../../harness/process/imports.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';

const run = promisify(execFile);
const tsc = join(root, 'node_modules', '.bin', 'tsc');

/** Source of a program that uses only the installed package. */
const consumer = `
import { createFactsClient, type FactsClient, type FactsErrorCode, type Reading, type WeatherMetricsEnvelope } from 'almanac-client';

declare const process: { argv: string[] };
const client: FactsClient = createFactsClient(process.argv[2] ?? '');
const metrics: Reading<WeatherMetricsEnvelope> = await client.weatherMetrics();
const likes = metrics.value.facts.collections['like.create'];
// @ts-expect-error: unobserved data is null or missing, which the compiler checks
likes.total;
// @ts-expect-error: a reading is immutable
metrics.value.caveats.push('');
const { facts } = (await client.labelsOverview()).value;
const events: number | null = 'counts' in facts ? facts.counts.events_24h : facts.alert_count_window;
const code: FactsErrorCode = 'a_code_of_a_later_version';
console.log(JSON.stringify([metrics.via, likes?.total, events, code]));
`;

describe('the client package', () => {
  let directory = '';
  let installed = '';

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'almanac-client-package-'));
    installed = join(directory, 'node_modules', 'almanac-client');
    writeClientPackage(root, installed);
    writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
    writeFileSync(join(directory, 'consumer.ts'), consumer);
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('contains one module, its types and documents, and requires no other package', () => {
    expect(readdirSync(installed).sort()).toEqual([
      ...['LICENSE', 'README.md', 'currency.d.ts', 'errors.d.ts', 'index.d.ts', 'index.js', 'package.json'],
      ...['reading.d.ts', 'schemas.d.ts', 'staleness.d.ts'],
    ]);
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Record<string, unknown>;
    expect(Object.keys(manifest).filter((key) => /dependencies|scripts/i.test(key))).toEqual([]);
    expect(manifest.version).toBe(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version);
  });

  it('passes publint without a message', async () => {
    expect((await publint({ pkgDir: installed, strict: true, pack: false })).messages).toEqual([]);
  });

  it('has types that every kind of module resolution finds, and is ESM only', async () => {
    const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', directory], { cwd: installed });
    const tarball = createPackageFromTarballData(readFileSync(join(directory, stdout.trim())));
    const analysis = await checkPackage(tarball);
    expect(analysis.types && analysis.problems.map(({ kind }) => kind)).toEqual(['CJSResolvesToESM']);
  });

  it.each([
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])('compiles in a strict program (module: %s, resolution: %s)', async (module, resolution) => {
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--verbatimModuleSyntax'];
    const target = ['--target', 'es2022', '--lib', 'es2022,dom', '--outDir', module];
    const options = [...strict, ...target, '--module', module, '--moduleResolution', resolution, 'consumer.ts'];
    await expect(run(tsc, options, { cwd: directory })).resolves.toEqual({ stdout: '', stderr: '' });
  });

  it.each([process.execPath, '/usr/bin/node'].filter((node) => existsSync(node)))(
    'can be imported by a program that runs on %s',
    async (node) => {
      const program = startProgramInTest(['facts', '--port', '0', '--artifacts', artifactFolderInTest()]);
      const { url } = await program.listening();
      const { stdout } = await run(node, [join(directory, 'nodenext', 'consumer.js'), url], { cwd: directory });
      const [via, likes, events] = JSON.parse(stdout) as unknown[];
      expect([via, typeof likes, typeof events]).toEqual(['fetched', 'number', 'number']);
    },
  );
});

import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { artifactFolderInTest } from '../../harness/artifacts/artifacts.ts';
import { root } from '../../harness/process/imports.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';

const run = promisify(execFile);
const tsc = join(root, 'node_modules', '.bin', 'tsc');

/** Source of another program, which uses only the packed package and nothing from this checkout. */
const consumer = `
import { createFactsClient, FactsError, type Reading, type WeatherMetricsEnvelope } from 'almanac/client';

const client = createFactsClient(process.argv[2] ?? '');
const metrics: Reading<WeatherMetricsEnvelope> = await client.weatherMetrics();
const likes = metrics.value.facts.collections['like.create'];
const { facts } = (await client.labelsOverview()).value;
const events: number | null = 'counts' in facts ? facts.counts.events_24h : facts.alert_count_window;
// @ts-expect-error: unobserved data is null or missing, which the compiler checks
likes.total;
// @ts-expect-error: no such collection
metrics.value.facts.collections['like.imagined'];
const gone = await client.instruments({ signal: AbortSignal.abort(new Error('gone')) }).catch((error: unknown) => String(error));
console.log(JSON.stringify([metrics.via, likes?.total, events, gone, FactsError.name]));
`;

describe('the packed package installed in another program', () => {
  let folder = '';

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'almanac-consumer-'));
    const installed = join(folder, 'node_modules', 'almanac');
    mkdirSync(installed, { recursive: true });
    const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: root });
    // Unpack the package as an installation would. The client has no dependencies.
    await run('tar', ['-xzf', join(folder, stdout.trim()), '-C', installed, '--strip-components=1']);
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'consumer.ts'), `declare const process: { argv: string[] };\n${consumer}`);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(['nodenext', 'bundler'])(
    "has self-contained types that do not depend on Node's types (resolution: %s)",
    async (resolution) => {
      const module = resolution === 'bundler' ? 'esnext' : resolution;
      const options = ['--strict', '--exactOptionalPropertyTypes', '--target', 'es2022', '--lib', 'es2022,dom'];
      await expect(
        run(
          tsc,
          [...options, '--module', module, '--moduleResolution', resolution, '--outDir', 'built', 'consumer.ts'],
          {
            cwd: folder,
          },
        ),
      ).resolves.toEqual({ stdout: '', stderr: '' });
    },
  );

  it.each([process.execPath, '/usr/bin/node'].filter((node) => existsSync(node)))(
    'provides the client to a program that runs on %s',
    async (node) => {
      const program = startProgramInTest(['facts', '--port', '0', '--artifacts', artifactFolderInTest()]);
      const { url } = await program.listening();
      const { stdout } = await run(node, [join(folder, 'built', 'consumer.js'), url], { cwd: folder });
      const [via, likes, events, gone, name] = JSON.parse(stdout) as unknown[];
      expect([via, gone, name]).toEqual(['fetched', 'Error: gone', 'FactsError']);
      expect([likes, events].map((count) => typeof count)).toEqual(['number', 'number']);
    },
  );
});

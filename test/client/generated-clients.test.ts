import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { createClient } from '@hey-api/openapi-ts';
import openapiTS, { astToString } from 'openapi-typescript';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { artifactFolderInTest } from '../../harness/artifacts/artifacts.ts';
import { openApi } from '../../harness/artifacts/openapi.ts';
import { listenForTest } from '../../harness/net/listen.ts';
import { root } from '../../harness/process/imports.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';

/** Tests the clients that common generators create from the OpenAPI documents. */

const run = promisify(execFile);

const consumer = `
import type { paths } from './openapi-paths.js';
import type { paths as accountPaths } from './account-openapi-paths.js';
import { getLabelsOverview, getWeatherMetrics, type LabelsOverview } from './openapi/index.js';
import * as account from './account-openapi/index.js';
import type { paths as labelerPaths } from './labelers-openapi-paths.js';
import * as labelers from './labelers-openapi/index.js';

type Metrics = paths['/v1/weather/metrics']['get']['responses'][200]['content']['application/json'];
type Refusal = paths['/v1/labels/overview']['get']['responses'][503]['content']['application/json'];
type ExportQuery = NonNullable<accountPaths['/exports']['get']['parameters']['query']>;

export const days: ExportQuery['days'] = 7;
export const code = (refusal: Refusal): string => refusal.error.code;
export const likes = (metrics: Metrics): number | undefined => metrics.facts.collections['like.create']?.total;
export const weather = async (baseUrl: string) => getWeatherMetrics({ baseUrl });
export const overview = async (baseUrl: string): Promise<LabelsOverview | undefined> =>
  (await getLabelsOverview({ baseUrl })).data;
export type LabelerPath = keyof labelerPaths;
export { account, labelers };
`;

/** The methods of the generated client that the test uses. */
interface Generated {
  weather(baseUrl: string): Promise<{ data?: unknown; error?: unknown; response?: Response }>;
}

describe('the clients generated from the OpenAPI documents', () => {
  let directory = '';

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), 'almanac-generated-'));
    for (const name of ['openapi', 'account-openapi', 'labelers-openapi']) {
      const input = join(root, 'assets', `${name}.json`);
      const types = await openapiTS(JSON.parse(readFileSync(input, 'utf8')), { silent: true });
      writeFileSync(join(directory, `${name}-paths.ts`), astToString(types));
      const plugins = ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch'] as const;
      await createClient({
        input,
        output: join(directory, name),
        plugins: [...plugins],
        logs: { level: 'silent', file: false },
      });
    }
    writeFileSync(join(directory, 'package.json'), '{"type":"module"}');
    writeFileSync(join(directory, 'consumer.ts'), consumer);
    const options = ['--strict', '--module', 'nodenext', '--target', 'es2022', '--lib', 'es2023,dom,dom.iterable'];
    await run(join(root, 'node_modules', '.bin', 'tsc'), [...options, 'consumer.ts'], { cwd: directory });
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const generated = async () =>
    (await import(pathToFileURL(join(directory, 'consumer.js')).href)) as unknown as Generated;

  it('compile without an error, read a fact, and report a refusal', async () => {
    const folder = artifactFolderInTest();
    const { url } = await startProgramInTest(['facts', '--port', '0', '--artifacts', folder]).listening();
    const { weather } = await generated();
    const fact = await weather(url);
    expect([fact.error, fact.response?.status]).toEqual([undefined, 200]);
    expect(openApi.faults('get', '/v1/weather/metrics', 200, fact.data)).toEqual([]);
    writeFileSync(join(folder, 'weather-summary.json'), '{}');
    const refused = await weather(url);
    expect(refused.data).toBe(undefined);
    expect(refused.error).toMatchObject({ error: { status: 503, code: 'source_unavailable' } });
  });

  it('send no request header that a preflight would refuse', async () => {
    const sent: string[] = [];
    const server = createServer(({ rawHeaders }, response) => {
      sent.push(...rawHeaders.filter((_text, index) => index % 2 === 0).map((name) => name.toLowerCase()));
      response.end('{}');
    });
    const { port } = await listenForTest(server);
    await (await generated()).weather(`http://127.0.0.1:${port}`);
    const byPlatform = [
      'host',
      'connection',
      'accept',
      'accept-language',
      'sec-fetch-mode',
      'user-agent',
      'accept-encoding',
    ];
    expect(sent.filter((name) => !byPlatform.includes(name))).toEqual([]);
    expect(sent).toContain('host');
  });
});

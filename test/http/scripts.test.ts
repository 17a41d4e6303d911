import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, type IncomingHttpHeaders, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ArtifactFixture, artifactFixtures, fixture } from '../../harness/artifacts/fixtures.ts';
import { merged, mismatches, resolveTimes } from '../../harness/artifacts/json-match.ts';
import { openApi } from '../../harness/artifacts/openapi.ts';
import { type ArtifactLine, type RequestStep, readHttpScript } from '../../harness/net/http-script.ts';
import { type Server, startServer } from '../../harness/process/program.ts';
import { artifactNames } from '../../src/artifact/write.ts';

const folder = fileURLToPath(new URL('./', import.meta.url));
const scripts = readdirSync(folder).filter((name) => name.endsWith('.http.txt'));

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  bytes: Buffer;
}

/**
 * Headers that select the parser. The fast path responds to a plain GET that arrives in one piece. A Connection header
 * selects the full parser.
 */
const lanes = { 'the fast path': {}, 'the full parser': { Connection: 'keep-alive, x-full' } };

describe.each(scripts)('%s', (name) => {
  const script = readHttpScript(join(folder, name));

  describe.each(Object.entries(lanes))('sent to %s', (_lane, laneHeaders) => {
    const artifacts = mkdtempSync(join(tmpdir(), 'almanac-http-'));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const base = script.args[script.args.indexOf('--base-path') + 1];
    let program: Server;
    let now = 0;
    let etag = '';

    beforeAll(async () => {
      now = Date.now();
      program = await startServer(['facts', '--port', '0', '--artifacts', artifacts, ...script.args]);
    });
    afterAll(async () => {
      agent.destroy();
      expect(await program.stop()).toBe(0);
      rmSync(artifacts, { recursive: true });
    });

    function put({ instrument, what, text }: ArtifactLine): void {
      const path = join(artifacts, artifactNames[instrument]);
      if (what === 'missing') {
        rmSync(path, { force: true });
        return;
      }
      const filled = resolveTimes(text, now);
      const bytes = what === 'raw' ? filled : JSON.stringify(merged(fixture(fixtureNamed(what)), JSON.parse(filled)));
      writeFileSync(`${path}.new`, bytes);
      renameSync(`${path}.new`, path);
    }

    async function check(step: RequestStep): Promise<void> {
      const headers = {
        ...laneHeaders,
        ...Object.fromEntries(step.headers.map(([key, value]) => [key, value.replace('$etag', etag)])),
      };
      const { status, headers: received, bytes } = await ask(program.url, agent, step.method, step.target, headers);
      expect(status).toBe(step.status);
      for (const [header, wanted] of step.expected) checkExpected(header, wanted, received, bytes);
      checkDescribed(step, status, received, bytes);
      etag = received.etag ?? etag;
    }

    function checkExpected(header: string, wanted: string, received: IncomingHttpHeaders, bytes: Buffer): void {
      const got = received[header];
      if (header === 'body' && wanted === 'empty') expect(bytes.length).toBe(0);
      else if (header === 'body')
        expect(mismatches(JSON.parse(resolveTimes(wanted, now)), json(received, bytes))).toEqual([]);
      else if (header === 'text') expect(decoded(received, bytes)).toContain(wanted);
      else if (wanted === 'present') expect(got, header).toBeDefined();
      else if (wanted === 'absent') expect(got, header).toBeUndefined();
      else if (wanted.startsWith('/')) expect(got).toMatch(new RegExp(wanted.slice(1, -1)));
      else expect(got, header).toBe(wanted.replace('$etag', etag));
    }

    /** Checks, independently of the script, that the OpenAPI document describes a response. */
    function checkDescribed(step: RequestStep, status: number, received: IncomingHttpHeaders, bytes: Buffer): void {
      const inside = base !== undefined && step.target.startsWith(base) ? step.target.slice(base.length) : step.target;
      const path = inside.split('?')[0] ?? '';
      const method = step.method.toLowerCase();
      if (!Object.hasOwn(openApi.document.paths, path) || method !== 'get') return;
      const body = bytes.length === 0 ? null : json(received, bytes);
      if (path !== '/openapi.json') expect(openApi.faults(method, path, status, body)).toEqual([]);
      const optional = ['content-encoding'];
      const promised = openApi.headers(method, path, status).filter((header) => !optional.includes(header));
      expect(promised.filter((header) => received[header] === undefined)).toEqual([]);
    }

    it('gets the expected response to each request', async () => {
      for (const step of script.steps) {
        if (step.kind === 'artifact') put(step);
        else
          await check(step).catch((error: unknown) => {
            throw new Error(`${step.title}\n${error instanceof Error ? error.message : String(error)}`, {
              cause: error,
            });
          });
      }
    });
  });
});

function fixtureNamed(name: string): ArtifactFixture {
  const found = (Object.keys(artifactFixtures) as ArtifactFixture[]).find((known) => known === name);
  if (!found) throw new Error(`unknown fixture ${name}`);
  return found;
}

function ask(
  base: string,
  agent: Agent,
  method: string,
  target: string,
  headers: Record<string, string>,
): Promise<Answer> {
  const { hostname, port } = new URL(base);
  return new Promise((resolve, reject) => {
    const asked = request({ hostname, port, agent, method, path: target, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, bytes: Buffer.concat(chunks) }),
      );
    });
    asked.on('error', reject);
    asked.end();
  });
}

function decoded(headers: IncomingHttpHeaders, bytes: Buffer): string {
  switch (headers['content-encoding']) {
    case 'br':
      return brotliDecompressSync(bytes).toString('utf8');
    case 'gzip':
      return gunzipSync(bytes).toString('utf8');
    default:
      return bytes.toString('utf8');
  }
}

function json(headers: IncomingHttpHeaders, bytes: Buffer): unknown {
  return JSON.parse(decoded(headers, bytes));
}

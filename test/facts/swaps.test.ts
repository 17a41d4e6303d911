import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { fixture } from '../../harness/artifacts/fixtures.ts';
import { startServer } from '../../harness/process/program.ts';
import { artifactNames } from '../../src/artifact/write.ts';

const swaps = 400;

/** Returns version `n` of the artifact, which contains `n` in five places. Large versions require several reads. */
function version(n: number): string {
  const artifact = fixture('recent') as Record<string, unknown> & { counts: object; coverage: { sources: object } };
  const now = new Date().toISOString();
  return JSON.stringify({
    ...artifact,
    generated_at: now,
    labeler_count: n,
    counts: { ...artifact.counts, events_24h: n, events_window: n },
    coverage: { ...artifact.coverage, observed_through: now, sources: { ...artifact.coverage.sources, enrolled: n } },
    caveats: Array.from({ length: (n % 7) * 1000 }, () => `version ${n}`),
  });
}

it('replacing artifacts under load never mixes two artifacts in a response, and never gives two artifacts the same validator', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-swaps-'));
  const path = join(folder, artifactNames.labels);
  const put = (n: number): void => {
    writeFileSync(`${path}.new`, version(n));
    renameSync(`${path}.new`, path);
  };
  put(1);
  const program = await startServer(['facts', '--port', '0', '--artifacts', folder]);
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const versionOf = new Map<string, number>();
  const seen = new Set<number>();
  let swapping = true;

  async function read(): Promise<void> {
    while (swapping) {
      const { status, etag, text } = await fetched(program.url, agent);
      expect(status).toBe(200);
      const { facts, caveats } = JSON.parse(text);
      const n = facts.labeler_count;
      expect([facts.counts.events_24h, facts.counts.events_window, facts.coverage.sources.enrolled]).toEqual([n, n, n]);
      expect(new Set(caveats.filter((caveat: string) => caveat.startsWith('version')))).toEqual(
        new Set(n % 7 === 0 ? [] : [`version ${n}`]),
      );
      expect(versionOf.get(etag) ?? n).toBe(n);
      versionOf.set(etag, n);
      seen.add(n);
    }
  }

  async function swap(): Promise<void> {
    for (let n = 2; n <= swaps; n++) {
      put(n);
      // Require that the next request returns the new version.
      const { text } = await fetched(program.url, agent);
      expect(JSON.parse(text).facts.labeler_count).toBe(n);
    }
    swapping = false;
  }

  await Promise.all([swap(), ...Array.from({ length: 6 }, read)]);
  expect(seen.size).toBeGreaterThan(swaps / 4);
  agent.destroy();
  await program.stop();
  rmSync(folder, { recursive: true });
});

function fetched(base: string, agent: Agent): Promise<{ status: number; etag: string; text: string }> {
  return new Promise((resolve, reject) => {
    get(`${base}/v1/labels/overview`, { agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          etag: response.headers.etag ?? '',
          text: Buffer.concat(chunks).toString('utf8'),
        }),
      );
    }).on('error', reject);
  });
}

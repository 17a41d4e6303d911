import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { artifactFolder, youngArtifact } from '../../harness/artifacts/artifacts.ts';
import { freePort } from '../../harness/net/ports.ts';
import { root } from '../../harness/process/imports.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { lacks, toolPath } from '../../harness/process/tools.ts';
import { until } from '../../harness/process/until.ts';
import { artifactNames } from '../../src/artifact/write.ts';

/** Tests the published metrics with a real Prometheus, the job in `deploy/prometheus`, and the dashboard. */

interface Prometheus {
  /** Returns the current series of an expression. */
  query(expression: string): Promise<{ metric: Record<string, string>; value: [number, string] }[]>;
  get(path: string): Promise<{ data: unknown }>;
  readonly port: number;
}

const jobs = readFileSync(join(root, 'deploy/prometheus/almanac.scrape.yml'), 'utf8');

/** Returns the job in `deploy/prometheus/almanac.scrape.yml` that scrapes a facts API, every second. */
function publishedJob(factsPort: number): string {
  const published = jobs.slice(jobs.indexOf('  - job_name: almanac-published'));
  return published.replace('60s', '1s').replace('127.0.0.1:8400', `127.0.0.1:${factsPort}`);
}

/** Returns the commented job there that copies the facts from another Prometheus, every second. */
function federatedJob(from: number): string {
  const [text = ''] = /^ {2}# - job_name: almanac-federated\n(?: {2}# {3}.*\n)+/m.exec(jobs) ?? [];
  const job = text.replaceAll(/^ {2}# /gm, '  ');
  return job.replace('60s', '1s').replace('192.0.2.21:9090', `127.0.0.1:${from}`);
}

/** Starts a Prometheus with one job. */
async function startPrometheus(job: string): Promise<Prometheus> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-prometheus-'));
  const port = await freePort();
  writeFileSync(join(folder, 'prometheus.yml'), `scrape_configs:\n${job}`);
  const child = spawn(
    toolPath('prometheus'),
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  );
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  });
  const url = `http://127.0.0.1:${port}`;
  const get = async (path: string) => (await (await fetch(url + path)).json()) as { data: unknown };
  await until('Prometheus is ready', () =>
    fetch(`${url}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return {
    get,
    port,
    async query(expression) {
      const { data } = await get(`/api/v1/query?query=${encodeURIComponent(expression)}`);
      return (data as { result: { metric: Record<string, string>; value: [number, string] }[] }).result;
    },
  };
}

function dashboardExpressions(): string[] {
  const { panels } = JSON.parse(readFileSync(join(root, 'deploy/grafana/almanac.json'), 'utf8')) as {
    panels: { targets?: { expr: string }[] }[];
  };
  return panels
    .flatMap(({ targets = [] }) => targets.map(({ expr }) => expr))
    .filter((expr) => /almanac_fact_/.test(expr));
}

describe.skipIf(lacks('prometheus'))('a Prometheus server with the published job', () => {
  it('stores the facts with their types, has data for the dashboard, and no longer returns the series of a fact that is refused', async () => {
    const folder = artifactFolder();
    onTestFinished(folder.remove);
    const facts = startProgramInTest(['facts', '--port', '0', '--artifacts', folder.path]);
    const { port } = await facts.listening();
    const prometheus = await startPrometheus(publishedJob(port));
    const labelEvents = 'almanac_fact_labels_events{span="24h"}';
    await until('the facts are stored', async () => (await prometheus.query(labelEvents)).length > 0);

    const [stored] = await prometheus.query(labelEvents);
    expect([stored?.metric.job, stored?.metric.origin, stored?.value[1]]).toEqual([
      'almanac-published',
      'live',
      '1391204',
    ]);
    const { data } = await prometheus.get('/api/v1/targets/metadata?metric=almanac_fact_weather_condition');
    expect(data).toEqual([expect.objectContaining({ type: 'stateset' })]);
    const expressions = dashboardExpressions();
    expect(expressions.length).toBeGreaterThan(5);
    for (const expression of expressions) {
      // Skip the refusals, which have no data while every fact is served.
      if (expression.includes('almanac_fact_refused')) continue;
      expect(await prometheus.query(expression), expression).not.toEqual([]);
    }

    folder.put(artifactNames.labels, { ...youngArtifact('recent'), hold: true });
    await until('the series has ended', async () => (await prometheus.query(labelEvents)).length === 0);
    expect((await prometheus.query('{__name__=~"almanac_fact_labels.*"}')).length).toBe(0);
    const [refusal] = await prometheus.query('almanac_fact_refused');
    expect(refusal?.metric).toMatchObject({ fact: 'labels_overview', code: 'source_held' });
    expect((await prometheus.query('almanac_fact_weather_events'))[0]?.value[1]).toBe('28484197');

    folder.put(artifactNames.labels, youngArtifact('recent'));
    await until('the series is back', async () => (await prometheus.query(labelEvents)).length === 1);
    expect(await facts.stop()).toBe(0);
  });

  it('copies the facts to another server, which drops a refused fact at once only with the shipped job', async () => {
    const folder = artifactFolder();
    onTestFinished(folder.remove);
    const { port } = await startProgramInTest(['facts', '--port', '0', '--artifacts', folder.path]).listening();
    const prometheus = await startPrometheus(publishedJob(port));
    const job = federatedJob(prometheus.port);
    const copies = await startPrometheus(job);
    const naive = await startPrometheus(job.replace('    honor_timestamps: false\n', ''));
    const labelEvents = 'almanac_fact_labels_events{span="24h"}';
    const average = `avg_over_time(${labelEvents}[1h])`;
    const guarded = `${average} and on (origin) almanac_fact_served{fact="labels_overview"} == 1`;
    for (const server of [copies, naive]) {
      await until('the facts are copied', async () => (await server.query(guarded)).length === 1);
      expect((await server.query(labelEvents)).map(({ metric }) => metric.job)).toEqual(['almanac-published']);
    }
    folder.put(artifactNames.labels, { ...youngArtifact('recent'), hold: true });
    for (const server of [copies, naive])
      await until('the refusal is copied', async () => (await server.query('almanac_fact_refused == 1')).length === 1);
    await until('the copy has ended', async () => (await copies.query(labelEvents)).length === 0);
    expect((await naive.query(labelEvents)).length).toBe(1);
    // A window contains the earlier numbers; the documented query does not use them.
    expect([(await copies.query(average)).length, (await copies.query(guarded)).length]).toEqual([1, 0]);
  });
});

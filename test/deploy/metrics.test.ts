import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../harness/process/imports.ts';
import { publishedMetrics, registeredMetrics, runtimeMetrics } from '../../harness/process/metrics.ts';
import { lacks, toolPath } from '../../harness/process/tools.ts';

/**
 * Tests the alerts and the dashboard in `deploy/`: compares them with the registered metrics, and runs Prometheus's own
 * tool.
 */

const rules = readFileSync(join(root, 'deploy/prometheus/almanac.rules.yml'), 'utf8');
const made = readFileSync(join(root, 'deploy/prometheus/almanac.rules.test.yml'), 'utf8');
const dashboard = readFileSync(join(root, 'deploy/grafana/almanac.json'), 'utf8');

/** Returns the Prometheus metrics named in `text`. The series of a histogram are returned as that histogram. */
function named(text: string, known: readonly string[]): string[] {
  const found = [...text.matchAll(/\balmanac_[a-z0-9_]+/g)].map(([name]) =>
    known.includes(name) ? name : name.replace(/_(?:bucket|sum|count)$/, ''),
  );
  return [...new Set(found)].sort();
}

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets?: readonly { readonly refId: string; readonly expr: string }[];
    readonly fieldConfig?: {
      readonly defaults: { readonly unit?: string };
      readonly overrides: readonly {
        readonly matcher: { readonly id: 'byFrameRefID'; readonly options: string };
        readonly properties: readonly { readonly id: string; readonly value: string }[];
      }[];
    };
  }[];
}

/** Units of Grafana that scale a value. Counts and their rates must have none of them. */
const measures = ['s', 'bytes', 'percentunit'];

/** Returns the unit of a query by the suffix of its metric: seconds, bytes, a share, or a number. */
function measureOf(expr: string): string {
  // A rate of seconds, or a quotient, is a share.
  if (/\) \/ |_seconds \/ |_ratio\b|\brate\(\w+_seconds_total/.test(expr)) return 'percentunit';
  if (/_seconds(?:_total|_bucket)?\b/.test(expr)) return 's';
  return /_bytes\b/.test(expr) ? 'bytes' : 'a number';
}

describe('the monitoring configuration', () => {
  it('uses only metrics that the program registers', async () => {
    const known = [...(await registeredMetrics()), ...(await runtimeMetrics()), ...publishedMetrics()];
    for (const text of [rules, made, dashboard]) {
      expect(named(text, known).filter((name) => !known.includes(name))).toEqual([]);
    }
  });

  it('shows every operational metric of the program on the dashboard', async () => {
    const known = await registeredMetrics();
    const drawn = named(dashboard, known);
    expect(known.filter((name) => !drawn.includes(name))).toEqual([]);
  });

  it('shows each query of the dashboard with the unit of its metric', () => {
    const queries = (JSON.parse(dashboard) as Dashboard).panels.flatMap(({ title, targets = [], fieldConfig }) =>
      targets.map(({ refId, expr }) => {
        const own = fieldConfig?.overrides.find(({ matcher }) => matcher.options === refId)?.properties;
        const unit = own?.find(({ id }) => id === 'unit')?.value ?? fieldConfig?.defaults.unit;
        return { query: `${title}: ${expr}`, unit: measures.includes(unit ?? '') ? unit : 'a number', expr };
      }),
    );
    expect(queries.length).toBeGreaterThan(80);
    expect(queries.map(({ query, unit }) => `${query}: ${unit}`)).toEqual(
      queries.map(({ query, expr }) => `${query}: ${measureOf(expr)}`),
    );
  });

  it('links each alert to an existing heading of the incident page', () => {
    const headings = [...readFileSync(join(root, 'docs/operations/incidents.md'), 'utf8').matchAll(/^## (.+)$/gm)].map(
      ([, heading = '']) => heading.toLowerCase().replaceAll(/[`,]/g, '').replaceAll(' ', '-'),
    );
    const sent = [...rules.matchAll(/^ +incident: (.+)$/gm)].map(([, incident = '']) => incident);
    expect(sent.length).toBe([...rules.matchAll(/- alert:/g)].length);
    expect(sent.filter((incident) => !headings.includes(incident))).toEqual([]);
  });
});

describe('the scrape jobs', () => {
  const jobs = readFileSync(join(root, 'deploy/prometheus/almanac.scrape.yml'), 'utf8');
  const ports = (line: RegExp): string[] => [...jobs.matchAll(line)].map(([, port = '']) => port);

  it('include only the units that every observatory runs, because AlmanacDown fires for a missing target', () => {
    expect(ports(/^ {4}static_configs: .*:(\d+)"/gm)).toEqual(['9400', '9401', '9402', '9403', '8400']);
  });

  it('name the optional units in comments, with the ports of the units', () => {
    const portOf = (unit: string): string | undefined =>
      /--metrics-port (\d+)/.exec(readFileSync(join(root, `deploy/systemd/${unit}.service`), 'utf8'))?.[1];
    const optional = ['almanac-archive', 'almanac-labels-standby'];
    for (const unit of optional) expect(jobs).toContain(`# - job_name: ${unit}\n`);
    expect(ports(/^ {2}# {3}static_configs: .*:(\d+)"/gm)).toEqual(optional.map(portOf));
  });
});

describe.skipIf(lacks('promtool'))('promtool', () => {
  it.each([
    ['check', 'rules', 'almanac.rules.yml'],
    ['test', 'rules', 'almanac.rules.test.yml'],
    ['check', 'config', '--syntax-only', 'almanac.scrape.yml'],
  ])('reports no failure (%s %s %s)', (...args) => {
    const { status, stdout, stderr } = spawnSync(toolPath('promtool'), args, {
      cwd: join(root, 'deploy/prometheus'),
      encoding: 'utf8',
    });
    expect([status, `${stdout}${stderr}`]).toEqual([0, expect.not.stringMatching(/FAILED/)]);
  });
});

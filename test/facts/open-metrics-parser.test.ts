import { execFileSync } from 'node:child_process';
import { describe, expect, it, test } from 'vitest';
import { type ArtifactFixture, fixture } from '../../harness/artifacts/fixtures.ts';
import { factsInMemory, fixtureNow } from '../../harness/process/facts.ts';
import { lacks, toolPath } from '../../harness/process/tools.ts';
import { factMetrics, families } from '../../src/facts/metrics/fact-metrics.ts';

/** Tests `/metrics/facts` with the strict OpenMetrics parser of the Prometheus project. */

const script = `
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
print(json.dumps([
  {"name": f.name, "type": f.type, "unit": f.unit, "help": f.documentation,
   "samples": [{"name": s.name, "dimensions": s.labels, "value": s.value} for s in f.samples]}
  for f in parse(sys.stdin.read())]))`;

interface ParsedFamily {
  readonly name: string;
  readonly type: string;
  readonly unit: string;
  readonly help: string;
  readonly samples: readonly { name: string; dimensions: Record<string, string>; value: number }[];
}

function parse(text: string): ParsedFamily[] {
  return JSON.parse(execFileSync('/usr/bin/python3', ['-c', script], { input: text, encoding: 'utf8' }));
}

function textOf(name: ArtifactFixture, changes: object = {}): string {
  const facts = factsInMemory(fixtureNow[name]);
  facts.set(name, Buffer.from(JSON.stringify({ ...fixture(name), ...changes })));
  return facts.get(factMetrics.path).body?.toString('utf8') ?? '';
}

describe.skipIf(lacks('the OpenMetrics parser'))('the strict OpenMetrics parser', () => {
  it.each(['recent', 'legacy', 'weather', 'weatherwatch'] as const)('accepts the facts of the %s artifact', (name) => {
    const known = new Map(Object.values(families).map((family) => [family.name as string, family]));
    const parsed = parse(textOf(name));
    expect(parsed.length).toBeGreaterThan(5);
    for (const { name: family, type, unit, help } of parsed) {
      expect({ name: family, type, help, unit: unit === '' ? undefined : unit }).toEqual({
        unit: undefined,
        ...known.get(family),
      });
    }
  });

  it('accepts a response in which all facts are refused', () => {
    const parsed = parse(factsInMemory(0).get(factMetrics.path).body?.toString('utf8') ?? '');
    expect(parsed.map(({ name }) => name)).toEqual(['almanac_fact_served', 'almanac_fact_refused']);
  });

  it('preserves the address of the observed host', () => {
    const endpoint = 'wss://host.example/a"b\\c';
    const [source] = parse(textOf('weather', { source: { endpoint, method: 'jetstream' } })).filter(
      ({ name }) => name === families.source.name,
    );
    expect(source?.samples.map(({ dimensions }) => dimensions.endpoint)).toEqual([endpoint, endpoint]);
  });
});

test.skipIf(lacks('promtool'))('promtool accepts the text format', () => {
  const facts = factsInMemory(fixtureNow.recent);
  for (const name of ['recent', 'weather'] as const) facts.set(name, Buffer.from(JSON.stringify(fixture(name))));
  const input = facts.get(factMetrics.path, fixtureNow.recent, { accept: 'text/plain' }).body ?? '';
  const output = execFileSync(toolPath('promtool'), ['check', 'metrics'], { input, encoding: 'utf8' });
  expect(output).toBe('');
});

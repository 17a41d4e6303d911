import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeSourcesReport, type ReportedSource, readSourcesReport, writeSourcesReport } from './sources-report.ts';

const sourcesReportPath = (folder: string): string => join(folder, 'labels-sources.json');

const noCost = { bytesIn: 0, bytesStored: 0, rows: 0, cpuMs: 0, writes: 0, throttledMs: 0 };

const times = { generatedAt: '2026-11-22T10:00:00.000Z', startedAt: '2026-11-22T09:00:00.000Z' };

function source(n: number, change: Partial<ReportedSource> = {}): ReportedSource {
  return {
    ...{ did: `did:web:labeler-${n}.example`, endpoint: `https://labeler-${n}.example`, state: 'established' },
    ...{ domains: [`labeler-${n}.example`], standing: 'seeded', denied: false, slots: 1 },
    ...noCost,
    ...change,
  };
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-sources-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the report of sources', () => {
  it('lists a bounded number of the most expensive sources with the sums over all sources, and can be parsed', async () => {
    const sources = Array.from({ length: 700 }, (_, n) => source(n, { cpuMs: n + 0.4, rows: 2 }));
    const report = makeSourcesReport(sources, times);
    expect(report).toMatchObject({ sources: 700, totals: { rows: 1_400, cpuMs: 244_930 } });
    expect(report.listed).toHaveLength(500);
    expect(report.listed[0]).toEqual(source(699, { cpuMs: 699, rows: 2 }));
    await writeSourcesReport(folder, report);
    expect(await readSourcesReport(folder)).toEqual(report);
  });

  it('sums all sources of each listed domain, also sources that are not listed', async () => {
    const busy = Array.from({ length: 600 }, (_, n) => source(n, { cpuMs: 1_000 + n, bytesIn: 10 }));
    const idle = Array.from({ length: 100 }, (_, n) => source(1_000 + n, { domains: ['evil.example'], slots: 0 }));
    const report = makeSourcesReport([...busy, ...idle], times);
    expect(report.listed.filter(({ domains }) => domains.includes('evil.example'))).toEqual([]);
    expect(report.domains).toHaveLength(501);
    expect(report.domains[0]).toEqual({
      ...{ domain: 'labeler-599.example', labelers: 1, slots: 1 },
      ...{ ...noCost, cpuMs: 1_599, bytesIn: 10 },
    });
    expect(report.domains.at(-1)).toEqual({ domain: 'evil.example', labelers: 100, slots: 0, ...noCost });
    const [none] = makeSourcesReport([source(1, { domains: [], rows: 3 })], times).domains;
    expect(none).toEqual({ domain: '-', labelers: 1, slots: 1, ...noCost, rows: 3 });
    await writeSourcesReport(folder, report);
    expect(await readSourcesReport(folder)).toEqual(report);
  });

  it.each(['', 'null', '{"listed":[]}', '{"generatedAt":1,"totals":{},"listed":[]}'])(
    'is null if the content of its file is %j',
    async (text) => {
      expect(await readSourcesReport(folder)).toBeNull();
      writeFileSync(sourcesReportPath(folder), text);
      expect(await readSourcesReport(folder)).toBeNull();
    },
  );

  it('has 0 in place of invalid numbers', async () => {
    const damaged = {
      ...makeSourcesReport([source(1)], times),
      listed: [{ did: 'did:web:a.example', rows: -1, cpuMs: 'x' }, 7],
    };
    writeFileSync(sourcesReportPath(folder), JSON.stringify(damaged));
    expect((await readSourcesReport(folder))?.listed).toMatchObject([
      { did: 'did:web:a.example', ...noCost, state: 'unknown' },
    ]);
  });
});

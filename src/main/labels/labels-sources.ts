import {
  addCost,
  noCost,
  type ReportedSource,
  readSourcesReport,
  type SourcesReport,
} from '../../labels/publish/sources-report.ts';
import { OperatorError } from '../../ops/errors.ts';
import { openStoreReader } from '../../store/open.ts';
import type { StoreReader } from '../../store/port.ts';
import { type LabelsAction, opened, storeFolder } from './labels-action.ts';

/** One source, or all sources of a domain, with their rows in the window. */
interface Line
  extends Pick<ReportedSource, 'bytesIn' | 'bytesStored' | 'rows' | 'cpuMs' | 'writes' | 'throttledMs' | 'slots'> {
  readonly name: string;
  readonly domain: string;
  readonly state: string;
  readonly standing: string;
  readonly window: number;
}

/**
 * Lists the sources, the most expensive first, and then the sums by domain. Prints JSON with `--json`. Rejects with
 * OperatorError if no instrument has written a report yet.
 */
export const sources: LabelsAction = async ({ store: url, state, json }, print) => {
  const folder = storeFolder({ store: url, state });
  const report = await readSourcesReport(folder);
  if (report === null) {
    throw new OperatorError('no running instrument has reported yet; it writes labels-sources.json next to the store');
  }
  const store = await opened(url, () => openStoreReader(url));
  const window = await rowsInWindow(store).finally(() => store.close());
  const lines = report.listed.map((source) => lineOf(source, window.get(source.did) ?? 0));
  if (json) print(JSON.stringify({ ...report, listed: lines, domains: byDomain(lines) }));
  else for (const text of table(report, lines)) print(text);
  return 0;
};

async function rowsInWindow(store: StoreReader): Promise<ReadonlyMap<string, number>> {
  const { floor, end } = await store.frontier();
  const counts = floor < end ? await store.countsByLabeler({ start: floor, end }) : [];
  return new Map(counts.map(({ labeler, applied, removed }) => [labeler, applied + removed]));
}

function lineOf(source: ReportedSource, window: number): Line {
  const { did, domains, state, standing, denied, slots } = source;
  const { bytesIn, bytesStored, rows, cpuMs, writes, throttledMs } = source;
  return {
    ...{ name: did, domain: domains.at(-1) ?? '-', state: denied ? 'denied' : state, standing, window, slots },
    ...{ bytesIn, bytesStored, rows, cpuMs, writes, throttledMs },
  };
}

/** Sums the listed sources by domain, sorted by cost. */
function byDomain(lines: readonly Line[]): Line[] {
  const sums = new Map<string, Line>();
  for (const line of lines) {
    const sum = sums.get(line.domain) ?? {
      ...{ name: line.domain, domain: line.domain, state: '-', standing: '-', window: 0, slots: 0 },
      ...noCost,
    };
    sums.set(line.domain, {
      ...sum,
      ...addCost(sum, line),
      slots: sum.slots + line.slots,
      window: sum.window + line.window,
    });
  }
  return [...sums.values()].sort((a, b) => b.cpuMs - a.cpuMs || b.bytesIn - a.bytesIn || b.window - a.window);
}

const columns = [
  'cpu s',
  'MB in',
  'MB stored',
  'rows',
  'window',
  'writes',
  'throttled s',
  'slots',
  'state',
  'standing',
];

function table(report: SourcesReport, lines: readonly Line[]): string[] {
  const { generatedAt, startedAt, sources: known, totals } = report;
  const total = lines.reduce((sum, { window }) => sum + window, 0);
  const all: Line = {
    ...{ name: `${known} sources`, domain: '-', state: '-', standing: '-', window: total },
    ...{ slots: lines.reduce((sum, { slots }) => sum + slots, 0), ...totals },
  };
  return [
    `since ${startedAt}, as of ${generatedAt}; window: rows that the store holds`,
    ...aligned([
      [...columns, 'source'],
      [...cells(all), all.name],
      ...lines.map((line) => [...cells(line), `${line.name} ${line.domain}`]),
    ]),
    '',
    'by domain',
    ...aligned([[...columns, 'domain'], ...byDomain(lines).map((line) => [...cells(line), line.name])]),
  ];
}

function cells(line: Line): string[] {
  const { cpuMs, bytesIn, bytesStored, rows, window, writes, throttledMs, slots, state, standing } = line;
  const numbers = [(cpuMs / 1e3).toFixed(1), (bytesIn / 1e6).toFixed(1), (bytesStored / 1e6).toFixed(1)];
  return [...numbers, ...[rows, window, writes, Math.round(throttledMs / 1e3), slots].map(String), state, standing];
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => (row[at] ?? '').length)));
  return rows.map((row) =>
    row.map((cell, at) => (at < row.length - 1 ? cell.padStart(widths[at] ?? 0) : cell)).join('  '),
  );
}

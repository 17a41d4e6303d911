import { setTimeout as wait } from 'node:timers/promises';
import { formatTimestamp } from '../../contract/timestamp.ts';
import { changeDenyFile, DenyList, domainsOfLabeler, requireDenyList } from '../../labels/operator/deny-file.ts';
import { readSourcesReport, reportedDomain, type SourcesReport } from '../../labels/publish/sources-report.ts';
import { OperatorError, systemCode } from '../../ops/errors.ts';
import { StoreError } from '../../store/errors.ts';
import {
  askWriterToStop,
  companionFolder,
  openStoreReader,
  parseStoreUrl,
  repair,
  restore,
  setAside,
  storeProcesses,
} from '../../store/open.ts';
import type { DayReport, StoreReader } from '../../store/port.ts';
import type { StoreProcess, StoreProcesses } from '../../store/standby/standby.ts';
import { micros } from '../../store/time.ts';
import { aligned } from '../terminal-text.ts';
import { type LabelsAction, opened, storeFolder } from './labels-action.ts';

/**
 * Restores the store from a backup after verifying the backup, and records a gap for the time that the backup does
 * not cover. Adds the denials of the backup to the denials of the store. Rejects with OperatorError if no backup is
 * given or the backup cannot be restored.
 */
const restoreFrom: LabelsAction = async ({ store, state }, print, [from]) => {
  if (from === undefined)
    throw new OperatorError('restore requires the directory of the backup: almanac labels restore FROM');
  const denials = companionFolder(store, state);
  // Check both lists of denials first: a damaged list that is found only during the restore would leave it
  // unfinished.
  const [denied] = [await requireDenyList(from), await requireDenyList(denials)];
  try {
    const onFile = ({ name, action, reason }: { name: string; action: string; reason: string }) =>
      print(`${name}: ${action.replace('_', ' ')}: ${reason}`);
    const beforeMove = () => addDenials(denials, denied);
    const { days, lost, gap } = await restore(store, { from, at: micros(Date.now() * 1000), onFile, beforeMove });
    for (const { day, rows, unverified } of days)
      print(`${day}: ${rows} rows restored${unverified ? '; the day has no checksums yet' : ''}`);
    for (const day of lost) print(`${day} is not in the backup and is recorded as a gap`);
    if (gap) print(`a gap is recorded from ${formatTimestamp(gap.start / 1000)} to ${formatTimestamp(gap.end / 1000)}`);
    if (denied.entries.length > 0)
      print(`denied labelers and domains in the backup: ${denied.entries.length}; they are denied again`);
    print(`restored ${store} from ${from}; start almanac labels, and restart almanac account`);
    return 0;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new OperatorError(`cannot restore ${store} from ${from}: ${error.message}`);
  }
};

/** Adds denials to the list of a store. */
async function addDenials(folder: string, denied: DenyList): Promise<void> {
  if (denied.entries.length > 0) await changeDenyFile(folder, (list) => merged(list, denied));
}

/** Returns `list` with additional entries. Entries that are already in `list` stay unchanged. */
function merged(list: DenyList, { entries }: DenyList): DenyList {
  return new DenyList([...list.entries, ...entries.filter(({ target }) => list.entryOf(target) === null)]);
}

/**
 * Recomputes every counter from the rows and compares every checksum. `--repair` rewrites the derived data. Resolves
 * with 1 if a difference remains, and otherwise with 0. Rejects with OperatorError if the store cannot be read.
 */
const verify: LabelsAction = async ({ store: url, repair: isRepairing }, print) => {
  let problems = 0;
  let unverified = 0;
  let repaired = 0;
  try {
    for await (const { day, repaired: gone } of isRepairing ? repair(url, {}) : readReports(url)) {
      for (const line of linesOf(day, gone)) print(line);
      problems += day.problems.length;
      unverified += day.unverified ? 1 : 0;
      repaired += gone.length;
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new OperatorError(`the store ${url} cannot be verified: ${error.message}`);
  }
  if (repaired > 0) print(`repaired problems: ${repaired}`);
  if (unverified > 0)
    print(
      `unverified days: ${unverified}; almanac labels adds their checksums in the background, and --repair adds them now`,
    );
  if (problems > 0 && isRepairing) print('the remaining problems cannot be repaired from the rows: restore a backup');
  print(problems === 0 ? 'every counter matches its rows' : `problems: ${problems}`);
  return problems === 0 ? 0 : 1;
};

async function* readReports(url: string) {
  const store = await opened(url, () => openStoreReader(url));
  try {
    for await (const day of store.verify()) yield { day, repaired: [] };
  } finally {
    await store.close();
  }
}

function linesOf({ day, sealed, unverified, rows, problems }: DayReport, repaired: readonly string[]): string[] {
  const verdict = `${unverified ? ' unverified' : ''}${problems.length === 0 ? ' in order' : ''}`;
  return [
    `${day} ${sealed ? 'sealed' : 'open'} ${rows} rows${verdict}`,
    ...repaired.map((problem) => `  repaired: ${problem}`),
    ...problems.map((problem) => `  ${problem}`),
  ];
}

/**
 * Moves the day files and the state file aside, so that the next start begins a new epoch. Deletes nothing. Rejects
 * with OperatorError if the store cannot be moved.
 */
const newEpoch: LabelsAction = async ({ store }, print) => {
  try {
    const done = setAside(store, new Date());
    if (done === null) {
      print(`the store ${store} is empty: the next start of almanac labels begins its epoch`);
      return 0;
    }
    print(`moved to ${done.directory}; nothing was deleted:`);
    for (const name of done.moved) print(`  ${name}`);
    print('the next start of almanac labels begins a new epoch, with a warm-up as long as the window');
    return 0;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new OperatorError(`no new epoch in ${store}: ${error.message}`);
  }
};

/** Interval between two checks of the processes, in milliseconds. */
const lookMs = 100;
/** Maximum time to wait until the standby is ready, in milliseconds. */
const readyWithinMs = 90_000;
/** Maximum time to wait for a heartbeat of the standby, in milliseconds. */
const beatWithinMs = 5_000;
/** Maximum time to wait until the standby has become the writer, in milliseconds. */
const doneWithinMs = 30_000;

/**
 * Stops the active instrument once its standby is ready, then waits until the standby has taken over. Rejects with
 * OperatorError if either process is missing or does not respond in time.
 */
const handOver: LabelsAction = async ({ store: url, state }, print) => {
  // A hand-over through a database needs no files.
  if (parseStoreUrl(url).kind === 'sqlite') storeFolder({ store: url, state });
  const look = (): Promise<StoreProcesses> => opened(url, () => storeProcesses(url));
  const { writer, standby } = await look();
  if (writer === null) throw new OperatorError('no identifiable instrument is writing this store');
  if (standby === null) {
    throw new OperatorError(
      'this store has no standby; start one with almanac labels --standby, with the same settings',
    );
  }
  if (standby.state !== 'ready') print('the standby is not ready yet; waiting');
  await until(
    async () => (await look()).standby?.state !== 'opening',
    readyWithinMs,
    'the standby did not become ready',
  );
  // Also require a new heartbeat, because a suspended standby still reports that it is ready.
  let now: StoreProcesses = { writer, standby };
  const hasBeaten = async (): Promise<boolean> => {
    now = await look();
    return now.standby?.beat !== standby.beat;
  };
  await until(hasBeaten, beatWithinMs, 'the standby is suspended; nothing was done: no heartbeat arrived');
  if (now.standby === null) throw new OperatorError('the standby has exited');
  if (now.writer?.token !== writer.token || !(await stop(url, now.writer))) {
    throw new OperatorError('the active instrument cannot be identified, or has changed; nothing was done');
  }
  const isDone = async (): Promise<boolean> => {
    const current = (await look()).writer;
    return current !== null && current.token !== writer.token && current.state === 'ready';
  };
  await until(isDone, doneWithinMs, 'the standby did not become the active instrument');
  print(`handed over from ${now.writer.name} to ${(await look()).writer?.name ?? 'an unknown process'}`);
  return 0;
};

async function stop(url: string, writer: StoreProcess): Promise<boolean> {
  try {
    return await askWriterToStop(url, writer);
  } catch (error) {
    const why = systemCode(error) === 'EPERM' ? 'run this command as its user' : 'it has ended';
    throw new OperatorError(`the active instrument (${writer.name}) cannot be stopped: ${why}`);
  }
}

async function until(holds: () => Promise<boolean>, withinMs: number, otherwise: string): Promise<void> {
  for (const deadline = performance.now() + withinMs; !(await holds()); await wait(lookMs)) {
    if (performance.now() > deadline) throw new OperatorError(`${otherwise} within ${withinMs / 1000} s`);
  }
}

/** One source that the report lists. */
type ReportedSource = SourcesReport['listed'][number];

/** One source with its rows in the window. */
interface Line
  extends Pick<ReportedSource, 'bytesIn' | 'bytesStored' | 'rows' | 'cpuMs' | 'writes' | 'throttledMs' | 'slots'> {
  readonly name: string;
  readonly domain: string;
  readonly state: string;
  readonly standing: string;
  readonly window: number;
}

/** All sources of a domain with their rows in the window. */
interface DomainLine extends Line {
  readonly labelers: number;
}

/**
 * Lists the most expensive sources, and then the most expensive and the largest domains, each with the sums over all its
 * sources. Prints JSON with `--json`. Rejects with OperatorError if no instrument has written a report yet.
 */
const sources: LabelsAction = async ({ store: url, state, json }, print) => {
  const folder = storeFolder({ store: url, state });
  const report = await readSourcesReport(folder);
  if (report === null) {
    throw new OperatorError('no running instrument has reported yet; it writes labels-sources.json next to the store');
  }
  const store = await opened(url, () => openStoreReader(url));
  const window = await rowsInWindow(store, report.listed).finally(() => store.close());
  const lines = report.listed.map((source) => lineOf(source, window.ofSource.get(source.did) ?? 0));
  const domains = report.domains.map((sums): DomainLine => {
    const rest = { name: sums.domain, state: '-', standing: '-', window: window.ofDomain.get(sums.domain) ?? 0 };
    return { ...sums, ...rest };
  });
  if (json) print(JSON.stringify({ ...report, listed: lines, domains }));
  else for (const text of table(totalsOf(report, window.ofSource, lines), report, lines, domains)) print(text);
  return 0;
};

/**
 * Returns the number of rows in the window of each source, and of each domain. `listed` contains domains that the running
 * instrument may not have stored yet.
 */
async function rowsInWindow(store: StoreReader, listed: readonly ReportedSource[]) {
  const { floor, end } = await store.frontier();
  const counts = floor < end ? await store.countsByLabeler({ start: floor, end }) : [];
  const domains = new Map((await store.roster()).map((row) => [row.did, reportedDomain(domainsOfLabeler(row))]));
  for (const source of listed) domains.set(source.did, reportedDomain(source.domains));
  const ofSource = new Map<string, number>();
  const ofDomain = new Map<string, number>();
  for (const { labeler: did, applied, removed } of counts) {
    const domain = domains.get(did) ?? '-';
    ofSource.set(did, applied + removed);
    ofDomain.set(domain, (ofDomain.get(domain) ?? 0) + applied + removed);
  }
  return { ofSource, ofDomain };
}

function lineOf(source: ReportedSource, window: number): Line {
  const { did, domains, state, standing, denied, slots } = source;
  const { bytesIn, bytesStored, rows, cpuMs, writes, throttledMs } = source;
  return {
    ...{ name: did, domain: reportedDomain(domains), state: denied ? 'denied' : state, standing, window, slots },
    ...{ bytesIn, bytesStored, rows, cpuMs, writes, throttledMs },
  };
}

/**
 * Returns the line of all sources. Its rows in the window include those of sources that the instrument no longer knows.
 * The report has no total of the slots, so the slots of its domains are added, and those of listed sources whose domains
 * are missing: it lists at most 1,000 domains, and none if an earlier version wrote it.
 */
function totalsOf(
  { sources: known, totals, domains }: SourcesReport,
  rows: ReadonlyMap<string, number>,
  lines: readonly Line[],
): Line {
  const summed = new Set(domains.map(({ domain }) => domain));
  const others = lines.filter(({ domain }) => !summed.has(domain));
  const slots = [...domains, ...others].reduce((total, one) => total + one.slots, 0);
  const window = [...rows.values()].reduce((total, count) => total + count, 0);
  return { name: `${known} sources`, domain: '-', state: '-', standing: '-', window, slots, ...totals };
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

function table(
  all: Line,
  { generatedAt, startedAt }: SourcesReport,
  lines: readonly Line[],
  domains: readonly DomainLine[],
): string[] {
  const right = new Set(columns.keys());
  return [
    `since ${startedAt}, as of ${generatedAt}; window: rows that the store holds`,
    ...aligned(
      [
        [...columns, 'source'],
        [...cells(all), all.name],
        ...lines.map((line) => [...cells(line), `${line.name} ${line.domain}`]),
      ],
      right,
    ),
    '',
    'by domain',
    ...aligned(
      [
        [...columns, 'labelers', 'domain'],
        ...domains.map((line) => [...cells(line), String(line.labelers), line.name]),
      ],
      new Set([...right, columns.length]),
    ),
  ];
}

function cells(line: Line): string[] {
  const { cpuMs, bytesIn, bytesStored, rows, window, writes, throttledMs, slots, state, standing } = line;
  const numbers = [(cpuMs / 1e3).toFixed(1), (bytesIn / 1e6).toFixed(1), (bytesStored / 1e6).toFixed(1)];
  return [...numbers, ...[rows, window, writes, Math.round(throttledMs / 1e3), slots].map(String), state, standing];
}

/** Actions of `almanac labels` on the store and its processes. */
export const upkeepActions = { restoreFrom, verify, newEpoch, handOver, sources };

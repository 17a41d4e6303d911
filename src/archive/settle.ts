import { type ComputedFile, computeFiles, type DayInputs, inputFiles, parseInputs } from './compute/compute-files.ts';
import { addDays, closesAt, dayMs, dayOf, hourMs, startOf } from './days/calendar.ts';
import { formatIssues, issuesFile, issuesOf, type KnownIssue, parseIssues } from './days/known-issues.ts';
import { type ArchivedLine, factNames } from './days/line.ts';
import {
  type DayRecord,
  dayFile,
  formatDay,
  formatIndex,
  indexFile,
  type ListedDay,
  type ListedFile,
  parseDay,
  parseTombstones,
  pathOf,
  sha256Of,
  tombstoneFile,
} from './days/records.ts';
import type { ArchiveFiles } from './files/archive-files.ts';
import type { HoursReadings } from './hours/hour-lists.ts';
import { type HoursUpkeep, keepHours, labelFactsAt, labelFactsMs } from './keep-hours.ts';
import { type DayLog, formatPublicKey, publicKeyPath } from './log/day-log.ts';
import { dictionaryFile, formatDictionary, sinceIn } from './tables/dictionary.ts';
import { editionOf } from './tables/editions.ts';
import { firstEdition } from './tables/first-edition.ts';

const newline = 0x0a;
/**
 * Maximum number of days that one call closes. It limits the damage of a wrong clock until an operator sees the alarm.
 */
const maxClosedAtOnce = 3;
/**
 * Minimum number of hours with responses that must follow a day before it is closed. After a clock jumps ahead, there
 * are no such hours, so no day is closed.
 */
const confirmingHours = 24;

/** Dependencies of `settleDays`. */
interface Upkeep extends HoursUpkeep {
  readonly log: DayLog;
  /** The hours files (hourly counts) of both instruments; null if this archive does not keep them. */
  readonly hours: HoursReadings | null;
  /** Called with the path of each damaged file; its day stays open. */
  readonly onDamage: (path: string) => void;
}

/**
 * Copies known issues and hours to the open days, writes their computed tables and records, closes the days that are
 * due, oldest first, and writes the data dictionary and the index. A crash at any point is safe: the next call repeats the step. `now` is in
 * milliseconds since 1970. No day is closed if `mayClose` is false. Returns the number of open and closed days in the
 * index.
 */
export function settleDays(upkeep: Upkeep, now: number, mayClose: boolean): { open: number; closed: number } {
  const { files, log } = upkeep;
  log.complete();
  logClosed(files, log);
  let day = nextDay(files, log);
  if (day === undefined) return { open: 0, closed: 0 };
  const last = dayOf(now);
  upkeep.memo.forgetBefore(day);
  keepIssues(upkeep, day, last);
  const labelFacts = labelFactsAt(upkeep.hours?.labels ?? null, overviewLines(new DayReader(upkeep), now), now);
  const held = labelFacts === 'held';
  const isKnown = labelFacts === 'released' || labelFacts === 'absent';
  if (upkeep.hours) keepHours(upkeep, upkeep.hours, { first: day, last, now, labelFacts });
  const lines = new DayReader(upkeep);
  const open: ListedDay[] = [];
  const confirmed = confirmedBefore(lines, day, last);
  const size = log.leaves().length;
  for (; day <= last; day = addDays(day, 1)) {
    const isDue = mayClose && now >= closesAt(day) && open.length === 0;
    const closes = isDue && isKnown && day < confirmed && log.leaves().length < size + maxClosedAtOnce;
    const record = recordOf(upkeep, lines, { day, now, closes, held: isDue && held });
    if (record.state === 'closed') log.append({ day, sha256: record.sha256 });
    else open.push(record);
  }
  const closed = log.leaves().map((leaf): ListedDay => ({ ...leaf, state: 'closed' }));
  const dictionary = formatDictionary(tablesSince(files, closed, open));
  if (files.read(dictionaryFile)?.equals(dictionary) !== true) files.replace(dictionaryFile, dictionary);
  const publicKey = formatPublicKey(log.key);
  if (files.read(publicKeyPath)?.equals(publicKey) !== true) files.replace(publicKeyPath, publicKey);
  const index = formatIndex({ key: log.key, days: [...closed, ...open] });
  if (files.read(indexFile)?.equals(index) !== true) files.replace(indexFile, index);
  return { open: open.length, closed: closed.length };
}

/** Returns the first day that the log does not contain; undefined if the archive has no days. */
function nextDay(files: ArchiveFiles, log: DayLog): string | undefined {
  const last = log.leaves().at(-1)?.day;
  return last === undefined ? files.days()[0] : addDays(last, 1);
}

/**
 * Adds the log entries that closed days lack because of a crash or a full disk. Leaves the files of these days
 * unchanged.
 */
function logClosed(files: ArchiveFiles, log: DayLog): void {
  for (let day = nextDay(files, log); day !== undefined; day = addDays(day, 1)) {
    const bytes = files.read(pathOf(day, dayFile));
    if (!bytes || parseDay(bytes)?.state !== 'closed') return;
    log.append({ day, sha256: sha256Of(bytes) });
  }
}

/** Returns the first day that is not yet followed by enough hours with responses; all earlier days may be closed. */
function confirmedBefore(lines: DayReader, first: string, last: string): string {
  let [day, hours] = [last, 0];
  for (; day > first && hours < confirmingHours; day = addDays(day, -1)) {
    const own = lines.read(day)?.lines;
    const responses = factNames.flatMap((fact) => (own ? own[fact] : []).filter(({ kind }) => kind === 'response'));
    hours += new Set(responses.map(({ hour }) => hour)).size;
  }
  return hours < confirmingHours ? first : addDays(day, 1);
}

/**
 * Returns the first day with the current edition of the tables, as the data dictionary states it. If there is no current
 * dictionary, finds the day after the last one with the first edition.
 */
function tablesSince(files: ArchiveFiles, closed: readonly ListedDay[], open: readonly ListedDay[]): string {
  const dictionary = files.read(dictionaryFile);
  const stated = dictionary && sinceIn(dictionary);
  if (stated) return stated;
  const older = closed.findLast(({ day }) => {
    const record = parseDay(files.read(pathOf(day, dayFile)) ?? Buffer.alloc(0));
    return record !== null && editionOf(record) === firstEdition;
  });
  return older ? addDays(older.day, 1) : ([...closed, ...open][0]?.day ?? '');
}

/** Returns the archived lines of the label overview from the days that `labelFactsAt` examines. */
function overviewLines(lines: DayReader, now: number): ArchivedLine[] {
  const days: string[] = [];
  for (let day = dayOf(now - labelFactsMs); day <= dayOf(now); day = addDays(day, 1)) days.push(day);
  return days.flatMap((day) => lines.read(day)?.lines['labels-overview'] ?? []);
}

/** Reads the inputs of days, and reads each day at most once. */
class DayReader {
  readonly #upkeep: Upkeep;
  readonly #known = new Map<string, DayInputs | null>();

  constructor(upkeep: Upkeep) {
    this.#upkeep = upkeep;
  }

  /** Returns the inputs of a day; null if a file is damaged, which is reported. */
  read(day: string): DayInputs | null {
    const known = this.#known.get(day);
    if (known !== undefined) return known;
    const { files, memo, onDamage } = this.#upkeep;
    const { inputs, damaged } = parseInputs(day, (name) => wholeFile(files, pathOf(day, name)), memo);
    for (const name of damaged) onDamage(pathOf(day, name));
    this.#known.set(day, inputs);
    return inputs;
  }
}

/**
 * Returns the bytes of a file; null if it does not exist. Removes a partial line that a killed process left at the end
 * of a file of lines, and a file of lines that is then empty.
 */
function wholeFile(files: ArchiveFiles, path: string): Buffer | null {
  const bytes = files.read(path);
  if (!bytes || !path.endsWith('.jsonl') || bytes.at(-1) === newline) return bytes;
  files.repair(path);
  return bytes.subarray(0, bytes.lastIndexOf(newline) + 1);
}

interface Revision {
  readonly day: string;
  readonly now: number;
  readonly closes: boolean;
  readonly held: boolean;
}

/**
 * Writes the computed files of a day that are missing or have changed, and a new revision of its record if the files or
 * the state have changed. Returns the current entry for the index.
 */
function recordOf(upkeep: Upkeep, lines: DayReader, { day, now, closes, held }: Revision): ListedDay {
  const { files } = upkeep;
  const bytes = files.read(pathOf(day, dayFile));
  const last = bytes && parseDay(bytes);
  const days = [0, 1, 2].map((count) => lines.read(addDays(day, count)));
  const intact = days.filter((one) => one !== null);
  const isClosed = hasIntactTombstones(upkeep, day) && closes && intact.length === days.length;
  const until = Math.min(Math.floor(now / hourMs) * hourMs, startOf(day) + dayMs);
  const all = intact.length === days.length ? computeFiles(day, intact, until, { memo: upkeep.memo }) : [];
  const withheld = all.filter((one) => hasIdentity(upkeep, day, one)).map(({ name }) => name);
  const computed = all.filter(({ name }) => !withheld.includes(name));
  const listed = listFiles(upkeep, day, computed);
  const reason = isClosed ? null : held ? 'held' : 'recent';
  const state = isClosed ? 'closed' : 'open';
  // A file may be missing although the record lists it: a repeated withdrawal removes the computed files once more.
  for (const one of computed.filter((one) => !isWritten(files, day, one))) {
    files.replace(pathOf(day, one.name), one.bytes);
  }
  if (bytes && last && last.state === state && last.reason === reason && isSame(last, listed, withheld)) {
    return { day, state, sha256: sha256Of(bytes) };
  }
  const previous = bytes ? sha256Of(bytes) : null;
  const revision = (last?.revision ?? 0) + 1;
  const record: DayRecord = { day, state, reason, revision, previous, files: listed, withheld };
  const formatted = formatDay(record);
  for (const name of withheld) files.remove(pathOf(day, name));
  // An open day has no tables of the first edition. They go before the record, so that a repeated call removes them.
  const outdated = last?.files.filter(({ name }) => firstEdition.files.includes(name)) ?? [];
  for (const { name } of outdated) files.remove(pathOf(day, name));
  files.replace(pathOf(day, dayFile), formatted);
  return { day, state, sha256: sha256Of(formatted) };
}

/** Returns false if the tombstones of a day are damaged, which is reported. Then no hours are copied to the day. */
function hasIntactTombstones({ files, onDamage }: Upkeep, day: string): boolean {
  const path = pathOf(day, tombstoneFile);
  const isIntact = parseTombstones(files.read(path), day) !== null;
  if (!isIntact) onDamage(path);
  return isIntact;
}

function listFiles({ files }: Upkeep, day: string, computed: readonly ComputedFile[]): ListedFile[] {
  const inputs = inputFiles.map((name) => ({ name, bytes: files.read(pathOf(day, name)) ?? Buffer.alloc(0) }));
  const all = [...inputs.filter(({ bytes }) => bytes.length > 0), ...computed];
  return all.map(({ name, bytes }) => ({ name, bytes: bytes.length, sha256: sha256Of(bytes) }));
}

function isWritten(files: ArchiveFiles, day: string, { name, bytes }: ComputedFile): boolean {
  return files.read(pathOf(day, name))?.equals(bytes) === true;
}

function hasIdentity({ files, findIdentityIn, onIdentity }: Upkeep, day: string, one: ComputedFile): boolean {
  // A file that is already on disk was scanned before it was written.
  if (isWritten(files, day, one)) return false;
  const why = findIdentityIn(one.name, one.value);
  if (why !== null) onIdentity(pathOf(day, one.name), why);
  return why !== null;
}

function isSame(last: DayRecord, files: readonly ListedFile[], withheld: readonly string[]): boolean {
  return JSON.stringify([last.files, last.withheld]) === JSON.stringify([files, withheld]);
}

/**
 * Copies the operator's known issues to the open days from `first` to `last` that they concern. An invalid list, or one
 * that contains an identity, changes nothing. A missing list is created without issues.
 */
function keepIssues(upkeep: Upkeep, first: string, last: string): void {
  const { files, findIdentityIn, onDamage, onIdentity } = upkeep;
  const bytes = files.read(issuesFile);
  if (!bytes) files.replace(issuesFile, formatIssues([]));
  const issues = bytes ? parseIssues(bytes) : [];
  const why = issues && findIdentityIn(issuesFile, { issues });
  if (!issues) onDamage(issuesFile);
  else if (why !== null) onIdentity(issuesFile, why);
  else copyIssues(files, issues, { first, last });
}

function copyIssues(
  files: ArchiveFiles,
  issues: readonly KnownIssue[],
  { first, last }: { first: string; last: string },
) {
  for (let day = first; day <= last; day = addDays(day, 1)) {
    const path = pathOf(day, issuesFile);
    const known = files.read(path);
    const own = issuesOf(day, issues);
    if (!known && own.length === 0) continue;
    const formatted = formatIssues(own);
    if (known?.equals(formatted) !== true) files.replace(path, formatted);
  }
}

import { OperatorError } from '../ops/errors.ts';
import {
  type ComputedFile,
  computedFiles,
  computeFiles,
  type DayInputs,
  inputFiles,
  parseInputs,
} from './compute/compute-files.ts';
import { daysAfter, gapsFile, isManifestFinal } from './compute/gaps.ts';
import { addDays, dayMs, startOf } from './days/calendar.ts';
import { issuesFile } from './days/known-issues.ts';
import { archivedFacts, type FactName, factNames, formatFailure, lineFileOf, parseLines } from './days/line.ts';
import {
  type DayRecord,
  dayFile,
  formatDay,
  formatTombstones,
  indexFile,
  isFileName,
  isReason,
  type ListedFile,
  maxReasonLength,
  parseDay,
  parseIndex,
  parseTombstones,
  pathOf,
  sha256Of,
  type Tombstone,
  tombstoneFile,
} from './days/records.ts';
import type { ArchiveFiles } from './files/archive-files.ts';
import type { DayForm } from './hours/hour-lists.ts';
import { labelsForm } from './hours/labels-day.ts';
import { weatherForm } from './hours/weather-day.ts';
import { currentEdition, editionOf, isAdded } from './tables/editions.ts';

// The two changes that an operator may make to an archive: withdrawing a file, and rebuilding a day.

/** A request to withdraw one file. */
interface Withdrawal {
  readonly files: ArchiveFiles;
  readonly day: string;
  readonly name: string;
  readonly reason: string;
  /** Current time in milliseconds since 1970. */
  readonly now: number;
}

/**
 * Withdraws a file. A file of a closed day is removed, and its tombstone keeps the digest that the log covers. In a
 * file of an open day, the bodies are replaced by lines without a response, and archiving continues; the tombstone keeps
 * the digest of the file before that. Withdrawn hours of an open day stay unknown; the files computed from them are
 * removed until the archiver computes them again. The
 * call may be repeated after a crash. Throws OperatorError if the reason is invalid or the file cannot be
 * withdrawn.
 */
export function withdrawFile(withdrawal: Withdrawal): 'removed' | 'withheld' {
  const { files, day, name, reason } = withdrawal;
  if (!isReason(reason)) {
    throw new OperatorError(`--reason requires one line of at most ${maxReasonLength} characters`);
  }
  const bytes = files.read(pathOf(day, dayFile));
  const record = bytes && parseDay(bytes);
  if (!record) throw new OperatorError(`the archive has no intact record of ${day}`);
  const listed = isFileName(name) ? listedFile(withdrawal, record) : undefined;
  if (!listed) throw new OperatorError(`${day} has no file ${JSON.stringify(name)}`);
  if (record.state === 'open') {
    withhold(withdrawal, listed);
    return 'withheld';
  }
  remove(withdrawal, listed);
  return 'removed';
}

/** Returns the entry of a file, which a table that was added to an older day has only here. */
function listedFile({ files, day, name }: Withdrawal, record: DayRecord): ListedFile | undefined {
  const listed = record.files.find((file) => file.name === name);
  if (listed || !isAdded(record, name)) return listed;
  const bytes = files.read(pathOf(day, name));
  return bytes ? { name, bytes: bytes.length, sha256: sha256Of(bytes) } : undefined;
}

function remove(withdrawal: Withdrawal, file: ListedFile): void {
  bury(withdrawal, file, ({ sha256 }) => sha256 === file.sha256);
  withdrawal.files.remove(pathOf(withdrawal.day, file.name));
}

/**
 * Writes the tombstone of a file. Keeps an existing tombstone of that name if `isValid` accepts it. Throws
 * OperatorError if the tombstones of the day are damaged.
 */
function bury({ files, day, reason, now }: Withdrawal, file: ListedFile, isValid: (old: Tombstone) => boolean): void {
  const known = tombstonesOf(files, day);
  const { name, bytes, sha256 } = file;
  if (known.some((one) => one.name === name && isValid(one))) return;
  const tombstone = { name, bytes, sha256, withdrawn_at: new Date(now).toISOString(), reason };
  const others = known.filter((one) => one.name !== name);
  files.replace(pathOf(day, tombstoneFile), formatTombstones(day, [...others, tombstone]));
}

/** Returns the tombstones of a day. Throws OperatorError if they are damaged. */
function tombstonesOf(files: ArchiveFiles, day: string): readonly Tombstone[] {
  const path = pathOf(day, tombstoneFile);
  const tombstones = parseTombstones(files.read(path), day);
  if (!tombstones) throw new OperatorError(`${path} is damaged; restore it first`);
  return tombstones;
}

function withhold(withdrawal: Withdrawal, file: ListedFile): void {
  const { name } = file;
  const fact = factNames.find((one): one is FactName => lineFileOf(one) === name);
  if (fact) withholdLines(withdrawal, fact);
  else if (name === weatherForm.name) withholdHours(withdrawal, file, weatherForm);
  else if (name === labelsForm.name) withholdHours(withdrawal, file, labelsForm);
  else if (name === issuesFile)
    throw new OperatorError(`remove the issue from ${issuesFile} in the archive directory instead`);
  else
    throw new OperatorError(`${name} of an open day is recomputed from the other files: withdraw those files instead`);
}

/**
 * Replaces the responses of an open day. Writes a tombstone, because the manifest of an earlier day that is already
 * closed may have been computed from them.
 */
function withholdLines(withdrawal: Withdrawal, fact: FactName): void {
  const { files, day, name } = withdrawal;
  const path = pathOf(day, name);
  const bytes = files.read(path) ?? Buffer.alloc(0);
  const lines = parseLines(bytes.toString('utf8'), fact, day);
  if (!lines) throw new OperatorError(`${path} is damaged; stop the archiver and remove the file`);
  const failures = lines.map(({ at }) => formatFailure(archivedFacts[fact], Date.parse(at), 'withheld'));
  const withheld = Buffer.from(failures.join(''));
  if (withheld.equals(bytes)) return;
  const sha256 = sha256Of(bytes);
  // Lines that were archived since an earlier withdrawal need a tombstone with the time of this one.
  bury(withdrawal, { name, bytes: bytes.length, sha256 }, (old) => old.sha256 === sha256);
  files.replace(path, withheld);
}

/**
 * Replaces the hours of an open day with hours without data. Writes a tombstone, so that the archiver does not copy
 * the hours again. Removes the computed files, which the archiver then computes again.
 */
function withholdHours<Day>(withdrawal: Withdrawal, file: ListedFile, form: DayForm<Day, never>): void {
  const { files, day } = withdrawal;
  bury(withdrawal, file, () => true);
  const withheld = form.note(form.unknown(day), 'withheld', Number.POSITIVE_INFINITY);
  files.replace(pathOf(day, file.name), form.format(withheld));
  for (const computed of computedFiles) files.remove(pathOf(day, computed));
}

/**
 * Result for one file. `restored`: the file was missing or damaged, and has been written again. `different`: the
 * computed bytes differ from the published ones, so nothing was written. `final`: they differ because an input of a later
 * day was withdrawn after the day was closed. `added`: the file belongs to a newer edition of the tables than the record
 * of the day, and has been written next to the older tables.
 */
interface RebuiltFile {
  readonly name: string;
  readonly result: 'identical' | 'restored' | 'added' | 'withdrawn' | 'different' | 'final';
}

/**
 * Recomputes the files of a closed day from the archived input files, and restores those that are missing or damaged.
 * A file is written only if its computed bytes equal the published ones. On a day with tables of an older edition, also
 * writes the current tables, unless a computed file of the day was withdrawn or withheld. `findIdentityIn` describes an
 * identity in the values of a file; a file with an identity is not added. Throws OperatorError if the day is not
 * closed, if its record or an input is missing, damaged or withdrawn, or if its tombstones are damaged.
 */
export function rebuildDay(
  files: ArchiveFiles,
  day: string,
  findIdentityIn: (name: string, value: object) => string | null,
): RebuiltFile[] {
  const record = closedRecord(files, day);
  // Without intact tombstones, a withdrawn file could be restored.
  const withdrawn = new Set(tombstonesOf(files, day).map(({ name }) => name));
  for (const { name, sha256 } of record.files.filter((file) => inputFiles.includes(file.name))) {
    const bytes = files.read(pathOf(day, name));
    if (bytes && sha256Of(bytes) === sha256) continue;
    if (withdrawn.has(name)) throw new OperatorError(`${day} cannot be recomputed: ${name} was withdrawn`);
    throw new OperatorError(`${pathOf(day, name)} is missing or damaged; restore it from a copy of the archive`);
  }
  const days = [0, 1, 2].map((count) => inputsOf(files, addDays(day, count)));
  const until = startOf(day) + dayMs;
  const edition = editionOf(record);
  const isFinal = isManifestFinal(
    day,
    daysAfter(day).flatMap((later) => tombstonesOf(files, later)),
  );
  const all = computeFiles(day, days, until, { edition });
  const final = isFinal ? all.filter((one) => one.name === gapsFile && !isPublished(record, one)) : [];
  const computed = all.filter((one) => !final.includes(one));
  const results = computed
    .filter(({ name }) => !record.withheld.includes(name))
    .map((one) => rebuildFile(files, record, { ...one, isWithdrawn: withdrawn.has(one.name) }));
  const composed: RebuiltFile = { name: dayFile, result: isComposed(record, computed) ? 'identical' : 'different' };
  const isWhole = edition === currentEdition || record.withheld.length > 0 || withdrawn.size > 0;
  const added = isWhole ? [] : computeFiles(day, days, until).filter((one) => !hasName(computed, one.name));
  const clean = added.filter(({ name, value }) => findIdentityIn(name, value) === null);
  const unchanged = final
    .filter(({ name }) => !record.withheld.includes(name))
    .map(({ name }): RebuiltFile => ({ name, result: finalResult(files, record, name, withdrawn.has(name)) }));
  return [...unchanged, ...results, composed, ...clean.map((one) => addFile(files, day, one))];
}

function closedRecord(files: ArchiveFiles, day: string): DayRecord {
  const index = parseIndex(files.read(indexFile) ?? Buffer.alloc(0));
  const listed = index?.days.find((one) => one.day === day);
  if (listed?.state !== 'closed') throw new OperatorError(`${day} is not a closed day of this archive`);
  const bytes = files.read(pathOf(day, dayFile));
  const record = bytes && sha256Of(bytes) === listed.sha256 ? parseDay(bytes) : null;
  if (!record) {
    throw new OperatorError(`${pathOf(day, dayFile)} is missing or damaged; restore it from a copy of the archive`);
  }
  return record;
}

function inputsOf(files: ArchiveFiles, day: string): DayInputs {
  const { inputs, damaged } = parseInputs(day, (name) => files.read(pathOf(day, name)));
  if (!inputs) {
    const paths = damaged.map((name) => pathOf(day, name)).join(', ');
    throw new OperatorError(`input files are damaged: ${paths}; restore them from a copy of the archive`);
  }
  return inputs;
}

function isPublished(record: DayRecord, { name, bytes }: Pick<ComputedFile, 'name' | 'bytes'>): boolean {
  return record.files.some((file) => file.name === name && file.sha256 === sha256Of(bytes));
}

/** Returns the result for a file that can no longer be computed: `different` if its published bytes are lost. */
function finalResult(
  files: ArchiveFiles,
  record: DayRecord,
  name: string,
  isWithdrawn: boolean,
): RebuiltFile['result'] {
  if (isWithdrawn) return 'withdrawn';
  const bytes = files.read(pathOf(record.day, name));
  return bytes !== null && isPublished(record, { name, bytes }) ? 'final' : 'different';
}

function rebuildFile(
  files: ArchiveFiles,
  record: DayRecord,
  one: ComputedFile & { readonly isWithdrawn: boolean },
): RebuiltFile {
  const { name, bytes, isWithdrawn } = one;
  const path = pathOf(record.day, name);
  if (!isPublished(record, one)) return { name, result: 'different' };
  if (isWithdrawn) return { name, result: 'withdrawn' };
  if (files.read(path)?.equals(bytes) === true) return { name, result: 'identical' };
  files.replace(path, bytes);
  return { name, result: 'restored' };
}

function hasName(files: readonly ComputedFile[], name: string): boolean {
  return files.some((one) => one.name === name);
}

function addFile(files: ArchiveFiles, day: string, { name, bytes }: ComputedFile): RebuiltFile {
  const path = pathOf(day, name);
  if (files.read(path)?.equals(bytes) === true) return { name, result: 'identical' };
  files.replace(path, bytes);
  return { name, result: 'added' };
}

/** Returns true if the day's record remains the same when the digests of the computed files are inserted. */
function isComposed(record: DayRecord, computed: readonly ComputedFile[]): boolean {
  const rebuilt = record.files.map((file): ListedFile => {
    const one = computed.find(({ name }) => name === file.name);
    return one ? { name: one.name, bytes: one.bytes.length, sha256: sha256Of(one.bytes) } : file;
  });
  return formatDay({ ...record, files: rebuilt }).equals(formatDay(record));
}

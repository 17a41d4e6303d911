import { OperatorError } from '../ops/errors.ts';
import { type ComputedFile, computeFiles, type DayInputs, inputFiles, parseInputs } from './compute/inputs.ts';
import { addDays, dayMs, startOf } from './days/calendar.ts';
import {
  type DayRecord,
  dayFile,
  formatDay,
  indexFile,
  type ListedFile,
  parseDay,
  parseIndex,
  parseTombstones,
  pathOf,
  sha256Of,
  tombstoneFile,
} from './days/records.ts';
import type { ArchiveFiles } from './files/archive-files.ts';
import { current, editionOf } from './tables/editions.ts';

/**
 * Result for one file. `restored`: the file was missing or damaged, and has been written again. `different`: the
 * computed bytes differ from the published ones, so nothing was written. `added`: the file belongs to a newer edition of
 * the tables than the record of the day, and has been written next to the older tables.
 */
interface RebuiltFile {
  readonly name: string;
  readonly result: 'identical' | 'restored' | 'added' | 'withdrawn' | 'different';
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
  const withdrawn = withdrawnNames(files, day);
  for (const { name, sha256 } of record.files.filter((file) => inputFiles.includes(file.name))) {
    const bytes = files.read(pathOf(day, name));
    if (bytes && sha256Of(bytes) === sha256) continue;
    if (withdrawn.has(name)) throw new OperatorError(`${day} cannot be recomputed: ${name} was withdrawn`);
    throw new OperatorError(`${pathOf(day, name)} is missing or damaged; restore it from a copy of the archive`);
  }
  const days = [0, 1, 2].map((count) => inputsOf(files, addDays(day, count)));
  const until = startOf(day) + dayMs;
  const edition = editionOf(record);
  const computed = computeFiles(day, days, until, { edition });
  const results = computed
    .filter(({ name }) => !record.withheld.includes(name))
    .map((one) => rebuildFile(files, record, { ...one, isWithdrawn: withdrawn.has(one.name) }));
  const composed: RebuiltFile = { name: dayFile, result: isComposed(record, computed) ? 'identical' : 'different' };
  const isWhole = edition === current || record.withheld.length > 0 || withdrawn.size > 0;
  const added = isWhole ? [] : computeFiles(day, days, until).filter((one) => !hasName(computed, one.name));
  const clean = added.filter(({ name, value }) => findIdentityIn(name, value) === null);
  return [...results, composed, ...clean.map((one) => addFile(files, day, one))];
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

function withdrawnNames(files: ArchiveFiles, day: string): ReadonlySet<string> {
  const path = pathOf(day, tombstoneFile);
  const bytes = files.read(path);
  const tombstones = bytes ? parseTombstones(bytes, day) : [];
  // Without intact tombstones, a withdrawn file could be restored.
  if (!tombstones) throw new OperatorError(`${path} is damaged; restore it first`);
  return new Set(tombstones.map(({ name }) => name));
}

function inputsOf(files: ArchiveFiles, day: string): DayInputs {
  const { inputs, damaged } = parseInputs(day, (name) => files.read(pathOf(day, name)));
  if (!inputs) {
    const paths = damaged.map((name) => pathOf(day, name)).join(', ');
    throw new OperatorError(`input files are damaged: ${paths}; restore them from a copy of the archive`);
  }
  return inputs;
}

interface Rebuildable extends ComputedFile {
  readonly isWithdrawn: boolean;
}

function rebuildFile(files: ArchiveFiles, record: DayRecord, { name, bytes, isWithdrawn }: Rebuildable): RebuiltFile {
  const path = pathOf(record.day, name);
  const isPublished = record.files.some((file) => file.name === name && file.sha256 === sha256Of(bytes));
  if (!isPublished) return { name, result: 'different' };
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

import { OperatorError } from '../ops/errors.ts';
import { computedFiles } from './compute/inputs.ts';
import { issuesFile } from './days/known-issues.ts';
import { archivedFacts, type FactName, factNames, formatFailure, lineFileOf, parseLines } from './days/line.ts';
import {
  type DayRecord,
  dayFile,
  formatTombstones,
  isFileName,
  type ListedFile,
  parseDay,
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
import { isAdded } from './tables/editions.ts';

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
 * file of an open day, the bodies are replaced by lines without a response, and archiving continues. Withdrawn hours
 * of an open day stay unknown; the files computed from them are removed until the archiver computes them again. The
 * call may be repeated after a crash. Throws OperatorError if the file cannot be withdrawn.
 */
export function withdrawFile(withdrawal: Withdrawal): 'removed' | 'withheld' {
  const { files, day, name } = withdrawal;
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
  const path = pathOf(day, tombstoneFile);
  const bytes = files.read(path);
  const known = bytes ? parseTombstones(bytes, day) : [];
  if (!known) throw new OperatorError(`${path} is damaged; restore it first`);
  const { name, bytes: length, sha256 } = file;
  if (known.some((one) => one.name === name && isValid(one))) return;
  const tombstone = { name, bytes: length, sha256, withdrawn_at: new Date(now).toISOString(), reason };
  files.replace(path, formatTombstones(day, [...known.filter((one) => one.name !== name), tombstone]));
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

function withholdLines({ files, day, name }: Withdrawal, fact: FactName): void {
  const path = pathOf(day, name);
  const lines = parseLines(files.read(path)?.toString('utf8') ?? '', fact, day);
  if (!lines) throw new OperatorError(`${path} is damaged; stop the archiver and remove the file`);
  const withheld = lines.map(({ at }) => formatFailure(archivedFacts[fact], Date.parse(at), 'withheld'));
  files.replace(path, Buffer.from(withheld.join('')));
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

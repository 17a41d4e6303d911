import {
  computedFiles,
  computeFiles,
  type DayInputs,
  firstComputedFiles,
  inputFiles,
  parseInputs,
} from '../compute/compute-files.ts';
import { daysAfter, gapsFile, isManifestFinal } from '../compute/gaps.ts';
import { dayMs, startOf } from '../days/calendar.ts';
import { type FactName, factNames, lineFileOf } from '../days/line.ts';
import {
  type DayRecord,
  dayFile,
  isTombstoneOf,
  type ListedFile,
  parseDay,
  parseTombstones,
  pathOf,
  sha256Of,
  type Tombstone,
  tombstoneFile,
} from '../days/records.ts';
import { currentEdition, editionOf } from '../tables/editions.ts';
import { firstEdition } from '../tables/first-edition.ts';
import type { ArchiveReader } from './archive-reader.ts';
import type { Finding } from './finding.ts';

/** Verifies the files of days, which the caller passes in ascending order. */
export class DayVerifier {
  readonly #reader: ArchiveReader;
  readonly #report: (finding: Finding) => void;
  readonly #inputs: InputReader;
  readonly #withdrawn: string[] = [];
  /** Digest of each listed file of the day as it was read; null if it does not exist. It saves a second request. */
  readonly #digests = new Map<string, string | null>();

  constructor(reader: ArchiveReader, report: (finding: Finding) => void) {
    this.#reader = reader;
    this.#report = report;
    this.#inputs = new InputReader(reader, report);
  }

  /** Returns the paths of the withdrawn files of the verified days. */
  withdrawn(): readonly string[] {
    return this.#withdrawn;
  }

  /**
   * Verifies a day against the digest of its record and reports the findings. For an open day, newer content is
   * accepted: the next revision of the record, lines appended to JSON Lines files, and any content of the other
   * files.
   */
  async verify(day: string, sha256: string, state: DayRecord['state']): Promise<void> {
    this.#inputs.forgetBefore(day);
    const path = pathOf(day, dayFile);
    const bytes = await this.#reader.read(path);
    if (!bytes) return this.#report({ kind: 'missing', path, message: 'the record of the day does not exist' });
    const record = parseDay(bytes);
    const isNext = state === 'open' && record?.day === day && record.previous === sha256;
    if (sha256Of(bytes) !== sha256 && !isNext) {
      const source = state === 'closed' ? 'its log entry' : 'the index';
      return this.#report({ kind: 'altered', path, message: `the digest differs from the digest in ${source}` });
    }
    if (record?.day !== day || (record.state !== state && !isNext)) {
      return this.#report({
        kind: 'malformed',
        path,
        message: `the file is not a valid record of this day in the state "${state}"`,
      });
    }
    if (!this.#hasKnownNames(record)) return;
    this.#digests.clear();
    for (const file of record.files) await this.#verifyFile(record, file);
    if (state === 'open') {
      // Reads the tombstones only to report them if they are damaged: they then keep the day open.
      await this.#inputs.tombstonesOf(day);
      return;
    }
    await this.#verifyUnlisted(record);
    await this.#verifyComputed(record);
  }

  async #verifyFile({ day, state }: DayRecord, { name, bytes, sha256 }: DayRecord['files'][number]): Promise<void> {
    const path = pathOf(day, name);
    if (state === 'open' && !name.endsWith('.jsonl')) return;
    const content = await this.#reader.read(path);
    if (state === 'closed') this.#digests.set(name, content && sha256Of(content));
    if (!content) return this.#verifyMissing(day, { name, bytes, sha256 });
    const listed = state === 'open' ? content.subarray(0, bytes) : content;
    if (listed.length !== bytes || sha256Of(listed) !== sha256) {
      return this.#report({
        kind: 'altered',
        path,
        message: 'the digest differs from the digest in the record of the day',
      });
    }
    if (state === 'open') return;
    const tombstones = await this.#inputs.tombstonesOf(day);
    if (!tombstones.some((one) => isTombstoneOf(one, { name, bytes, sha256 }))) return;
    this.#report({ kind: 'altered', path, message: 'the file was withdrawn, but it still exists; remove it' });
  }

  /** Accepts a missing file only if its tombstone states the same length and digest as the record of the day. */
  async #verifyMissing(day: string, { name, bytes, sha256 }: ListedFile): Promise<void> {
    const path = pathOf(day, name);
    const tombstone = (await this.#inputs.tombstonesOf(day)).find((one) => one.name === name);
    if (!tombstone) return this.#report({ kind: 'missing', path, message: 'the file does not exist' });
    if (tombstone.sha256 !== sha256 || tombstone.bytes !== bytes) {
      return this.#report({
        kind: 'altered',
        path,
        message: 'the tombstone of the file states a different length or digest than the record of the day',
      });
    }
    this.#withdrawn.push(path);
  }

  /**
   * Returns true if the record names only known files, each at most once, and states only computed files as withheld;
   * otherwise reports the first wrong name and returns false. Called before any listed file is read.
   */
  #hasKnownNames({ day, files, withheld }: DayRecord): boolean {
    const computed = [...computedFiles, ...firstComputedFiles];
    const missing = new Set([...inputFiles, ...computed]);
    const wrong =
      files.map(({ name }) => name).find((name) => !missing.delete(name)) ??
      withheld.find((name) => !missing.delete(name) || !computed.includes(name));
    if (wrong === undefined) return true;
    const message = 'the record names an unknown file, names a file twice, or states an input file as withheld';
    this.#report({ kind: 'malformed', path: pathOf(day, wrong), message });
    return false;
  }

  /**
   * Reports files that have content but are not listed in the record. Tables that were added to an older day are not
   * listed; `#verifyComputed` compares them. It compares no withheld file, so a withheld file must not exist.
   */
  async #verifyUnlisted(record: DayRecord): Promise<void> {
    const { day, files, withheld } = record;
    const listed = new Set(files.map(({ name }) => name));
    const added = editionOf(record) === firstEdition ? computedFiles : [];
    const names = new Set([...inputFiles, ...computedFiles, ...firstComputedFiles].filter((one) => !listed.has(one)));
    const isCompared = (name: string): boolean =>
      !withheld.includes(name) && (name === gapsFile || added.includes(name));
    for (const name of [...names].filter((one) => !isCompared(one))) {
      const path = pathOf(day, name);
      const content = await this.#reader.read(path);
      // A killed archiver may have left an empty file.
      if (!content || content.length === 0) continue;
      this.#report({ kind: 'altered', path, message: 'the file is not listed in the record of the day' });
    }
  }

  /**
   * Recomputes the computed files and compares them with the archived ones. Every closed day must have a gap
   * manifest. Tables that were added to an older day may be missing. The manifest may differ if a file of a later day
   * was withdrawn after the day was closed; the tables do not depend on later days.
   */
  async #verifyComputed(record: DayRecord): Promise<void> {
    const { day, files, withheld } = record;
    const days = await Promise.all([day, ...daysAfter(day)].map((one) => this.#inputs.inputsOf(one)));
    const intact = days.flatMap(({ inputs }) => inputs ?? []);
    // Damaged files have already been reported by the reader. A withdrawn input makes the computed files of its own day
    // unverifiable.
    if (intact.length < days.length || days[0]?.isWithdrawn !== false) return;
    const edition = editionOf(record);
    const until = startOf(day) + dayMs;
    const computed = computeFiles(day, intact, until, { edition });
    const added = edition === currentEdition ? [] : computeFiles(day, intact, until);
    const known = new Set(computed.map(({ name }) => name));
    for (const { name, bytes } of [...computed, ...added.filter((one) => !known.has(one.name))]) {
      if (withheld.includes(name)) continue;
      const path = pathOf(day, name);
      const digest = await this.#digestOf(name, path);
      const isListed = files.some((file) => file.name === name);
      if (digest === null && !isListed && known.has(name))
        this.#report({ kind: 'missing', path, message: 'the file does not exist' });
      if (digest === null || digest === sha256Of(bytes)) continue;
      if (name === gapsFile && (await this.#isManifestFinal(day))) continue;
      this.#report({ kind: 'gaps', path, message: 'the file does not match the archived input files' });
    }
  }

  /** Resolves with true if a withdrawal on a later day prevents the comparison of the day's gap manifest. */
  async #isManifestFinal(day: string): Promise<boolean> {
    const later = await Promise.all(daysAfter(day).map((one) => this.#inputs.withdrawnLinesOf(one)));
    return isManifestFinal(day, later.flat());
  }

  /** Resolves with the digest of a file of the day; null if it does not exist. */
  async #digestOf(name: string, path: string): Promise<string | null> {
    const known = this.#digests.get(name);
    if (known !== undefined) return known;
    const content = await this.#reader.read(path);
    return content && sha256Of(content);
  }
}

/** Input files of a day, of which missing ones count as empty. */
interface ReadInputs {
  /** The parsed files; null if a file is damaged. */
  readonly inputs: DayInputs | null;
  /** Names of the files that do not exist. */
  readonly missing: ReadonlySet<string>;
  /** True if a missing file was withdrawn. */
  readonly isWithdrawn: boolean;
}

/** Reads and caches the input files and tombstones of days. */
class InputReader {
  readonly #reader: ArchiveReader;
  readonly #report: (finding: Finding) => void;
  readonly #inputs = new Map<string, Promise<ReadInputs>>();
  readonly #tombstones = new Map<string, Promise<readonly Tombstone[]>>();

  constructor(reader: ArchiveReader, report: (finding: Finding) => void) {
    this.#reader = reader;
    this.#report = report;
  }

  /** Discards the files of all days before the given day. */
  forgetBefore(day: string): void {
    for (const map of [this.#inputs, this.#tombstones]) {
      for (const known of map.keys()) if (known < day) map.delete(known);
    }
  }

  /** Resolves with the inputs of a day. Reports damaged files. */
  inputsOf(day: string): Promise<ReadInputs> {
    const known = this.#inputs.get(day) ?? this.#readInputs(day);
    this.#inputs.set(day, known);
    return known;
  }

  /**
   * Resolves with the tombstones of a day; an empty list if their file is missing or malformed. Reports a malformed
   * file.
   */
  tombstonesOf(day: string): Promise<readonly Tombstone[]> {
    const known = this.#tombstones.get(day) ?? this.#readTombstones(day);
    this.#tombstones.set(day, known);
    return known;
  }

  /**
   * Resolves with the tombstones of a day whose file has lost lines: it does not exist, or contains lines that are
   * withheld. Any other tombstone excuses no difference, because the log does not cover tombstones.
   */
  async withdrawnLinesOf(day: string): Promise<readonly Tombstone[]> {
    const { inputs, missing } = await this.inputsOf(day);
    const isWithheld = (fact: FactName): boolean =>
      inputs?.lines[fact].some((line) => line.kind === 'failure' && line.failure === 'withheld') === true;
    const lost = factNames.filter((fact) => missing.has(lineFileOf(fact)) || isWithheld(fact)).map(lineFileOf);
    return (await this.tombstonesOf(day)).filter(({ name }) => lost.includes(name));
  }

  async #readInputs(day: string): Promise<ReadInputs> {
    const read = new Map<string, Buffer>();
    for (const name of inputFiles) {
      const bytes = await this.#reader.read(pathOf(day, name));
      if (bytes) read.set(name, bytes);
    }
    const missing = new Set(inputFiles.filter((name) => !read.has(name)));
    const withdrawn = missing.size > 0 ? await this.tombstonesOf(day) : [];
    const isWithdrawn = withdrawn.some(({ name }) => missing.has(name));
    const { inputs, damaged } = parseInputs(day, (name) => read.get(name) ?? null);
    for (const name of damaged) {
      const message = 'the file is damaged, belongs to another day, or has lines out of order';
      this.#report({ kind: 'malformed', path: pathOf(day, name), message });
    }
    return { inputs, missing, isWithdrawn };
  }

  async #readTombstones(day: string): Promise<readonly Tombstone[]> {
    const path = pathOf(day, tombstoneFile);
    const parsed = parseTombstones(await this.#reader.read(path), day);
    if (!parsed) this.#report({ kind: 'malformed', path, message: 'the file is not a valid list of withdrawn files' });
    return parsed ?? [];
  }
}

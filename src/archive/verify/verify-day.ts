import { createHash } from 'node:crypto';
import { addDays, dayMs, startOf } from '../days/calendar.ts';
import { type DayRecord, dayFile, parseDay } from '../days/day.ts';
import { type FactName, factNames, lineFileOf } from '../days/facts.ts';
import { type DayLines, gapManifest, gapsFile } from '../days/gaps.ts';
import type { ArchivedLine } from '../days/line.ts';
import { parseLines } from '../days/lines.ts';
import { pathOf } from '../days/paths.ts';
import type { ArchiveReader } from './archive-reader.ts';
import type { Finding } from './finding.ts';

/** Verifies the files of days, each read once. */
export class DayVerifier {
  readonly #reader: ArchiveReader;
  readonly #report: (finding: Finding) => void;
  readonly #lines = new Map<string, Promise<DayLines | null>>();

  constructor(reader: ArchiveReader, report: (finding: Finding) => void) {
    this.#reader = reader;
    this.#report = report;
  }

  /**
   * Verifies a day whose record has a known digest. The files of an open day may have grown since its record was read, and
   * its manifest may have been replaced.
   */
  async verify(day: string, sha256: string, state: DayRecord['state']): Promise<void> {
    this.#forgetBefore(day);
    const path = pathOf(day, dayFile);
    const bytes = await this.#reader.read(path);
    if (!bytes) return this.#report({ kind: 'missing', path, message: 'the record of the day does not exist' });
    if (digestOf(bytes) !== sha256) {
      const source = state === 'closed' ? 'its leaf of the log' : 'the index';
      return this.#report({ kind: 'altered', path, message: `the digest is not that of ${source}` });
    }
    const record = parseDay(bytes);
    if (record?.day !== day || record.state !== state) {
      return this.#report({ kind: 'malformed', path, message: `it is not the record of a day that is ${state}` });
    }
    if (!this.#hasKnownNames(record)) return;
    for (const file of record.files) await this.#verifyFile(record, file);
    if (state === 'closed') await this.#verifyUnlisted(record);
    if (state === 'closed') await this.#verifyGaps(day);
  }

  async #verifyFile({ day, state }: DayRecord, { name, bytes, sha256 }: DayRecord['files'][number]): Promise<void> {
    const path = pathOf(day, name);
    if (state === 'open' && name === gapsFile) return;
    const content = await this.#reader.read(path);
    if (!content) return this.#report({ kind: 'missing', path, message: 'the file does not exist' });
    const listed = state === 'open' ? content.subarray(0, bytes) : content;
    if (listed.length !== bytes || digestOf(listed) !== sha256) {
      this.#report({ kind: 'altered', path, message: 'the digest is not that of the record of the day' });
    }
  }

  /** Reports unknown and repeated names of a record, before a file is read. */
  #hasKnownNames({ day, files }: DayRecord): boolean {
    const missing = new Set([...factNames.map(lineFileOf), gapsFile]);
    const wrong = files.find(({ name }) => !missing.delete(name));
    if (!wrong) return true;
    const message = 'the record lists a file that is unknown or listed twice';
    this.#report({ kind: 'malformed', path: pathOf(day, wrong.name), message });
    return false;
  }

  /** Reports files of lines that exist and that the record does not list. */
  async #verifyUnlisted({ day, files }: DayRecord): Promise<void> {
    const listed = new Set(files.map(({ name }) => name));
    for (const name of factNames.map(lineFileOf).filter((one) => !listed.has(one))) {
      const path = pathOf(day, name);
      const content = await this.#reader.read(path);
      if (content) this.#report({ kind: 'altered', path, message: 'the record of the day does not list the file' });
    }
  }

  async #verifyGaps(day: string): Promise<void> {
    const days = await Promise.all([0, 1, 2].map((count) => this.#linesOf(addDays(day, count))));
    const intact = days.filter((lines) => lines !== null);
    const path = pathOf(day, gapsFile);
    const content = await this.#reader.read(path);
    if (!content) return this.#report({ kind: 'missing', path, message: 'the gap manifest does not exist' });
    // Damaged files are reported where they are verified.
    if (intact.length < days.length) return;
    if (gapManifest({ day, days: intact, until: startOf(day) + dayMs }).equals(content)) return;
    this.#report({ kind: 'gaps', path, message: 'the manifest does not match the archived files' });
  }

  #linesOf(day: string): Promise<DayLines | null> {
    const known = this.#lines.get(day) ?? this.#readLines(day);
    this.#lines.set(day, known);
    return known;
  }

  async #readLines(day: string): Promise<DayLines | null> {
    const read: Partial<Record<FactName, readonly ArchivedLine[]>> = {};
    for (const name of factNames) {
      const path = pathOf(day, lineFileOf(name));
      const lines = parseLines((await this.#reader.read(path))?.toString('utf8') ?? '', name, day);
      if (!lines) {
        this.#report({ kind: 'malformed', path, message: 'a line is damaged, of another day, or out of order' });
        return null;
      }
      read[name] = lines;
    }
    return isWhole(read) ? read : null;
  }

  #forgetBefore(day: string): void {
    for (const known of this.#lines.keys()) if (known < day) this.#lines.delete(known);
  }
}

function isWhole(lines: Partial<Record<FactName, readonly ArchivedLine[]>>): lines is DayLines {
  return factNames.every((name) => lines[name] !== undefined);
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

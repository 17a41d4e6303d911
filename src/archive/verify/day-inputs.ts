import { type DayInputs, inputFiles, parseInputs } from '../compute/inputs.ts';
import { pathOf } from '../days/paths.ts';
import { parseTombstones, type Tombstone, tombstoneFile } from '../days/tombstones.ts';
import type { ArchiveReader } from './archive-reader.ts';
import type { Finding } from './finding.ts';

/** Reads and caches the input files and tombstones of days. */
export class InputReader {
  readonly #reader: ArchiveReader;
  readonly #report: (finding: Finding) => void;
  readonly #inputs = new Map<string, Promise<DayInputs | null>>();
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

  /** Resolves with the inputs of a day; null if a file is damaged or withdrawn. Only damaged files are reported. */
  inputsOf(day: string): Promise<DayInputs | null> {
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

  async #readInputs(day: string): Promise<DayInputs | null> {
    const read = new Map<string, Buffer>();
    for (const name of inputFiles) {
      const bytes = await this.#reader.read(pathOf(day, name));
      if (bytes) read.set(name, bytes);
    }
    const isMissing = inputFiles.some((name) => !read.has(name));
    const withdrawn = isMissing ? await this.tombstonesOf(day) : [];
    // A withdrawn input makes the computed files of its day unverifiable.
    if (withdrawn.some(({ name }) => inputFiles.includes(name) && !read.has(name))) return null;
    const { inputs, damaged } = parseInputs(day, (name) => read.get(name) ?? null);
    for (const name of damaged) {
      const message = 'the file is damaged, belongs to another day, or has lines out of order';
      this.#report({ kind: 'malformed', path: pathOf(day, name), message });
    }
    return inputs;
  }

  async #readTombstones(day: string): Promise<readonly Tombstone[]> {
    const path = pathOf(day, tombstoneFile);
    const bytes = await this.#reader.read(path);
    const parsed = bytes ? parseTombstones(bytes, day) : [];
    if (!parsed) this.#report({ kind: 'malformed', path, message: 'the file is not a valid list of withdrawn files' });
    return parsed ?? [];
  }
}

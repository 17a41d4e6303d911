import { createHash } from 'node:crypto';
import { addDays, closesAt, dayMs, dayOf, hourMs, startOf } from './days/calendar.ts';
import { type DayRecord, dayFile, formatDay, type ListedFile, parseDay } from './days/day.ts';
import { factNames, lineFileOf } from './days/facts.ts';
import { type DayLines, gapManifest, gapsFile } from './days/gaps.ts';
import { formatIndex, indexFile, type ListedDay } from './days/index-file.ts';
import { isHeld, parseLines } from './days/lines.ts';
import { pathOf } from './days/paths.ts';
import type { ArchiveFiles } from './files/archive-files.ts';
import type { DayLog } from './signing/day-log.ts';

/** Dependencies of the upkeep of an archive's days. */
export interface Upkeep {
  readonly files: ArchiveFiles;
  readonly log: DayLog;
  /** Text form of the key that signs the log. */
  readonly key: string;
  /** Called with the name of a file whose lines are damaged; its day stays open. */
  readonly onDamage: (path: string) => void;
}

/**
 * Brings the records of all open days up to date, closes those that are due in their order, and writes the index. Every
 * step may be repeated after a crash at any point. `now` is in milliseconds since 1970. Without `mayClose` no day is closed.
 */
export function settleDays(upkeep: Upkeep, now: number, mayClose: boolean): void {
  const { files, log, key } = upkeep;
  log.complete();
  const first = log.leaves().at(-1)?.day;
  let day = first === undefined ? files.days()[0] : addDays(first, 1);
  if (day === undefined) return;
  const lines = new DayReader(upkeep);
  const held = isHeldAt(lines, now);
  const open: ListedDay[] = [];
  for (; day <= dayOf(now); day = addDays(day, 1)) {
    const isDue = mayClose && now >= closesAt(day) && open.length === 0;
    const record = recordOf(upkeep, lines, { day, now, closes: isDue && !held, held: isDue && held });
    if (record.state === 'closed') log.append({ day, sha256: record.sha256 });
    else open.push(record);
  }
  const closed = log.leaves().map((leaf): ListedDay => ({ ...leaf, state: 'closed' }));
  const index = formatIndex({ key, days: [...closed, ...open] });
  if (files.read(indexFile)?.equals(index) !== true) files.replace(indexFile, index);
}

/** Returns true if the operator holds the label facts, according to the last response of today or yesterday. */
function isHeldAt(lines: DayReader, now: number): boolean {
  return isHeld([dayOf(now - dayMs), dayOf(now)].flatMap((day) => lines.read(day)?.['labels-overview'] ?? []));
}

/** Reads the lines of days, each at most once. */
class DayReader {
  readonly #upkeep: Upkeep;
  readonly #known = new Map<string, DayLines | null>();

  constructor(upkeep: Upkeep) {
    this.#upkeep = upkeep;
  }

  /** Returns the lines of a day; null if a file is damaged. */
  read(day: string): DayLines | null {
    const known = this.#known.get(day);
    if (known !== undefined) return known;
    const read = this.#read(day);
    this.#known.set(day, read);
    return read;
  }

  #read(day: string): DayLines | null {
    const { files, onDamage } = this.#upkeep;
    const parsed = factNames.map((name) => {
      const path = pathOf(day, lineFileOf(name));
      const lines = parseLines(wholeText(files, path), name, day);
      if (!lines) onDamage(path);
      return lines;
    });
    const [instruments, labels, conditions, metrics] = parsed;
    if (!instruments || !labels || !conditions || !metrics) return null;
    return { instruments, 'labels-overview': labels, 'weather-conditions': conditions, 'weather-metrics': metrics };
  }
}

/** Returns the text of a file of lines. A killed process may have left part of a line, which is removed. */
function wholeText(files: ArchiveFiles, path: string): string {
  const text = files.read(path)?.toString('utf8') ?? '';
  if (text === '' || text.endsWith('\n')) return text;
  files.repair(path);
  return text.slice(0, text.lastIndexOf('\n') + 1);
}

interface Revision {
  readonly day: string;
  readonly now: number;
  readonly closes: boolean;
  readonly held: boolean;
}

/** Writes a new revision of a day's record if its files or its state have changed; returns the current one. */
function recordOf(upkeep: Upkeep, lines: DayReader, { day, now, closes, held }: Revision): ListedDay {
  const { files } = upkeep;
  const bytes = files.read(pathOf(day, dayFile));
  const last = bytes && parseDay(bytes);
  // A process that was killed between the record and the log has closed the day already.
  if (bytes && last?.state === 'closed') return { day, state: 'closed', sha256: sha256Of(bytes) };
  const days = [0, 1, 2].map((count) => lines.read(addDays(day, count)));
  const intact = days.filter((one) => one !== null);
  const isClosed = closes && intact.length === days.length;
  const until = Math.min(Math.floor(now / hourMs) * hourMs, startOf(day) + dayMs);
  const gaps = intact.length === days.length ? gapManifest({ day, days: intact, until }) : null;
  const listed = listFiles(upkeep, day, gaps);
  const reason = isClosed ? null : held ? 'held' : 'recent';
  const state = isClosed ? 'closed' : 'open';
  if (bytes && last && last.state === state && last.reason === reason && isSame(last.files, listed)) {
    return { day, state, sha256: sha256Of(bytes) };
  }
  const previous = bytes ? sha256Of(bytes) : null;
  const record: DayRecord = { day, state, reason, revision: (last?.revision ?? 0) + 1, previous, files: listed };
  const formatted = formatDay(record);
  if (gaps) files.replace(pathOf(day, gapsFile), gaps);
  files.replace(pathOf(day, dayFile), formatted);
  return { day, state, sha256: sha256Of(formatted) };
}

function listFiles({ files }: Upkeep, day: string, gaps: Buffer | null): ListedFile[] {
  const lines = factNames.map((name) => {
    const file = lineFileOf(name);
    return { name: file, bytes: files.read(pathOf(day, file)) ?? Buffer.alloc(0) };
  });
  const all = [...lines.filter(({ bytes }) => bytes.length > 0), ...(gaps ? [{ name: gapsFile, bytes: gaps }] : [])];
  return all.map(({ name, bytes }) => ({ name, bytes: bytes.length, sha256: sha256Of(bytes) }));
}

function isSame(a: readonly ListedFile[], b: readonly ListedFile[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

function sha256Of(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

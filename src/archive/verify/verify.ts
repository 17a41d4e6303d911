import { createHash } from 'node:crypto';
import { OperatorError } from '../../ops/errors.ts';
import { type ArchiveIndex, indexFile, type ListedDay, parseIndex } from '../days/records.ts';
import { checkpointPath, formatPublicKey, publicKeyPath } from '../log/day-log.ts';
import { type Checkpoint, openCheckpoint, parseVerifierKey, type VerifierKey } from '../log/note.ts';
import { type ArchiveReader, orReport, ReadingLimitError, type ReadingLimits } from './archive-reader.ts';
import { type Finding, type FindingKind, verifyExitCodes } from './finding.ts';
import { DayVerifier } from './verify-day.ts';
import { type VerifiedLog, verifyLog } from './verify-log.ts';

/** Maximum number of passes over an archive that changes during each pass. */
const maxPasses = 5;
/** Delay before a pass is repeated, in milliseconds, so that a running archiver can complete its writes. */
const retryMs = 2_000;

/** Record that a verifier keeps for its next run: the key in text form, and the signed checkpoint. */
export interface KeptCheckpoint {
  readonly key: string;
  readonly note: string;
}

/** Options for a verification. */
export interface VerifyOptions {
  readonly reader: ArchiveReader;
  /** Key that the operator trusts; null to use the kept key or, at first contact, the archive's own. */
  readonly key: VerifierKey | null;
  /** Record of an earlier verification; null at first contact. */
  readonly kept: KeptCheckpoint | null;
  /** Current time in milliseconds since 1970. */
  readonly now: number;
  /** Resolves after a number of milliseconds. */
  readonly wait: (milliseconds: number) => Promise<void>;
}

/** Result of a verification. */
export interface VerifyReport {
  readonly findings: readonly Finding[];
  readonly closedDays: number;
  readonly openDays: number;
  /** Paths of files that the publisher has withdrawn. */
  readonly withdrawn: readonly string[];
  /** True if the archive's own key was used because no other key was known. */
  readonly isFirstContact: boolean;
  /** Text form of the key that was used; null if no key was given and the index of the archive contains none. */
  readonly key: string | null;
  /** Limit that ended the verification before all files were read; null if all were read. */
  readonly limit: keyof ReadingLimits | null;
  /** Record to keep for the next run; null unless the archive is intact and has closed days. */
  readonly keep: KeptCheckpoint | null;
}

/**
 * Verifies the files of an archive. The archiver may write during a pass, and a cache may serve copies of different
 * ages, so a pass may compare files of two states. A pass with findings is therefore repeated: once after two seconds,
 * and, if caches may keep the files, again after the lifetime of these copies. It is repeated further while the archive
 * keeps changing, up to five passes in total. It is not repeated after a finding that no change can cause, or after a
 * limit was reached.
 */
export async function verifyArchive(options: VerifyOptions): Promise<VerifyReport> {
  const { reader, wait } = options;
  const cachedMs = (): number => reader.cachedMs?.() ?? 0;
  let before: VerifyReport | null = null;
  let headBefore: string | null = null;
  for (let pass = 1; ; pass++) {
    const report = await verifyOnce(options);
    // A pass that a limit cut short is less informative than the complete pass before it.
    if (report.limit !== null && before) return { ...before, limit: report.limit };
    before = report;
    const isCertain = report.findings.some(({ kind }) => isCertainKind(kind, cachedMs() > 0));
    const isOver = isCertain || report.limit !== null || pass === maxPasses;
    if (report.findings.length === 0 || isOver) return report;
    const head = await headOf(reader);
    await wait(pass === 1 ? retryMs : Math.max(retryMs, cachedMs()));
    // If the archive has not changed since the end of the previous pass, this pass has read one state of it: the waits
    // before and after the pass exceed the age of every copy.
    const minPasses = cachedMs() > 0 ? 3 : 2;
    if (pass >= minPasses && (await headOf(reader)) === headBefore) return report;
    headBefore = head;
  }
}

/** Returns true for a kind of finding that neither a write during a pass nor, if `isCached`, an old copy can cause. */
function isCertainKind(kind: FindingKind, isCached: boolean): boolean {
  return verifyExitCodes[kind] >= verifyExitCodes.signature && !(isCached && kind === 'rollback');
}

/** Returns a digest of the index and the checkpoint: every change of an archive replaces at least one of them. */
async function headOf(reader: ArchiveReader): Promise<string> {
  const hash = createHash('sha256');
  for (const path of [indexFile, checkpointPath]) {
    const bytes = await readOrNull(reader, path);
    hash.update(`${bytes?.length ?? -1}\n`).update(bytes ?? '');
  }
  return hash.digest('hex');
}

/** Reads a file; null if it cannot be read or a limit is reached, which the verification itself reports. */
async function readOrNull(reader: ArchiveReader, path: string): Promise<Buffer | null> {
  try {
    return await reader.read(path);
  } catch (error) {
    if (error instanceof OperatorError) return null;
    throw error;
  }
}

/**
 * Verifies the files of an archive in one pass. If a limit is reached, the pass ends early with the findings so far.
 */
async function verifyOnce(options: VerifyOptions): Promise<VerifyReport> {
  const pass = new Pass(options);
  try {
    await pass.run();
    return pass.report(null);
  } catch (error) {
    if (!(error instanceof ReadingLimitError)) throw error;
    return pass.report(error);
  }
}

/** State of one pass over the archive. */
class Pass {
  readonly #options: VerifyOptions;
  readonly #findings: Finding[] = [];
  readonly #days: DayVerifier;
  #trusted: VerifierKey | null = null;
  #log: VerifiedLog | null = null;
  #openDays = 0;

  constructor(options: VerifyOptions) {
    this.#options = options;
    this.#trusted = options.key;
    this.#days = new DayVerifier(options.reader, this.#report);
  }

  readonly #report = (finding: Finding): void => void this.#findings.push(finding);

  async run(): Promise<void> {
    const { reader, key, kept, now } = this.#options;
    const report = this.#report;
    const index = await readIndex(reader, report);
    const trusted = key ?? parseVerifierKey(kept?.key ?? index?.key ?? '');
    this.#trusted = trusted;
    if (!trusted) {
      if (index) report({ kind: 'malformed', path: indexFile, message: 'the index contains no valid key' });
      return;
    }
    if (index && index.key !== trusted.text) {
      // Print only a valid key: the archive's text may contain anything, such as terminal escape sequences.
      const own = parseVerifierKey(index.key)?.text ?? 'malformed';
      report({ kind: 'key', path: indexFile, message: `the key is ${own}; expected ${trusted.text}` });
    }
    await orReport(publicKeyPath, report, () => verifyPublicKey(reader, trusted, report));
    const before = keptCheckpoint(kept, trusted, report);
    const listed = index?.days ?? [];
    const log = await orReport(checkpointPath, report, async () => {
      const isClosed = listed.some(({ state }) => state === 'closed');
      if (!isClosed && before === null && (await reader.read(checkpointPath)) === null) return null;
      return verifyLog({ reader, key: trusted, ownKey: index?.key ?? null, kept: before, now, report });
    });
    this.#log = log;
    if (log && index) verifyIndex(log, listed, report);
    for (const leaf of log?.days ?? []) {
      if (leaf) await orReport(`days/${leaf.day}`, report, () => this.#days.verify(leaf.day, leaf.sha256, 'closed'));
    }
    const open = listed.filter(({ state }) => state === 'open');
    this.#openDays = open.length;
    for (const { day, sha256 } of open) {
      await orReport(`days/${day}`, report, () => this.#days.verify(day, sha256, 'open'));
    }
  }

  /** Returns the report; `reached` is the limit that ended the pass early, or null. */
  report(reached: ReadingLimitError | null): VerifyReport {
    const { key, kept } = this.#options;
    if (reached) this.#report({ kind: 'unreadable', path: '.', message: reached.message });
    const note = this.#log?.note.toString('utf8') ?? null;
    const trusted = this.#trusted;
    return {
      findings: this.#findings,
      closedDays: this.#log?.days.length ?? 0,
      openDays: this.#openDays,
      withdrawn: this.#days.withdrawn(),
      isFirstContact: key === null && kept === null,
      key: trusted?.text ?? null,
      limit: reached?.limit ?? null,
      keep: this.#findings.length === 0 && note !== null && trusted ? { key: trusted.text, note } : null,
    };
  }
}

/** Reads the index; null if the index is missing, damaged or cannot be read, which is reported. */
async function readIndex(reader: ArchiveReader, report: (finding: Finding) => void): Promise<ArchiveIndex | null> {
  return orReport(indexFile, report, async () => {
    const bytes = await reader.read(indexFile);
    const index = bytes && parseIndex(bytes);
    if (!bytes)
      report({
        kind: 'missing',
        path: indexFile,
        message: 'there is no index: is this the address of an archive, such as https://observatory.example/archive?',
      });
    else if (!index) report({ kind: 'malformed', path: indexFile, message: 'the file is not an archive index' });
    else if (!isAscending(index.days)) {
      // Readers use the first entry of a day, and `verifyIndex` compares the last one.
      const message = 'the days are not in ascending order, or one is listed twice';
      report({ kind: 'malformed', path: indexFile, message });
    }
    return index;
  });
}

function isAscending(days: readonly ListedDay[]): boolean {
  return days.every(({ day }, at) => at === 0 || (days[at - 1]?.day ?? '') < day);
}

/** Compares the key in the directory of the log with the trusted key. Archives of earlier versions have no such file. */
async function verifyPublicKey(
  reader: ArchiveReader,
  trusted: VerifierKey,
  report: (finding: Finding) => void,
): Promise<void> {
  const bytes = await reader.read(publicKeyPath);
  if (!bytes || bytes.equals(formatPublicKey(trusted.text))) return;
  const own = parseVerifierKey(bytes.toString('utf8').trim())?.text ?? 'malformed';
  report({ kind: 'key', path: publicKeyPath, message: `the key is ${own}; expected ${trusted.text}` });
}

function keptCheckpoint(
  kept: KeptCheckpoint | null,
  key: VerifierKey,
  report: (finding: Finding) => void,
): Checkpoint | null {
  if (!kept) return null;
  const opened = openCheckpoint(Buffer.from(kept.note), key);
  if (opened.kind === 'verified') return opened.checkpoint;
  report({ kind: 'key', path: checkpointPath, message: 'another key signed the kept checkpoint' });
  return null;
}

/**
 * Compares the days of the index with those of the log. The archiver writes the index after the log, so the index may
 * still list a day of the log as open.
 */
function verifyIndex({ days }: VerifiedLog, listed: readonly ListedDay[], report: (finding: Finding) => void): void {
  const byDay = new Map(listed.map((one) => [one.day, one]));
  for (const leaf of days) {
    if (!leaf) continue;
    const one = byDay.get(leaf.day);
    if (!one) {
      report({ kind: 'missing', path: indexFile, message: `the index does not list the closed day ${leaf.day}` });
    } else if (one.state === 'closed' && one.sha256 !== leaf.sha256) {
      report({
        kind: 'altered',
        path: indexFile,
        message: `the digest of ${leaf.day} differs from the digest in the log`,
      });
    }
    byDay.delete(leaf.day);
  }
  for (const { day, state } of byDay.values()) {
    if (state !== 'closed') continue;
    report({ kind: 'log', path: indexFile, message: `the log does not contain the closed day ${day}` });
  }
}

import { indexFile, parseIndex } from '../days/index-file.ts';
import { type Checkpoint, openCheckpoint } from '../log/checkpoint.ts';
import { parseVerifierKey, type VerifierKey } from '../log/keys.ts';
import type { ArchiveReader } from './archive-reader.ts';
import { type Finding, orReport } from './finding.ts';
import { DayVerifier } from './verify-day.ts';
import { type VerifiedLog, verifyLog } from './verify-log.ts';

/** Record that a verifier keeps for its next run: the key in its text form, and the signed checkpoint. */
export interface KeptCheckpoint {
  readonly key: string;
  readonly note: string;
}

/** Options of a verification. */
export interface VerifyOptions {
  readonly reader: ArchiveReader;
  /** Key that the operator trusts; null to use the kept one, or at first contact the archive's own. */
  readonly key: VerifierKey | null;
  /** Result of an earlier verification; null at first contact. */
  readonly kept: KeptCheckpoint | null;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** Result of a verification. */
export interface VerifyReport {
  readonly findings: readonly Finding[];
  readonly closedDays: number;
  readonly openDays: number;
  /** True if the archive's own key was used, because no other was known. */
  readonly isFirstContact: boolean;
  /** Key that was used; null if the archive names none. */
  readonly key: string | null;
  /** Checkpoint to keep for the next run; null unless the archive is intact and has closed days. */
  readonly keep: KeptCheckpoint | null;
}

/** Verifies an archive. Rejects with OperatorError if a file cannot be read. */
export async function verifyArchive({ reader, key, kept, now }: VerifyOptions): Promise<VerifyReport> {
  const findings: Finding[] = [];
  const report = (finding: Finding): void => void findings.push(finding);
  const nothing = { findings, closedDays: 0, openDays: 0, keep: null };
  const bytes = await reader.read(indexFile);
  const index = bytes && parseIndex(bytes);
  if (!index) {
    const kind = bytes ? ('malformed' as const) : ('missing' as const);
    report({ kind, path: indexFile, message: bytes ? 'it is not the index of an archive' : 'there is no index' });
    return { ...nothing, isFirstContact: kept === null && key === null, key: null };
  }
  const trusted = key ?? parseVerifierKey(kept?.key ?? index.key);
  const isFirstContact = key === null && kept === null;
  if (!trusted) {
    report({ kind: 'malformed', path: indexFile, message: 'it contains no key' });
    return { ...nothing, isFirstContact, key: null };
  }
  if (index.key !== trusted.text) {
    report({ kind: 'key', path: indexFile, message: `the key is ${index.key}, not ${trusted.text}` });
  }
  const before = keptCheckpoint(kept, trusted, report);
  const closed = index.days.filter(({ state }) => state === 'closed');
  const open = index.days.filter(({ state }) => state === 'open');
  const isEmpty = closed.length === 0 && before === null && (await reader.read('log/checkpoint')) === null;
  const log = isEmpty ? null : await verifyLog({ reader, key: trusted, ownKey: index.key, kept: before, now, report });
  const days = new DayVerifier(reader, report);
  for (const leaf of log?.days ?? []) {
    if (leaf) await orReport(`days/${leaf.day}`, report, () => days.verify(leaf.day, leaf.sha256, 'closed'));
  }
  if (log) verifyIndex(log, closed, report);
  for (const { day, sha256 } of open) {
    await orReport(`days/${day}`, report, () => days.verify(day, sha256, 'open'));
  }
  const note = log?.note.toString('utf8') ?? null;
  const keep = findings.length === 0 && note !== null ? { key: trusted.text, note } : null;
  return {
    findings,
    closedDays: log?.days.length ?? 0,
    openDays: open.length,
    isFirstContact,
    key: trusted.text,
    keep,
  };
}

function keptCheckpoint(
  kept: KeptCheckpoint | null,
  key: VerifierKey,
  report: (finding: Finding) => void,
): Checkpoint | null {
  if (!kept) return null;
  const opened = openCheckpoint(Buffer.from(kept.note), key);
  if (opened.kind === 'verified') return opened.checkpoint;
  report({ kind: 'key', path: 'log/checkpoint', message: 'another key signed the kept checkpoint' });
  return null;
}

/** Compares the closed days of the index with those of the log. */
function verifyIndex(
  { days }: VerifiedLog,
  closed: readonly { readonly day: string; readonly sha256: string }[],
  report: (finding: Finding) => void,
): void {
  const listed = new Map(closed.map(({ day, sha256 }) => [day, sha256]));
  for (const leaf of days) {
    if (!leaf) continue;
    const sha256 = listed.get(leaf.day);
    if (sha256 === undefined) {
      report({ kind: 'missing', path: indexFile, message: `the closed day ${leaf.day} is not listed` });
    } else if (sha256 !== leaf.sha256) {
      report({ kind: 'altered', path: indexFile, message: `the digest of ${leaf.day} is not that of the log` });
    }
    listed.delete(leaf.day);
  }
  for (const day of listed.keys()) {
    report({ kind: 'log', path: indexFile, message: `the log does not contain the closed day ${day}` });
  }
}

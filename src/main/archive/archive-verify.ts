import { readFileSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { replaceFile } from '../../archive/files/archive-files.ts';
import { maxNoteBytes, parseVerifierKey, type VerifierKey } from '../../archive/log/note.ts';
import { type ArchiveReader, directoryReader, UrlReader, verifyLimits } from '../../archive/verify/archive-reader.ts';
import { exitCodeOf } from '../../archive/verify/finding.ts';
import { type KeptCheckpoint, type VerifyReport, verifyArchive } from '../../archive/verify/verify.ts';
import { OperatorError, systemCode, systemWords } from '../../ops/errors.ts';
import { serviceFetch } from '../../ops/service-fetch.ts';
import { operatorBase, userAgentFor } from '../shared-settings.ts';
import type { ArchiveValues } from './archive-settings.ts';

const requestTimeoutMs = 30_000;

/** Minimum wait that is reported, in milliseconds. */
const reportedMs = 5_000;

/** Waits, and reports a long wait on stderr, because the command prints nothing until its end. */
async function wait(milliseconds: number): Promise<void> {
  if (milliseconds >= reportedMs) {
    process.stderr.write(`almanac: waiting ${Math.ceil(milliseconds / 1000)} s before the next request\n`);
  }
  await delay(milliseconds);
}

/**
 * `almanac archive verify URL-or-DIR`: verifies an archive, and stores the checkpoint of an intact archive if
 * `--checkpoint` is set. Resolves with the exit code of the most serious finding. Rejects with OperatorError if an
 * operand or a setting cannot be used.
 */
export async function verify(
  operands: readonly string[],
  values: ArchiveValues,
  print: (line: string) => void,
): Promise<number> {
  const [place, ...more] = operands;
  if (place === undefined || more.length > 0) throw new OperatorError('archive verify requires exactly one URL or DIR');
  const key = values.key === null ? null : keyOf(values.key);
  const kept = values.checkpoint === null ? null : readKept(values.checkpoint);
  const report = await verifyArchive({ reader: readerOf(place, values), key, kept, now: Date.now(), wait });
  if (values.checkpoint !== null && report.keep) writeKept(values.checkpoint, report.keep);
  const { keep: _, ...shown } = report;
  if (values.json) print(JSON.stringify(shown, null, 2));
  else for (const line of describe(report)) print(line);
  return exitCodeOf(report.findings);
}

function keyOf(text: string): VerifierKey {
  const key = parseVerifierKey(text);
  if (!key) throw new OperatorError('--key requires a public key, as given in index.json of the archive');
  return key;
}

function readerOf(place: string, values: ArchiveValues): ArchiveReader {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(place)) {
    const base = operatorBase('archive', place);
    const limits = { timeoutMs: requestTimeoutMs, limits: verifyLimits, monotonic: () => performance.now(), wait };
    return new UrlReader({ base, fetch: serviceFetch, userAgent: userAgentFor(values), ...limits });
  }
  if (statSync(place, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new OperatorError(`no such directory: ${place}`);
  }
  return directoryReader(place);
}

function readKept(path: string): KeptCheckpoint | null {
  const refused = (why: string): OperatorError => new OperatorError(`cannot use the checkpoint file ${path}: ${why}`);
  try {
    if (statSync(path).size > maxNoteBytes) throw refused('it is too large');
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof value === 'object' && value !== null && 'key' in value && 'note' in value) {
      const { key, note } = value;
      if (typeof key === 'string' && typeof note === 'string' && parseVerifierKey(key)) return { key, note };
    }
    throw refused('it was not written by a verification');
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return null;
    if (error instanceof SyntaxError) throw refused('it was not written by a verification');
    if (error instanceof OperatorError) throw error;
    throw refused(systemWords(error));
  }
}

function writeKept(path: string, kept: KeptCheckpoint): void {
  try {
    replaceFile(path, Buffer.from(`${JSON.stringify(kept, null, 1)}\n`));
  } catch (error) {
    throw new OperatorError(`cannot write the checkpoint file ${path}: ${systemWords(error)}`);
  }
}

function describe({ findings, closedDays, openDays, withdrawn, isFirstContact, key }: VerifyReport): string[] {
  const contact = isFirstContact
    ? `warning: first contact: the key ${key} comes from the archive itself; compare it with the key from another source, or keep the checkpoint with --checkpoint`
    : `key ${key}`;
  return [
    ...findings.map(({ kind, path, message }) => `${kind}: ${path}: ${message}`),
    ...withdrawn.map((path) => `withdrawn by the publisher: ${path}`),
    `${closedDays} closed days, ${openDays} open days`,
    ...(key === null ? [] : [contact]),
    findings.length === 0
      ? 'intact: these bytes were published; this does not prove that they are true'
      : `${findings.length} ${findings.length === 1 ? 'finding' : 'findings'}`,
  ];
}

import { statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type ArchiveReader, directoryReader, UrlReader } from '../../archive/verify/archive-reader.ts';
import { exitCodeOf } from '../../archive/verify/finding.ts';
import { readKept, trustedKey, writeKept } from '../../archive/verify/trust.ts';
import { type VerifyReport, verifyArchive } from '../../archive/verify/verify.ts';
import { OperatorError } from '../../ops/errors.ts';
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
  const key = values.key === null ? null : trustedKey(values.key);
  const kept = values.checkpoint === null ? null : readKept(values.checkpoint);
  const report = await verifyArchive({ reader: readerOf(place, values), key, kept, now: Date.now(), wait });
  if (values.checkpoint !== null && report.keep) writeKept(values.checkpoint, report.keep);
  const { keep: _, ...shown } = report;
  if (values.json) print(JSON.stringify(shown, null, 2));
  else for (const line of describe(report)) print(line);
  return exitCodeOf(report.findings);
}

function readerOf(place: string, values: ArchiveValues): ArchiveReader {
  if (/^[a-z][a-z0-9+.-]+:\/\//i.test(place)) {
    const base = operatorBase('archive', place);
    const timing = { timeoutMs: requestTimeoutMs, monotonic: () => performance.now(), wait };
    return new UrlReader({ base, fetch: serviceFetch, userAgent: userAgentFor(values), ...timing });
  }
  if (statSync(place, { throwIfNoEntry: false })?.isDirectory() !== true) {
    throw new OperatorError(`no such directory: ${place}`);
  }
  return directoryReader(place);
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

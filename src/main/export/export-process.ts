import { setTimeout as wait } from 'node:timers/promises';
import type { ExportManifest } from '../../contract/account.ts';
import { ExportFailure, type FailureKind } from '../../export/failure.ts';
import type { PartSummary } from '../../export/format.ts';
import { number, showProgress } from '../../export/progress.ts';
import { type ExportOrder, saveExport } from '../../export/save.ts';
import { firstSignal } from '../../ops/process.ts';
import { serviceFetch } from '../../ops/service-fetch.ts';
import { terminalText } from '../terminal-text.ts';

/** Maximum length of a printed line, in characters. */
const maxLine = 8_000;

/**
 * Saves an export, shows the progress on stderr, and prints a summary of the file. Resolves with the outcome. Rejects
 * with errors that are not outcomes.
 */
export async function runExport(
  order: ExportOrder,
  out: string,
  base: string,
  values: { readonly timeoutSeconds: number; readonly giveUpSeconds: number },
  print: (line: string) => void,
): Promise<FailureKind | 'complete' | 'interrupted'> {
  const writeLine = (text: string): unknown => process.stderr.write(text);
  const progress = showProgress({ write: writeLine, terminal: process.stderr.isTTY === true, clock: Date.now });
  const stopping = new AbortController();
  const interrupted = new Error('interrupted');
  void firstSignal().then(() => stopping.abort(interrupted));
  try {
    const parts = await saveExport(
      order,
      out,
      {
        base,
        fetch: serviceFetch,
        timeoutMs: values.timeoutSeconds * 1000,
        giveUpMs: values.giveUpSeconds * 1000,
        clock: Date.now,
        monotonic: () => performance.now(),
        random: Math.random,
        wait: (milliseconds, signal) => wait(milliseconds, undefined, { signal }),
        // The service's message may contain terminal control sequences.
        waiting: (text, milliseconds) => progress.waiting(terminalText(text), milliseconds),
        signal: stopping.signal,
      },
      progress,
    );
    progress.end();
    for (const line of summary(parts, out)) print(terminalText(line, maxLine));
    return 'complete';
  } catch (error) {
    progress.end();
    const kind = stopping.signal.aborted ? 'interrupted' : error instanceof ExportFailure ? error.kind : null;
    if (kind === null) throw error;
    const why = kind !== 'interrupted' && error instanceof Error ? error.message : 'interrupted';
    writeLine(`almanac: export incomplete, nothing was written: ${terminalText(why, maxLine)}\n`);
    return kind;
  }
}

function summary(parts: readonly PartSummary[], out: string): string[] {
  const rows = parts.reduce((sum, { count }) => sum + count, 0);
  const [first, last] = [parts[0]?.manifest, parts.at(-1)?.manifest];
  const statuses = [...new Set(parts.map(({ manifest }) => manifest.coverage.status))].join(', ');
  const clipped = parts.some(({ manifest }) => manifest.clipped) ? ', shorter than requested' : '';
  // Report the frontier, because rows accepted at or after it may lie within the interval and a later export would
  // include them.
  const open =
    last && last.frontier < last.interval.end ? `; rows accepted at or after ${last.frontier} are not included` : '';
  return [
    `${out}: ${number(rows)} rows${parts.length > 1 ? ` in ${parts.length} parts` : ''}, verified`,
    `interval: ${first?.interval.start} to ${last?.interval.end}${clipped}${open}`,
    `coverage: ${statuses}${observedUntil(last)}; the manifest lists the time that was not observed`,
    ...(rows === 0 ? ['No labels were observed. This does not mean that no labels exist.'] : []),
  ];
}

/**
 * Returns a note if the observation ends before the end of the interval. Returns an empty note for older services,
 * which do not report the end of observation.
 */
function observedUntil(manifest: ExportManifest | undefined): string {
  const through = manifest?.coverage.covered_through;
  return manifest && through && through < manifest.interval.end ? `, nothing observed after ${through}` : '';
}

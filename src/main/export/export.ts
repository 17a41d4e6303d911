import { canonicalDid, didInWords, isDid } from '../../contract/identifiers.ts';
import { type Micros, parseInstant } from '../../contract/timestamp.ts';
import { labelActions, targetKinds } from '../../contract/vocabulary.ts';
import type { FailureKind } from '../../export/failure.ts';
import { exportFormats } from '../../export/format.ts';
import type { AskedInterval } from '../../export/part.ts';
import type { ExportOrder } from '../../export/save.ts';
import { OperatorError } from '../../ops/errors.ts';
import { choice, integer, optionalInteger, optionalText, type Setting, text, type Values } from '../../ops/setting.ts';
import type { Command } from '../command.ts';
import { serviceBase } from '../shared-settings.ts';

/** Creates an optional setting with a fixed list of values. */
function optionalChoice<const W extends readonly string[]>(
  flag: string,
  words: W,
  help: string,
): Setting<W[number] | null> {
  return { ...choice<W>(flag, words, '', help), fallback: null };
}

/** Settings of `almanac export`. */
const exportSettings = {
  from: text('from', 'URL', 'http://127.0.0.1:8401', 'base URL of an account-view service'),
  days: optionalInteger('days', 'N', { min: 1, max: 30 }, 'the last 7 or 30 days, as far as available; default: 30'),
  start: optionalText(
    'start',
    'TIME',
    'start of the interval, inclusive, as an RFC 3339 timestamp with a time zone; requires --end',
  ),
  end: optionalText('end', 'TIME', 'end of the interval, exclusive; requires --start'),
  labeler: optionalText('labeler', 'DID', 'only labels of this labeler'),
  value: optionalText('value', 'TEXT', 'only labels with exactly this value'),
  action: optionalChoice('action', labelActions, 'only applications or only removals'),
  targetKind: optionalChoice(
    'target-kind',
    targetKinds,
    'only labels on the account itself, on posts, or on other records',
  ),
  format: choice('format', exportFormats, 'json', 'format of the file; csv writes the manifest to a second file'),
  out: optionalText('out', 'FILE', 'output file, created only once it is complete; default: named after the account'),
  giveUpSeconds: integer(
    'give-up-seconds',
    'N',
    120,
    { min: 1, max: 86_400 },
    'how long to retry if the service does not respond or is busy',
  ),
  timeoutSeconds: integer('timeout-seconds', 'N', 30, { min: 1, max: 600 }, 'timeout of one response'),
};

/** Resolved settings of an export. */
type ExportValues = Values<typeof exportSettings>;

/** Exit codes of `almanac export`. An error in the command line exits with 1, as in all commands. */
export const exportExitCodes = {
  complete: 0,
  refused: 2,
  unreachable: 3,
  expired: 4,
  damaged: 5,
  unwritable: 6,
  interrupted: 130,
} as const satisfies Record<FailureKind | 'complete' | 'interrupted', number>;

/** `almanac export DID`: saves the observations of one account as a verified file. */
export const exportCommand: Command<typeof exportSettings> = {
  summary: 'downloads and verifies the observations on one account from an account-view service',
  operands: 'DID',
  settings: exportSettings,
  exitCodes: [
    { code: exportExitCodes.complete, meaning: 'the file is complete and verified' },
    { code: 1, meaning: 'an error in the command line' },
    {
      code: exportExitCodes.refused,
      meaning: 'the service refuses the request, or no account-view service is at the address',
    },
    { code: exportExitCodes.unreachable, meaning: 'no usable response in time; try later' },
    { code: exportExitCodes.expired, meaning: 'the export expired before its last page in every attempt' },
    {
      code: exportExitCodes.damaged,
      meaning: 'the response was altered in transit, or is inconsistent',
    },
    { code: exportExitCodes.unwritable, meaning: 'the file cannot be written' },
    { code: exportExitCodes.interrupted, meaning: 'interrupted by a signal' },
  ],
  async run(values, { positionals, print }) {
    const [named] = positionals;
    if (named === undefined || positionals.length > 1) throw new OperatorError('export requires exactly one DID');
    if (!isDid(named))
      throw new OperatorError(`export requires a DID: ${didInWords}; resolve a handle to its DID first`);
    const account = canonicalDid(named);
    const order: ExportOrder = {
      account,
      interval: intervalOf(values),
      filters: filtersOf(values),
      format: values.format,
    };
    const out = values.out ?? fileName(account, values.format);
    // Load this module on demand, because other commands do not need it.
    const { runExport } = await import('./export-process.ts');
    return exportExitCodes[await runExport(order, out, serviceBase('from', values.from), values, print)];
  },
};

function intervalOf({ days, start, end }: ExportValues): AskedInterval {
  if (start === null && end === null) return { kind: 'days', days: days ?? 30 };
  if (days !== null || start === null || end === null) {
    throw new OperatorError('export requires --days, or --start and --end together');
  }
  const [from, to]: (Micros | null)[] = [parseInstant(start), parseInstant(end)];
  if (from === null || from === undefined || to === null || to === undefined || from >= to) {
    throw new OperatorError(
      '--start and --end require RFC 3339 timestamps with a time zone, and --end must be after --start',
    );
  }
  return { kind: 'explicit', start, end };
}

function filtersOf({ labeler, value, action, targetKind }: ExportValues): ExportOrder['filters'] {
  if (labeler !== null && !isDid(labeler)) throw new OperatorError(`--labeler requires a DID: ${didInWords}`);
  return {
    ...(labeler === null ? {} : { labeler: canonicalDid(labeler) }),
    ...(value === null ? {} : { value }),
    ...(action === null ? {} : { action }),
    ...(targetKind === null ? {} : { target_kind: targetKind }),
  };
}

/** Returns a file name for a DID. The name is valid on any file system. */
function fileName(account: string, format: string): string {
  return `${account.replaceAll(/[^A-Za-z0-9.-]/g, '_').slice(0, 200)}.${format}`;
}

import { labelActions, targetKinds } from '../../contract/vocabulary.ts';
import { exportFormats } from '../../export/format.ts';
import { choice, integer, optionalInteger, optionalText, type Setting, text, type Values } from '../../ops/setting.ts';

/** Creates an optional setting with a fixed list of values. */
function optionalChoice<const W extends readonly string[]>(
  flag: string,
  words: W,
  help: string,
): Setting<W[number] | null> {
  return { ...choice<W>(flag, words, '', help), fallback: null };
}

/** Settings of `almanac export`. */
export const exportSettings = {
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
export type ExportValues = Values<typeof exportSettings>;

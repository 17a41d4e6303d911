import { labelActions, targetKinds } from '../contract/vocabulary.ts';
import { exportFormats } from '../export/format.ts';
import { choice, integer, optionalInteger, optionalText, type Setting, text, type Values } from '../ops/setting.ts';

/** A choice that may be absent. */
function optionalChoice<const W extends readonly string[]>(
  flag: string,
  words: W,
  help: string,
): Setting<W[number] | null> {
  return { ...choice<W>(flag, words, '', help), fallback: null };
}

/** Settings of `almanac export`. */
export const exportSettings = {
  from: text('from', 'URL', 'http://127.0.0.1:8401', 'base address of an account-view service'),
  days: optionalInteger(
    'days',
    'N',
    { min: 1, max: 30 },
    'the last 7 or 30 days, as far as the service has them; 30 where no interval is named',
  ),
  start: optionalText('start', 'TIME', 'start of the interval, inclusive: RFC 3339 with a zone; with --end'),
  end: optionalText('end', 'TIME', 'end of the interval, exclusive'),
  labeler: optionalText('labeler', 'DID', 'only labels of this labeler'),
  value: optionalText('value', 'TEXT', 'only labels with exactly this value'),
  action: optionalChoice('action', labelActions, 'only applications, or only removals'),
  targetKind: optionalChoice(
    'target-kind',
    targetKinds,
    'only labels on the account itself, on posts, or on other records',
  ),
  format: choice('format', exportFormats, 'json', 'format of the file; csv has its manifest in a file beside it'),
  out: optionalText('out', 'FILE', 'the file; it appears when it is whole; named after the account unless given'),
  giveUpSeconds: integer(
    'give-up-seconds',
    'N',
    120,
    { min: 1, max: 86_400 },
    'how long to keep asking a service that does not answer or is busy',
  ),
  timeoutSeconds: integer('timeout-seconds', 'N', 30, { min: 1, max: 600 }, 'how long one answer may take'),
};

/** The settings of an export, resolved. */
export type ExportValues = Values<typeof exportSettings>;

import type { ComponentChildren } from 'preact';
import type { AccountErrorCode } from '../../contract/errors.ts';
import type { Origin } from '../../contract/vocabulary.ts';
import type { HandleResolution } from '../../network/identity/identity.ts';
import { formatsOf } from '../../web/language.ts';

const { counted } = formatsOf('en');

/** Error codes that a page can show. */
export type PageErrorCode = Extract<
  AccountErrorCode,
  | 'not_found'
  | 'invalid_account'
  | 'invalid_interval'
  | 'unsupported_interval'
  | 'out_of_window'
  | 'invalid_filter'
  | 'unknown_parameter'
  | 'invalid_cursor'
  | 'export_too_large'
  | 'snapshot_expired'
  | 'store_busy'
  | 'store_behind'
  | 'client_budget'
  | 'internal_error'
>;

/** Reasons why a submitted name does not lead to an account. */
export type NameProblem = Exclude<HandleResolution['kind'], 'resolved'> | 'redirects' | 'neither' | 'did_only';

const did = 'did:plc: and 24 of the letters a-z and digits 2-7, or did:web: and a host name';

/** English texts of the page frame, the forms, the home page and the error pages. */
export const entryEn = {
  skip: 'Skip to the content',
  site: 'Site',
  languageMenu: 'Language',
  lookUp: 'Look up an account',
  shortened: '(shortened)',
  bannerLabel: 'Where these facts come from',
  banner: {
    simulated: 'These observations come from a simulated network. They say nothing about the real one.',
    sample: 'These observations come from a bundled sample. They say nothing about the network now.',
  } satisfies Record<Exclude<Origin, 'live'>, string>,
  bannerTitle: { simulated: '[simulated]', sample: '[sample]' } satisfies Record<Exclude<Origin, 'live'>, string>,

  accountOrHandle: 'Handle or DID of an account',
  accountDid: 'DID of an account',
  handleHint: 'For example alice.bsky.social, or a DID that begins with did:plc: or did:web:',
  didHint: 'A DID begins with did:plc: or did:web:',
  show: 'Show observations',
  interval: 'Interval',
  days: (n: number) => counted(n, { one: 'day', other: 'days' }),
  anotherInterval: 'Another interval',
  from: 'From (UTC, included)',
  to: 'To (UTC, not included)',
  showInterval: 'Show this interval',
  intervalHint: 'For example 2026-11-20T08:30:00Z: the day, T, the time with its seconds, and Z for UTC.',
  filter: 'Filter',
  labeler: 'Labeler',
  anyLabeler: 'any labeler',
  value: 'Value',
  whatHappened: 'What happened',
  anyAction: 'applied or removed',
  subjectKind: 'Subject',
  anySubject: 'any subject',
  filtered: 'Only some observations are shown. Filters:',
  removeFilter: 'Remove this filter',

  homeTitle: 'Almanac: labels observed on an account',
  homeHeading: 'Which labels were observed on an account?',
  homeLead:
    'Labelers are public moderation services of the AT Protocol network. Almanac reads them and records the labels that they apply and remove. Look up an account to see the labels observed on it, on its posts and on its other records.',
  samplesHeading: 'Look up one of these simulated accounts',
  isHeading: 'What this is',
  is: [
    'Public label events of at most the last 30 days, as each labeler published them.',
    'Two times for each event: when the labeler says it wrote the label, and when Almanac received it.',
    'Each labeler separately: the same value from two labelers is two observations.',
    'The limits of the observation: gaps, interruptions, and labelers that are not read.',
    'All rows as a download or an export.',
  ] as readonly [string, string, string, string, string],
  isNotHeading: 'What this is not',
  isNot: [
    'Not a statement of which labels an account has: Almanac observes applications and removals, not the labels that apply now.',
    'Not complete: observing no label does not mean that no label exists.',
    'Not a judgement: values and definitions are the labelers’ own words.',
    'Not an archive: rows, including those of deleted accounts, are shown for 30 days, and removed within 33 days while the service runs.',
    'No record of visitors: looked-up accounts are not logged, and no cookie is set.',
  ] as readonly [string, string, string, string, string],

  failedTitle: (code: string) => `Request failed: ${code}`,
  tryAgain: (span: string) => `Try again in ${span}.`,
  code: (code: ComponentChildren): ComponentChildren => [
    'Code: ',
    code,
    '. This error says nothing about any account.',
  ],
  refusalHeading: {
    not_found: 'There is no page at this address',
    invalid_account: 'This account cannot be looked up',
    invalid_interval: 'This interval is invalid',
    unsupported_interval: 'This interval is not supported',
    out_of_window: 'No data is available for this interval',
    invalid_filter: 'This filter is invalid',
    unknown_parameter: 'This address is invalid',
    invalid_cursor: 'This position in the list does not exist',
    export_too_large: 'This request failed',
    snapshot_expired: 'This request failed',
    store_busy: 'The observations cannot be read at the moment',
    store_behind: 'This server has not received the observations yet',
    client_budget: 'Look-up limit reached',
    internal_error: 'This page could not be built',
  } satisfies Record<PageErrorCode, string>,
  refusal: {
    not_found: `Enter the handle of the account, such as alice.bsky.social, or its DID: ${did}.`,
    invalid_account: `Enter the DID of the account once: ${did}.`,
    invalid_interval: 'Enter both From and To, each as a day and a time, with To after From.',
    unsupported_interval: 'Choose 7 days, 30 days, or an interval with a start and an end.',
    out_of_window:
      'No part of this interval is available: it is outside the last 30 days, or before acquisition began.',
    invalid_filter:
      'A filter is invalid. A labeler must be a DID, a value may have at most 128 bytes, and each filter may appear only once.',
    unknown_parameter: 'The address has a parameter that this page does not support.',
    invalid_cursor:
      'The address continues the list at a position that does not exist. Start with the newest observations.',
    export_too_large: 'The interval holds more rows than this page can count. Choose a shorter one.',
    snapshot_expired:
      'The oldest of these observations left the window while the page was rendered, so the page is not shown. Reload it.',
    store_busy: 'There are too many requests, or the observations are not available.',
    store_behind:
      'This server receives observations with a short delay and does not have all of them up to the end of this interval yet.',
    client_budget: 'You have reached the look-up limit for your network.',
    internal_error: 'The service could not build this page. Try again later.',
  } satisfies Record<PageErrorCode, string>,
  name: {
    invalid_handle: 'This is not a handle of the public network. Check its spelling, or enter the DID.',
    not_found:
      'This handle does not lead to an account: neither its DNS record nor its website names a DID. Check its spelling, or enter the DID.',
    unconfirmed: 'This handle points to an account that does not claim it, so it is not confirmed. Enter the DID.',
    redirects:
      'The website of this handle redirects to another address, which this service does not request. Enter the DID.',
    failed: 'This handle could not be resolved at the moment. Try again, or enter the DID.',
    neither: `This is neither a handle nor a DID. A handle looks like alice.bsky.social; a DID is ${did}.`,
    did_only: `This service does not resolve handles. Enter the DID of the account: ${did}.`,
  } satisfies Record<NameProblem, string>,
};

import type { ComponentChildren } from 'preact';
import type { GapReason, LabelAction, LabelerState, SignatureVerdict, TargetKind } from '../../contract/vocabulary.ts';
import type { EventCount } from '../../store/counts.ts';
import { type Formats, formatsOf, type Language, type PluralForms } from '../../web/language.ts';
import { entryEn } from './en-entry.ts';

const formats = formatsOf('en');
const { count, counted, plural } = formats;
const labelers = { one: 'labeler', other: 'labelers' };
const observations = { one: 'observation', other: 'observations' };
const rows = { one: 'row', other: 'rows' };

/** Source state of a labeler as the page describes it; `unknown` for a state that the page does not know. */
type StateName = Exclude<LabelerState, 'departed' | 'denied'> | 'unknown';

/** Descriptions of a source state in the present and the past tense. */
interface StateForms {
  readonly now: PluralForms;
  readonly past: PluralForms;
}

/** Number of rows of one part that a page shows. */
interface ShownRows {
  readonly shown: number;
  /** True if the shown rows are the newest ones. */
  readonly newest: boolean;
  /** Number of all rows, or null if unknown. */
  readonly total: number | null;
}

/** A rendered part of a sentence, such as a time or a link. Its position in the sentence depends on the language. */
type Piece = ComponentChildren;

/** Creates a link with the given text, for use in a sentence. */
type LinkOf = (text: string) => Piece;

/** English texts of the account page. They never state that a label is in effect: only past events are known. */
const viewEn = {
  title: (did: string) => `Labels observed on ${did}`,
  heading: 'Labels observed on',
  lead: (from: Piece, to: Piece): Piece => [
    'Observed applications and removals of labels from ',
    from,
    ' to ',
    to,
    ', with the limits of the observation. This page does not know which labels apply now.',
  ],
  clipped: (from: Piece, to: Piece): Piece => [
    'Only part of the requested time was observed and is still available. This page starts on ',
    from,
    ' and ends on ',
    to,
    '.',
  ],
  before: (at: Piece): Piece => ['Observations accepted before ', at, '. This page shows only part of the list.'],
  none: 'No observations in this interval.',
  noneMatching: 'No observations match the filters in this interval.',
  noneMatchingBefore: 'No observations before this position match the filters.',
  noneExplained:
    'That does not mean that no labels exist: this page shows only labels that were applied or removed in this interval by labelers that Almanac reads, while it read them. The time that was not observed is listed below. Almanac does not check whether the account exists.',
  events: ({ applied, removed }: EventCount, uncounted: number) => {
    const sum = `${count(applied)} applied and ${count(removed)} removed`;
    return uncounted === 0 ? sum : `At least ${sum} (${counted(uncounted, { one: 'day', other: 'days' })} not counted)`;
  },
  observed: (events: Piece): Piece => [events, ' were observed. '],
  matching: (events: Piece): Piece => [events, ' match the filters. '],
  eventsExplained:
    'These are events: an applied label may have been removed without being observed, or have expired. If no label of some kind was observed, such labels may still exist.',
  answer: {
    heading: 'By labeler and value',
    skip: 'Skip the table',
    caption: (events: string) =>
      `${events}, by labeler and value. Bars compare the labelers. Each value links to its observations.`,
    columns: { name: 'Labeler and value', span: 'First and last' },
    allValues: 'All values',
    onlyLabeler: 'Show only this labeler',
    moreValues: (n: number) =>
      `${counted(n, { one: 'more value', other: 'more values' })} with fewer observations ${plural(n, { one: 'is', other: 'are' })} not listed here.`,
    missed: (missing: string) => `Not observed for ${missing} of this interval.`,
    noneMissed: 'No unobserved time of this labeler is recorded in this interval.',
    daysOnly: 'Only the UTC day is given where this page does not list every observation.',
  },
  ofSubject: (n: number) => `${counted(n, observations)} in this list`,
  earlierOfSubject: (n: number) =>
    `${counted(n, { one: 'earlier observation', other: 'earlier observations' })} of this subject in this list`,
  target: {
    account: 'On the account itself',
    post: 'On posts',
    record: 'On other records',
  } satisfies Record<TargetKind, string>,
  notObserved: 'not observed',
  notAllCounted: 'not all counted',
  intervalNotObserved: 'This interval was not observed.',
  noneOfPart: 'No events observed in this interval.',
  noneOfPartBefore: 'No events observed in this interval before this position.',
  noneOfPartYet: 'No matching events found so far; older observations have not been read yet.',
  more: ({ shown, newest, total }: ShownRows) => {
    const part = shown === 0 ? 'None' : `The ${newest ? 'newest' : 'next'} ${count(shown)}`;
    const of = total === null ? '' : ` of ${counted(total, observations)}`;
    return `${part}${of} shown; this list is incomplete.`;
  },
  older: 'Older observations',
  olderOf: { account: 'on the account itself', post: 'on posts', record: 'on other records' } satisfies Record<
    TargetKind,
    string
  >,
  or: 'or',
  onlyThese: 'only these, starting with the newest',

  action: { application_observed: 'Applied', removal_observed: 'Removed' } satisfies Record<LabelAction, string>,
  by: (labeler: Piece): Piece => ['by labeler ', labeler],
  claimed: '(claimed, not confirmed)',
  noDefinition: 'No definition of this value by the labeler was observed.',
  globalMeaning: (meaning: string) => `Common meaning, as no definition by the labeler was observed: ${meaning}`,
  emptyValue: 'an empty value',
  accountItself: 'The account itself',
  collection: 'Collection',
  version: 'Version',
  observedAt: 'Observed (Almanac’s clock)',
  authored: 'Authored (as the labeler wrote it)',
  expires: 'Expires (as the labeler wrote it)',
  signature: 'Signature',
  verdict: {
    verified: 'Verified with the labeler’s key',
    verified_earlier_key: 'Verified with an earlier key of the labeler',
    invalid: 'Does not match any known key of the labeler',
    unsigned: 'Not signed',
    unverified: 'Could not be verified: no key was found, or only one that may be outdated',
  } satisfies Record<SignatureVerdict, string>,
  profileLink: 'Profile on bsky.app (leaves Almanac)',
  queryLink: 'The labeler’s current response (leaves Almanac and shows the labeler which account you ask about)',
  disagree: 'If you disagree with a label',
  appealsSimulated: 'This account is simulated, so there is nothing to appeal. For an account of the live network:',
  appeals:
    'Almanac can neither change nor remove a label. In the Bluesky app, sign in and open your own profile or post: if it has labels from labelers that the app uses for you, a button there shows how many. It opens a list in which you can appeal each label. The appeal goes to the labeler that applied the label, and only this labeler decides on it. Values that begin with “!” are not listed there; ask the labeler directly.',

  coverage: 'What was not observed',
  removedBefore: (at: string, missing: string) =>
    `Observations before ${at} have been removed: the first ${missing} of the interval are missing.`,
  beganOn: (at: string, missing: string) =>
    `Observation began on ${at}: nothing was observed in the ${missing} before.`,
  nothingYet: 'No labeler has sent a page yet: nothing was observed so far.',
  silentSince: (at: string) => `No labeler has sent anything since ${at}: later events are unknown.`,
  lastPage: (at: string) => `The last page from any labeler was received on ${at}.`,
  noInterruption: 'No interruption of Almanac is recorded in this interval.',
  interrupted: (times: number, missing: string) =>
    `Almanac was interrupted ${times === 1 ? 'once' : `${count(times)} times`} in this interval, for ${missing} in total: nothing was observed then.`,
  read: (read: number, all: number, past: boolean) => {
    const are = past ? plural(read, { one: 'was', other: 'were' }) : plural(read, { one: 'is', other: 'are' });
    const when = past ? ' when Almanac last received anything' : '';
    return `${count(read)} of ${counted(all, labelers)} that Almanac follows ${are} being read${when}, each from its last stored position onwards.`;
  },
  // Labels of these labelers may have been stored before, or are still read.
  others: (states: string) => `Labels of the other labelers may be missing here: ${states}.`,
  stateCount: (n: number, state: string) => `${count(n)} ${state}`,
  notEnrolled: (n: number, past: boolean) => {
    const are = past ? plural(n, { one: 'was', other: 'were' }) : plural(n, { one: 'is', other: 'are' });
    return `${counted(n, { one: 'known labeler', other: 'known labelers' })} ${are} not read at all.`;
  },
  missed: (n: number, longest: string, others: boolean) => {
    const was = plural(n, { one: 'was', other: 'were' });
    const length = n === 1 ? `${longest} in total` : `each for up to ${longest} in total`;
    return `${counted(n, labelers)}${others ? ' not listed below' : ''} ${was} not observed for some or all of this interval, ${length}: labels that ${plural(n, { one: 'it', other: 'they' })} applied or removed then are unknown. The export lists ${plural(n, { one: 'it', other: 'them' })}.`;
  },
  betweenReads: 'Labels that a labeler applied and removed between two reads, or does not publish, are not observed.',
  purged: (n: number, day: string) =>
    `Rows of ${counted(n, labelers)} were removed at the operator’s request, the last on ${day}.`,
  purging: (n: number, day: string) =>
    `Rows of ${counted(n, labelers)} are being removed at the operator’s request (since ${day}).`,
  spaces: (n: number, day: string | null) => {
    const what = plural(n, { one: 'label on a subject', other: 'labels on subjects' });
    const when = day === null ? 'so far (the removal is incomplete)' : `by ${day}`;
    return `Removed ${when}: ${count(n)} ${what} inside spaces, whose records are not public. An earlier version accepted them.`;
  },
  interruptions: 'Interruptions of Almanac',
  labelers: 'Labelers of these observations',
  labelerAsked: 'The labeler you asked for',
  moreLabelers: (n: number) =>
    `${counted(n, { one: 'more labeler', other: 'more labelers' })} with fewer observations ${plural(n, { one: 'is', other: 'are' })} not listed here.`,
  unread: {
    never_read: 'This labeler has never been read: the labels that it applied or removed are unknown.',
    not_known: 'This labeler is unknown: the labels that it applied or removed are unknown.',
  },
  sums: ({ applied, removed }: EventCount, uncounted: number) =>
    `${uncounted > 0 ? 'At least ' : ''}${count(applied)} applied, ${count(removed)} removed in this interval, regardless of the filters.`,
  notReadNow: 'Almanac does not read this labeler now.',
  state: (state: string) => `State: ${state}.`,
  statePast: (state: string) => `State when Almanac last received anything: ${state}.`,
  states: {
    established: {
      now: { other: 'being read, from its last stored position onwards' },
      past: { other: 'being read, from its last stored position onwards' },
    },
    unstarted: { now: { other: 'not asked yet' }, past: { other: 'not asked yet' } },
    probing: { now: { other: 'being tried' }, past: { other: 'being tried' } },
    refused: {
      now: { one: 'refuses requests', other: 'refuse requests' },
      past: { other: 'refused requests' },
    },
    cursor_order_unverified: {
      now: { other: 'read in an unverified order' },
      past: { other: 'read in an unverified order' },
    },
    undated_only: {
      now: { one: 'sends only labels without a date', other: 'send only labels without a date' },
      past: { other: 'sent only labels without a date' },
    },
    provider_rejects: { now: { other: 'rejected by the provider' }, past: { other: 'rejected by the provider' } },
    unavailable: {
      now: { one: 'does not respond', other: 'do not respond' },
      past: { other: 'did not respond' },
    },
    unknown: { now: { other: 'in an unknown state' }, past: { other: 'in an unknown state' } },
  } as Record<StateName, StateForms>,
  lastReadUnknown: 'The time of its last response is unknown.',
  lastRead: (at: Piece): Piece => ['Last read successfully on ', at, '.'],
  noOwnGap: 'No gap of this labeler alone is recorded in this interval. This does not prove that there was no gap.',
  ownGaps: (n: number, missing: string) =>
    `${counted(n, { one: 'gap', other: 'gaps' })} of its own, ${missing} in total.`,
  itsGaps: 'Its gaps',
  gap: (from: Piece, to: Piece, missing: string, reason: string): Piece => [
    from,
    ' to ',
    to,
    ` (${missing}): ${reason}`,
  ],
  earlierGaps: (n: number) => `and ${counted(n, { one: 'earlier gap', other: 'earlier gaps' })}`,
  reason: {
    not_observed: 'not observed',
    source_unavailable: 'the labeler was unavailable or not followed',
    ingest_paused: 'interruption of Almanac',
    cursor_reset: 'Almanac’s position in the labeler’s stream was lost',
    maintenance: 'maintenance of Almanac, or removal of the observations by its operator',
    warmup: 'before observation began',
    unknown: 'reason unknown',
  } satisfies Record<GapReason, string>,

  byDay: 'By day',
  chartTop: (highest: string) => `Observations per day; the highest bar is ${highest}`,
  chartSummary: (summary: string) => `Bars for each day. ${summary} The table below has the same data in numbers.`,
  legend: {
    up: 'applied, above the line',
    down: 'removed, below it',
    unseen: 'not observed',
    part: 'not all observed',
    uncounted: 'not counted',
  },
  asTable: 'The same data as a table',
  captionUnseen: 'Not observed, by UTC day of Almanac’s clock',
  caption: (events: string) => `${events}, by UTC day of Almanac’s clock`,
  columns: { day: 'Day', applied: 'Applied', removed: 'Removed', unseen: 'Not observed' },
  notCounted: 'not counted',
  partOfDay: (from: string | null, until: string | null) =>
    `,${from === null ? '' : ` from ${from}`}${until === null ? '' : ` until ${until}`}`,
  allOfIt: 'all of it',
  someLabelers: (missing: string) => `some labelers for ${missing}`,
  dayCounts: (applied: number, removed: number) => `${count(applied)} applied, ${count(removed)} removed`,
  dayMissed: (counts: string, missing: string) => `${counts}; not observed: ${missing}`,
  nothingObserved: (from: string, to: string) =>
    `Nothing was observed between ${from} and ${to}; events during that time are unknown.`,
  noObservation: (from: string, to: string) => `No observation between ${from} and ${to}.`,
  noMatch: (from: string, to: string) => `No observation between ${from} and ${to} matches the filters.`,
  noneCounted: (from: string, to: string) => `No observation was counted between ${from} and ${to}.`,
  observedBetween: ({ applied, removed }: EventCount, from: string, to: string) =>
    `${count(applied)} applied and ${count(removed)} removed between ${from} and ${to}.`,
  partMissed: (missing: string) => `${missing} of this interval was not observed; events during that time are unknown.`,
  daysUncounted: (n: number) =>
    `${counted(n, { one: 'day', other: 'days' })} had too many rows to be counted here and ${plural(n, { one: 'is', other: 'are' })} not included in these totals.`,

  download: 'Download everything',
  tooManyDownloads: (link: LinkOf): Piece => [
    'There are too many rows to list downloads here. Request an ',
    link('export'),
    ': the response lists intervals that fit and together cover this one.',
  ],
  wholeDownload: (link: LinkOf, filtered: boolean): Piece => [
    link('Download as JSON'),
    `: every row of this interval${filtered ? ' that matches the filters' : ''}, with its coverage and a digest.`,
  ],
  partDownloads: (n: number, filtered: boolean) =>
    `${counted(n, rows)} are too many for one download. Together, these parts cover the whole interval${filtered ? ' (fewer rows match the filters)' : ''}:`,
  range: (from: string, to: string) => `${from} to ${to}`,
  rows: (n: number) => counted(n, rows),
  downloadsExpire: (link: LinkOf, command: Piece): Piece => [
    'Download links expire after several minutes; reload this page for new ones. Programs can read the same data in pages from ',
    link('the export of this query'),
    ', or with ',
    command,
    '. Rows, including those of deleted accounts, are shown for 30 days, and removed within 33 days while the service runs.',
  ],
};

type PageTexts = typeof entryEn & typeof viewEn;

/**
 * All texts of the account pages in one language, and its formats. Every translation has the type of the English texts,
 * so that a missing text fails the type check.
 */
export interface Texts extends PageTexts {
  readonly language: Language;
  readonly formats: Formats;
  /** Note that the translation is machine-made, or null once a native speaker has reviewed it. */
  readonly translationNote: string | null;
}

/** English texts of the account pages. */
export const en: Texts = { language: 'en', formats, translationNote: null, ...entryEn, ...viewEn };

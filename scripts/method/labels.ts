import { windowDays } from '../../src/account/query/query.ts';
import { contractIds } from '../../src/contract/identifiers.ts';
import { defaultMaxAgeSeconds, futureToleranceSeconds, maxGaps, maxTopLabelers } from '../../src/contract/limits.ts';
import {
  type CoverageStatus,
  coverageStatuses,
  type FreshnessState,
  freshnessStates,
  type GapReason,
  gapReasons,
  type LabelerState,
  labelerStates,
  type SignatureVerdict,
  signatureVerdicts,
} from '../../src/contract/vocabulary.ts';
import { admissionLimits } from '../../src/labels/ingest/admission.ts';
import { maxValueBytes } from '../../src/labels/label/label-fields.ts';
import { maxToleranceMinutes } from '../../src/labels/publish/coverage.ts';
import { minExact } from '../../src/labels/publish/labelers/labeler-line.ts';
import { labelExclusions } from '../../src/labels/publish/overview.ts';
import { burst, watchedAfterChange } from '../../src/labels/repeats/repeats.ts';
import { shortDelay } from '../../src/labels/state/filled-in.ts';
import { stateTimes } from '../../src/labels/state/reading-state.ts';
import { minAttempts } from '../../src/labels/state/step.ts';
import { coverageTolerance } from '../../src/store/gaps.ts';
import { type RefusalReason, refusalReasons } from '../../src/store/port.ts';
import { day, hour, minute, second } from '../../src/store/time.ts';
import { explained, several, table } from './markdown.ts';

const stateRules: Readonly<Record<LabelerState, string>> = {
  established: 'It is read from a known position onwards. Only this state counts as covered.',
  probing: 'Its first read is being attempted, or its last attempts failed.',
  unstarted: 'No request has been sent to it yet.',
  refused: 'It responds with 401 or 403, or its address is not a public https address.',
  cursor_order_unverified: 'Its pages do not prove that ids increase with time, so no position in them is safe.',
  undated_only: 'None of its labels so far has a usable date.',
  provider_rejects: 'Its host responds with something other than labels: a web page, invalid JSON, 400, 404 or 501.',
  unavailable: `It has not responded for ${several(stateTimes.delayLimit / minute, 'minute')} and ${several(minAttempts, 'attempt')}.`,
  departed: `It is no longer followed: it stopped being a labeler, could not be read for ${several(stateTimes.unreachableAfter / day, 'day')}, or never could in its first ${several(stateTimes.trialPeriod / hour, 'hour')}.`,
  denied: 'The operator of this service decided not to read it.',
};

const refusalRules: Readonly<Record<RefusalReason, string>> = {
  foreign_src: 'It names another labeler as its source.',
  malformed: 'It is not a label: fields are missing or have wrong types.',
  oversized: `Its value has more than ${several(maxValueBytes, 'byte')}, or it has more than ${several(admissionLimits.maxBytes, 'byte')}.`,
  space_uri: 'It is about a record in a space, and spaces are not public.',
  undated: 'Its field `cts` has no usable date.',
  future: `It was authored more than ${several(admissionLimits.maxAhead / second, 'second')} ahead of our clock.`,
  pre_epoch:
    "It was authored before the observation began, or before the operator requested to remove the labeler's rows.",
  late: `It was authored more than ${several(admissionLimits.maxLateness / hour, 'hour')} before it arrived.`,
  duplicate: 'It is already known: the subject, value, action, dates and version are equal.',
};

const coverageRules: Readonly<Record<CoverageStatus, string>> = {
  warming_up: 'The observation began after the start of the window.',
  gapped: 'There are gaps in the window.',
  no_recorded_gaps: 'No gap is recorded. This does not prove that everything was observed.',
  unknown: `At least one labeler is not \`established\`, or no page was accepted for more than ${several(coverageTolerance / minute, 'minute')}. With hundreds of labelers this is the usual state.`,
};

const gapRules: Readonly<Record<GapReason, string>> = {
  not_observed: 'A labeler was found late or had not been read yet, or what it sent could not be understood.',
  source_unavailable: `A labeler could not be read for more than ${several(stateTimes.delayLimit / minute, 'minute')}, or left.`,
  ingest_paused: 'Almanac was not running or had paused, or a labeler exceeded its share of the daily budget.',
  cursor_reset: 'The position in a labeler’s stream was lost, for example after its database was reset.',
  maintenance: 'Almanac was stopped under a hold, or rows were removed.',
  warmup: 'The time before the observation began.',
  unknown: `The reason is not known, or there were more than ${maxGaps} gaps, in which case the whole window is one gap.`,
};

const freshnessRules: Readonly<Record<FreshnessState, string>> = {
  unavailable: `There is no usable reading: it is missing, unreadable, or dated more than ${several(futureToleranceSeconds, 'second')} ahead; or no page was ever accepted. Refused with 503.`,
  held: 'The operator withholds the reading. Refused with 503.',
  stale: `The reading, or the last accepted page, is older than the bound in the response (by default ${several(defaultMaxAgeSeconds, 'second')}). Refused with 503.`,
  warming_up: 'The reading is fresh, but the observation is younger than the window. Served.',
  fresh: 'None of the other states applies. Served.',
};

const signatureRules: Readonly<Record<SignatureVerdict, string>> = {
  verified: 'The key in the labeler’s DID document verifies it.',
  verified_earlier_key: 'A key that the labeler had at the date of the label verifies it.',
  invalid:
    'No known key of the labeler verifies it. Old labels may be invalid after a change of key if the earlier key is not known.',
  unsigned: 'It has no signature.',
  unverified: 'No key was available, or only one that may be outdated and does not verify it.',
};

const exclusions: Readonly<Record<string, string>> = {
  'labels that are active now: applications and removals are observed, current state is not':
    'A label may expire, may have been removed while it was not read, or may have been applied before the observation began. Ask the labeler for the current state.',
  'labels of labelers that this instrument does not follow, and labels that were applied before its observation began':
    'Anyone can run a labeler. The counts do not include labelers that are not found, refuse to be read or are denied.',
  'labels that a labeler which keeps only the newest row of each label applied and removed again between two reads':
    'Some servers replace the row of a label when it changes. The intermediate rows are gone before they can be read.',
};

const words = <W extends string>(all: readonly W[], rules: Readonly<Record<W, string>>): string =>
  table(
    ['word', 'rule'],
    all.map((word) => [`\`${word}\``, rules[word]]),
  );

const freshnessOrder: readonly FreshnessState[] = ['unavailable', 'held', 'stale', 'warming_up', 'fresh'];

/**
 * Returns the page about the method of the label instrument as Markdown. Throws if `freshnessOrder` does not list every
 * freshness state.
 */
export function labelsMethod(): string {
  if (freshnessOrder.length !== freshnessStates.length) throw new Error('a freshness state has no place in the order');
  return `# How labels are counted

This page explains the words and numbers of \`/v1/labels/overview\` and of the pages about labelers. The page is generated from the program,
so its thresholds are those in use. [How the weather is measured](weather.md) has its own page. Readings of other
instruments, which have an \`artifact_schema_version\` other than \`labels.recent-overview.v1\`, have their own methods.

## Sources

A labeler is a public moderation service: its DID document declares a labeler service. Almanac finds labelers in its own list, in the lists of relays,
in the event stream of the network and in the directory of DIDs, and reads each at its own endpoint, as a stream or page by page. A
labeler is **enrolled** once it has responded; a new one that does not respond is tried for ${several(stateTimes.trialPeriod / hour, 'hour')}.

Labels are counted as **events**: one application or one removal of one label. An event is not a label that is active now.

## Windows and clocks

- The window is the last ${several(windowDays, 'day')}. \`events_7d\` and \`events_24h\` cover the last 7 days and 24 hours of it.
- Events are placed by the time at which Almanac accepted them, not by the date that the labeler wrote.
- Nothing before \`acquisition.started_at\` was observed. Until the whole window lies after that time, the state is \`warming_up\`.
- There is no baseline: counts are published as they are and are not compared with anything.
- \`top_labelers_7d\` lists at most ${several(maxTopLabelers, 'labeler')}.

## Which labels count

A label is refused for the first reason that applies, and counted under that reason.

${words(refusalReasons, refusalRules)}

A labeler that changes its key may sign its labels again. At least ${burst.rows} rows within ${several(burst.minutes, 'minute')} that repeat known labels within ${several(watchedAfterChange / day, 'day')} after the
change are stored and exported, but not counted; a caveat gives their number. Counts by value below ${minExact} are published as \`fewer_than_${minExact}\`.

### What moves a count

- A labeler applies or removes a label. One labeler can apply millions in a day: compare the counts with the shares in the caveats.
- A labeler is found, becomes readable, or leaves.
- A labeler applies the same label again with another date.

### What does not move a count

- A label that expires: no event is sent.
- Reading the same label twice, by stream and by page.
- The quality of a label, and whether an application shows it. Almanac does not judge labels.
- Private reports, mutes and blocks of accounts.

## States of a labeler

${words(labelerStates, stateRules)}

## Coverage

The coverage status is the first of \`unknown\`, \`warming_up\`, \`gapped\` and \`no_recorded_gaps\` that applies.

${words(coverageStatuses, coverageRules)}

An outage of a labeler of up to ${several(stateTimes.delayLimit / minute, 'minute')} is a delay, not a gap, because reading resumes at the last position. After a longer outage,
labels of up to ${several(admissionLimits.maxLateness / hour, 'hour')} are still accepted, and only the rest remains a gap.

Labels that were **read late**, because they arrived more than ${several(shortDelay / second, 'second')} after the labeler was last read to its end, count like all others, at
the time of their acceptance. No rate divides them by the time in which they arrived: the hourly counts state them apart, with the time
of the outage, and the charts of the archive mark their days. A label that its labeler dated back is not late in this sense.

## Gaps

${words(gapReasons, gapRules)}

At most ${maxGaps} gaps are listed. If there are more, gaps that are up to ${several(maxToleranceMinutes / 60, 'hour')} apart are joined, which overstates gaps and never hides one.

## Freshness

The freshness is the first state that applies, judged at every request.

${words(freshnessOrder, freshnessRules)}

## Signatures

${words(signatureVerdicts, signatureRules)}

A label with any verdict is an observation, and counts.

## What is not measured

\`provenance.does_not_measure\` is part of every fact: show it with the number.

${explained(['not measured', 'why'], labelExclusions, exclusions)}

## How to cite

Name the contract, the epoch, the window, the coverage and the generation time of the artifact, for example:

"Almanac, observed label events of the AT Protocol network, \`${contractIds.labelsOverview}\`, epoch generation_id, ${windowDays} days to
2026-11-20T12:00:00Z, coverage unknown, 689 of 700 labelers established, generated_at 2026-11-20T12:00:10.000Z, https://ADDRESS/v1/labels/overview"

A fact is replaced with each artifact: keep the response that you cite, with its caveats. Where the service keeps an archive, cite the file of the
day with its digest. "There were no labels" is not a conclusion that these facts allow: cite "none were observed", with the coverage.
`;
}

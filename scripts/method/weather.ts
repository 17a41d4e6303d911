import { contractIds } from '../../src/contract/identifiers.ts';
import { minRateSeconds } from '../../src/contract/limits.ts';
import {
  type ConditionState,
  type Confidence,
  confidences,
  type WeatherFreshnessState,
  weatherFreshnessStates,
} from '../../src/contract/vocabulary.ts';

import { failoverRule } from '../../src/weather/hosts/publication.ts';
import { thresholds } from '../../src/weather/publish/conditions.ts';
import { bearable, interactions } from '../../src/weather/publish/silent-shares.ts';
import {
  compactionHours,
  conditionTexts,
  summaryMaxAgeSeconds,
  weatherExclusions,
} from '../../src/weather/publish/summary.ts';
import { silenceRule } from '../../src/weather/silence/silence.ts';

import { dayUs, minuteRule, windowUs } from '../../src/weather/window/window.ts';
import { keptDays } from '../../src/weather/window/window-store.ts';
import { explained, percent, several, table } from './markdown.ts';

const {
  offlineWindows,
  lastingShare,
  lastingWindows,
  settlingWindows,
  lullWindows,
  lullShare,
  severeTimes,
  severeWindows,
  stormWindows,
  turbulentWindows,
  turbulenceMinutes,
  supportedDays,
} = thresholds;
const windowSeconds = windowUs / 1_000_000;

const { withoutBaseline } = silenceRule;
const row = (windows: number): string => `${several(windows, 'window')} in a row`;

/** Rule of each condition. */
const rules: Readonly<Record<ConditionState, string>> = {
  station_offline: `The newest comparable window ended more than ${several(offlineWindows, 'window')} ago, or there is none and nothing was observed recently.`,
  unavailable: `There are fewer than ${minuteRule.minDays} comparable days; or no recent window is comparable, although some were observed in part; or silent collections make up more than ${percent(bearable)} of the interactions; or the level is below ${percent(lastingShare)} of p50 for ${row(lastingWindows)}; or a lull cannot be proven.`,
  lull: `The level is below ${percent(lullShare)} of p05 for ${row(lullWindows)}. It is proven only if these windows were observed without a break and no connection began in the last ${several(settlingWindows, 'window')}.`,
  severe_storm: `The level is above p95 and at least ${severeTimes} times p50, and above p75 for ${row(severeWindows)}.`,
  storm: `The level is above p95, and above p75 for ${row(stormWindows)}.`,
  turbulent: `The level is above p75 for ${row(turbulentWindows)}.`,
  unsettled: `The level is above p95, or uneven, but above p75 for fewer than ${row(turbulentWindows)}.`,
  active: `The level is above p75.`,
  calm: `No other rule applies.`,
};

/** Order in which the rules are applied. */
const order: readonly ConditionState[] = [
  'station_offline',
  'unavailable',
  'lull',
  'severe_storm',
  'storm',
  'turbulent',
  'unsettled',
  'active',
  'calm',
];

const confidenceRules: Readonly<Record<Confidence, string>> = {
  supported: `at least ${supportedDays} comparable days`,
  thin: `${minuteRule.minDays} to ${supportedDays - 1} comparable days`,
  unsupported: 'no comparison was made: the condition is `unavailable` or `station_offline`',
};

const freshnessRules: Readonly<Record<WeatherFreshnessState, string>> = {
  current: 'the newest observed window was observed without a break',
  partial: 'the newest observed window was observed in part, or may lack events',
  stale: `the newest observation ended more than ${summaryMaxAgeSeconds} seconds before \`generated_at\``,
  unavailable: 'nothing was observed in the last 24 hours',
};

const exclusions: Readonly<Record<string, string>> = {
  'participant turnover':
    'Events are counted, not accounts. A thousand likes may come from one account or from a thousand, and an arrival cannot be distinguished from a return.',
  'sentiment or content': 'No text is read. A storm means many events, not anger or joy.',
  'individual accounts':
    'Nothing that identifies an account leaves the classifier, so no count can be divided by account.',
  'the social graph': 'Follows and blocks are counted, not who follows or blocks whom.',
  'reads and impressions': 'Reading leaves no event in the stream.',
  'private messages': 'They are not part of the public stream.',
  'events that this host did not deliver':
    'The counts are of one host. Hosts differ, and a host can lose or filter events without notice.',
  'repeats that this host delivered as if they were new':
    'An event has no identity that is kept, so an event that a host sends again with a new position counts again.',
};

/** Returns the page about the method of the weather instrument as Markdown. */
export function weatherMethod(): string {
  return `# How the weather is measured

This page explains the words and numbers of \`/v1/weather/conditions\` and \`/v1/weather/metrics\`. The page is generated from
the program, so its thresholds are those in use. [How labels are counted](labels.md) has its own page. Readings of other
instruments, which have an \`artifact_schema_version\` other than \`weather.summary.v1\`, have their own methods.

## Source

Almanac reads one host of Jetstream, the public event stream of the AT Protocol network, over one protocol. \`provenance.source_endpoint\` and
\`provenance.wire\` name both. If two hosts are read, only one of them is published, and their counts are never added. The second is
published after the first was in trouble for ${windows(failoverRule.failoverUs)}: not observed for more than ${windows(failoverRule.bearableGapUs)}, or silent. The
first is published again after ${several(failoverRule.quietUs / dayUs, 'day')} without trouble, or once it was healthy for ${windows(failoverRule.recoveredUs)} while the second
was in trouble for ${windows(failoverRule.failoverUs)}. A caveat names each change.

Each event is reduced to names of a fixed list, such as \`like.create\`; nothing else is kept. Names overlap: \`post.create\` includes
\`post.create.reply\` and \`post.create.quote\`. Do not add them up.

## Windows

- Events are counted in windows of ${windowSeconds} seconds on the clock of the stream, aligned to the UTC minute.
- A fact covers the 24 hours before the newest closed window. \`window\` states the bounds, and \`coverage_ratio\` the observed share.
- Rates divide by the observed seconds, not by the length of the window. Time that was not observed is left out and never estimated. With less
  than ${several(minRateSeconds, 'observed second')}, there is no rate.
- A collection without events while others continue is silent. That time does not count as observed for it, and a collection that was silent
  throughout is null. A collection that usually has at least ${several(silenceRule.frequentRate, 'event')} in each window is silent after at least ${several(silenceRule.minWindows, 'window')}
  without an event in which it usually has ${several(silenceRule.missingEvents, 'event')} or more. Any other collection is silent once its pause is ${silenceRule.pauseFactor} times its longest pause of
  earlier days, and at least ${several(silenceRule.minPauseWindows, 'window')} long. Without earlier days, the usual counts are those of the ${several(withoutBaseline.hourWindows, 'window')} before
  the pause, if at least ${withoutBaseline.minHourWindows} of them were observed. The pause must then be ${silenceRule.pauseFactor} times the longest pause before it. For a collection that usually has
  fewer events, it must also be at least ${several(withoutBaseline.minPauseWindows, 'window')} long and follow ${several(withoutBaseline.minDayWindows, 'observed window')}.

## Level and history

The **level** is the rate of interactions per observed second in the newest comparable window. Interactions are ${listed(interactions)}: acts that
refer to another post. Posts without a reply or quote, follows and blocks do not move the conditions.

A window is **comparable** if at least ${minuteRule.eligibleUs / 1_000_000} of its ${windowSeconds} seconds were observed, at most ${percent(minuteRule.maxUncounted)} of its events came late or were unreadable,
and it was read within ${compactionHours} hours, before hosts compact their history.

The level is compared with the windows of the same UTC hour on the last ${keptDays} days. A day belongs to the history if at least ${minuteRule.minMinutes} windows of the
hour are comparable. **p05**, **p50**, **p75** and **p95** are percentiles of these windows: 5, 50, 75 and 95 per cent of them were lower,
interpolated linearly between two windows. The level is **uneven** if the coefficient of variation (standard deviation divided by mean) of the last ${several(turbulenceMinutes, 'window')} is
above that of 95 per cent of such runs in the history.

## Conditions

The first rule that applies decides.

${table(
  ['word', 'rule'],
  order.map((state) => [`\`${state}\``, `${rules[state]} Shown as: ${conditionTexts[state].label}.`]),
)}

\`station_offline\` and \`unavailable\` mean that there is no reading, never that the network is calm. A single window above p75 is at most \`active\` or \`unsettled\`.

### What moves a condition

- Replies, quotes, reposts and likes, more or fewer than in the same hour of earlier days.
- Automated accounts as much as people: an event caused by a program counts too.
- A change of the host, because each host has its own history.

### What does not move a condition

- The number of people who read or write, and what they write.
- The growth of the network over months, because the history grows with it.
- Time that was not observed: a gap makes a condition unavailable, not low.
- Labels and moderation: [they are counted elsewhere](labels.md).

## Confidence

${table(
  ['word', 'rule'],
  confidences.map((word) => [`\`${word}\``, confidenceRules[word]]),
)}

## Freshness

\`freshness\` is the judgement of the instrument at \`generated_at\`. The service never refuses weather for its age:
add the \`age_seconds\` of the envelope to the age in \`freshness\`. If the sum exceeds \`max_age_seconds\`, the fact does not describe the present.

${table(
  ['word', 'rule'],
  weatherFreshnessStates.map((word) => [`\`${word}\``, freshnessRules[word]]),
)}

## What is not measured

\`provenance.does_not_measure\` is part of every fact: show it with the number.

${explained(['not measured', 'why'], weatherExclusions, exclusions)}

## How to cite

Name the contract, the host and protocol, the interval, the coverage, and the generation time of the artifact, for example:

"Almanac, weather of the AT Protocol network, \`${contractIds.weatherConditions}\`, host wss://HOST, protocol jetstream.subscribeEvents, 24
hours to 2026-11-20T12:00:00Z, coverage_ratio 0.998, generated_at 2026-11-20T12:00:10.000Z, https://ADDRESS/v1/weather/conditions"

A fact is replaced with each artifact: keep the response that you cite, with its caveats. Where the service keeps an archive, cite the file of the
day with its digest. "The network was calm" overstates \`calm\`: one host delivered as many interactions as usual for this hour.
`;
}

function windows(us: number): string {
  return several(us / windowUs, 'minute');
}

function listed(names: readonly string[]): string {
  const quoted = names.map((name) => `\`${name}\``);
  return `${quoted.slice(0, -1).join(', ')} and ${quoted.at(-1) ?? ''}`;
}

import type { LabelerDefinition, LabelerEnvelope, LabelerFacts, LabelerValue } from '../../contract/labelers.ts';
import { fewerThanFive } from '../../contract/vocabulary.ts';
import { gapParts } from '../../facts/labelers/page/gap-parts.ts';
import { enumeration, foundText, readByText, stateText } from '../../facts/labelers/page/words.ts';
import { countText, percentText } from '../../web/format.ts';
import { aligned, terminalText, wrapped } from '../terminal-text.ts';

/** Column at which the values of the first table begin, in characters. */
const labelWidth = 12;

/** Returns the lines that present a labeler's document on a terminal of the given width. */
export function labelerLines({ facts, generated_at, age_seconds, caveats }: LabelerEnvelope, width: number): string[] {
  const heading = facts.handle === null ? facts.did : `${terminalText(facts.handle.name)} (${facts.did})`;
  return [
    ...wrapped(heading, width),
    '',
    ...wrapped(terminalText(facts.conclusion), width),
    ...(facts.remedy === null ? [] : wrapped(terminalText(facts.remedy), width)),
    '',
    ...described(identityRows(facts), width),
    ...section('Events by day (UTC)', dayLines(facts)),
    ...section('Time that was not read', gapLines(facts, width)),
    ...section(`Values${since(facts)}`, valueLines(facts, width)),
    ...section(`Signatures${since(facts)}`, signatureLines(facts)),
    ...section(
      'Limits',
      caveats.flatMap((caveat) => wrapped(`- ${terminalText(caveat)}`, width, 2)),
    ),
    '',
    ...wrapped(`As of ${minuteOf(generated_at)}, ${Math.max(0, Math.round(age_seconds))} s ago.`, width),
  ];
}

function identityRows(facts: LabelerFacts): (readonly [string, string])[] {
  const { handle, handle_withheld, state, state_since, found_by, read_by, delay_ms, repeats } = facts;
  const handleText =
    handle === null
      ? handle_withheld === undefined
        ? 'none'
        : 'withheld, because it contains an identity'
      : `${terminalText(handle.name)} (${handle.confirmed ? 'confirmed' : 'claimed, not confirmed'})`;
  return [
    ['handle', handleText],
    ['state', `${stateText[state]}, since ${minuteOf(state_since)}`],
    ['found by', found_by.length === 0 ? 'not known' : enumeration(found_by.map((way) => foundText[way]))],
    ['read by', read_by === null ? 'not being read' : readByText[read_by]],
    ['read', facts.first_answered === null ? 'never' : readText(facts)],
    ['last row', facts.last_row === null ? 'none in the window' : minuteOf(facts.last_row)],
    [
      'events',
      `${eventsIn(facts, 'window')} in the window, ${eventsIn(facts, 'week')} in 7 days, ${eventsIn(facts, 'day')} in 24 hours`,
    ],
    ...(repeats === 0
      ? []
      : [
          [
            'repeats',
            `${countText(repeats)} rows repeat known labels after a change of key and are not counted`,
          ] as const,
        ]),
    ...(delay_ms === null
      ? []
      : [['delay', `${countText(delay_ms.p50)} ms (median), ${countText(delay_ms.p90)} ms (90 % of labels)`] as const]),
  ];
}

/** Returns the number of events of a span, or `not read` if nothing was read in it. */
function eventsIn({ events }: LabelerFacts, span: keyof LabelerFacts['events']): string {
  const count = events[span];
  return count === null ? 'not read' : countText(count);
}

function readText({ first_answered: first, last_answered: last }: LabelerFacts): string {
  return `first ${minuteOf(first ?? '')}, last ${minuteOf(last ?? '')}`;
}

/** Returns the table of days. Consecutive days without reading share one line. */
function dayLines({ days }: LabelerFacts): string[] {
  const rows: string[][] = [['day', 'applied', 'removed', 'read']];
  let unreadFrom: string | null = null;
  for (const [at, { day, applied, removed, read_share: share, read_late: late = false }] of days.entries()) {
    const isUnread = applied === null && removed === null;
    if (isUnread && unreadFrom === null) unreadFrom = day;
    const next = days[at + 1];
    const isLast = next === undefined || next.applied !== null || next.removed !== null;
    if (!isUnread)
      rows.push([day, optionalCount(applied), optionalCount(removed), `${percentText(share)}${late ? ', late' : ''}`]);
    else if (isLast) {
      rows.push([unreadFrom === day ? day : `${unreadFrom} to ${day}`, '-', '-', 'not read']);
      unreadFrom = null;
    }
  }
  return aligned(rows, new Set([1, 2]));
}

function gapLines(facts: LabelerFacts, width: number): string[] {
  const { gap_overflow: overflow } = facts;
  const parts = gapParts(facts);
  if (parts.length === 0) return ['No gap is recorded in the window.'];
  const rows = parts.map(({ start: { value: start }, end: { value: end }, text }) => {
    // Show seconds only if both ends would otherwise look the same.
    const format = minuteOf(start) === minuteOf(end) ? secondOf : minuteOf;
    return `${format(start)} to ${format(end)}: ${text}`;
  });
  const note = overflow
    ? ['There were more gaps than listed; the closest gaps are merged, including the time between them.']
    : [];
  return [...rows, ...note].flatMap((row) => wrapped(row, width, 2));
}

function valueLines(
  { values, values_omitted: omitted, undeclared, definitions, events: { window } }: LabelerFacts,
  width: number,
): string[] {
  const texts = new Map(definitions?.values.map((definition) => [definition.value, definition]));
  const rows = values.flatMap((value) => [
    ...wrapped(valueText(value, window), width, 2),
    ...definitionLines(texts.get(value.value), width),
  ]);
  const others = `all other values: ${valueCount(undeclared, window)}`;
  const note = omitted === 0 ? [] : [`${countText(omitted)} declared values are not listed.`];
  return [...rows, others, ...note].flatMap((row) => wrapped(row, width, 2));
}

type WindowEvents = LabelerFacts['events']['window'];

function valueText(
  { value, events, first_defined: first, last_defined: last }: LabelerValue,
  window: WindowEvents,
): string {
  const defined =
    last === null ? `seen in its definitions since ${first}` : `seen in its definitions from ${first} to ${last}`;
  return `${terminalText(value)}: ${valueCount(events, window)}; ${defined}`;
}

/**
 * Returns the labeler's own description of a value, in English if available, or a note that it is withheld. Returns no
 * lines if there is no definition.
 */
function definitionLines(definition: LabelerDefinition | undefined, width: number): string[] {
  if (definition === undefined) return [];
  if (definition.withheld !== undefined)
    return wrapped('  Its definition is withheld, because it contains an identity.', width, 2);
  const locale = definition.locales.find(({ lang }) => /^en\b/i.test(lang)) ?? definition.locales[0];
  if (locale === undefined) return [];
  return wrapped(`  “${terminalText(locale.name)}: ${terminalText(locale.description)}”`, width, 2);
}

function signatureLines({ signatures, events: { window } }: LabelerFacts): string[] {
  if (signatures === null) return ['Signatures are not counted yet.'];
  if (window === null) return ['No label of the labeler is known in the window.'];
  return aligned(
    Object.entries(signatures).map(([verdict, events]) => [verdict.replaceAll('_', ' '), countText(events)]),
    new Set([1]),
  );
}

function described(rows: readonly (readonly [string, string])[], width: number): string[] {
  return rows.flatMap(([label, text]) => wrapped(`${label.padEnd(labelWidth)}${text}`, width, labelWidth));
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', title, ...lines];
}

function since({ counted_since: at }: LabelerFacts): string {
  return at === null ? '' : `, counted since ${minuteOf(at)}`;
}

/**
 * Formats the count of a value. The artifact withholds the count if another withheld count could be derived from it. If
 * nothing was read in the window, a count of fewer than five is shown as not read.
 */
function valueCount(events: LabelerValue['events'], window: WindowEvents): string {
  if (events === fewerThanFive) return window === null ? 'not read' : 'fewer than 5 events';
  return events === null ? 'number not published' : `${countText(events)} ${events === 1 ? 'event' : 'events'}`;
}

/** Formats the count of a day. A dash stands for an unknown count. */
function optionalCount(events: number | null): string {
  return events === null ? '-' : countText(events);
}

/** Formats a timestamp to the second. */
function secondOf(timestamp: string): string {
  return `${timestamp.slice(0, 10)} ${timestamp.slice(11, 19)} UTC`;
}

/** Formats a timestamp to the minute. */
function minuteOf(timestamp: string): string {
  return `${timestamp.slice(0, 10)} ${timestamp.slice(11, 16)} UTC`;
}

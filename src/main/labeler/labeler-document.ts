import type Type from 'typebox';
import { Compile } from 'typebox/compile';
import { AnswerError, NetworkError } from '../../client/errors.ts';
import { type Answer, exchange } from '../../client/exchange.ts';
import { cacheLifetimeMs } from '../../client/headers.ts';
import { type Dated, describeStaleness, ReceiptJudge, ServiceClock } from '../../client/staleness.ts';
import { canonicalDid, didInWords, isDid } from '../../contract/identifiers.ts';
import {
  type LabelerDefinition,
  LabelerEnvelope,
  type LabelerFacts,
  type LabelerValue,
  labelerPaths,
} from '../../contract/labelers.ts';
import { fewerThanFive } from '../../contract/vocabulary.ts';
import { enumeration, foundText, gapParts, readByText, stateText } from '../../facts/labelers/page/words.ts';
import { isHandle } from '../../network/identity/did-document.ts';
import { OperatorError } from '../../ops/errors.ts';
import { countText, percentText } from '../../web/format.ts';
import { aligned, terminalText, wrapped } from '../terminal-text.ts';

/** Reason why no document can be shown. */
export interface LabelerFailure {
  readonly kind: 'refused' | 'unreachable' | 'unknown';
  /** Description of the reason, for the terminal. */
  readonly why: string;
}

/** A labeler's document as the service returned it. */
interface FoundLabeler {
  readonly kind: 'document';
  readonly document: LabelerEnvelope;
}

/** Dependencies of a request for a document. */
interface LabelerRequest {
  /** Base address of a facts service, without a trailing slash. */
  readonly base: string;
  readonly fetch: typeof globalThis.fetch;
  readonly timeoutMs: number;
  /** Returns milliseconds since 1970. */
  readonly clock: () => number;
}

/** Maximum size of a document, in bytes. A line of the artifact with its definitions is far smaller. */
const maxBytes = 2 * 1024 * 1024;

/** Maximum size of the list of labelers, in bytes. It is enough for thousands of labelers. */
const maxListBytes = 16 * 1024 * 1024;

/** Requests a labeler's document. Never rejects: a failed request is returned as a LabelerFailure. */
export async function fetchLabeler(did: string, request: LabelerRequest): Promise<FoundLabeler | LabelerFailure> {
  const answer = await asked(`${labelerPaths.one}${did}.json`, maxBytes, request);
  return 'kind' in answer ? answer : read(answer, request);
}

/**
 * Resolves with the DID of the labeler that the user named by its DID or its handle, or with the reason why there is no
 * such labeler. Rejects with OperatorError if the name is neither.
 */
export async function didOf(named: string, request: LabelerRequest): Promise<string | LabelerFailure> {
  if (isDid(named)) return canonicalDid(named);
  const handle = named.replace(/^@/, '').toLowerCase();
  if (!isHandle(handle)) throw new OperatorError(`labeler requires a handle, or a DID: ${didInWords}`);
  return findLabeler(handle, request);
}

/**
 * Looks up a handle in the service's list. Resolves with the DID of the only labeler for which the handle is confirmed,
 * or with the reason why there is no such labeler. `handle` is in lower case.
 */
async function findLabeler(handle: string, request: LabelerRequest): Promise<string | LabelerFailure> {
  const answer = await asked(labelerPaths.list, maxListBytes, request);
  if ('kind' in answer) return answer;
  const body = answer.status === 200 ? parsed(answer.text) : null;
  const expired = expiry(body, answer.headers, labelerPaths.list, request);
  if (expired !== null) return expired;
  const labelers = listIn(body);
  if (labelers === null)
    return answer.status === 200 ? notFacts(request.base, 'it has no list of labelers') : failure(answer, request.base);
  const named = labelers.filter(({ name }) => name === handle);
  const [confirmed, ...more] = named.filter((one) => one.confirmed);
  if (confirmed !== undefined && more.length === 0) return confirmed.did;
  return { kind: 'unknown', why: ambiguity(handle, named) };
}

/** Returns the reason why a handle does not identify a labeler. `named` contains the labelers with this handle. */
function ambiguity(handle: string, named: readonly Named[]): string {
  if (named.length === 0) {
    return `no labeler of the service has the handle ${handle}; /labelers of the service lists all of them`;
  }
  const confirmed = named.filter((one) => one.confirmed);
  const dids = (confirmed.length === 0 ? named : confirmed).map(({ did }) => did).join(', ');
  const why = confirmed.length === 0 ? `claimed by ${dids} but not confirmed` : `confirmed for each of ${dids}`;
  return `the handle ${handle} is ${why}; give the DID instead of the handle`;
}

/** An entry of the service's list: a labeler with a handle. */
interface Named {
  readonly did: string;
  readonly name: string;
  readonly confirmed: boolean;
}

/** Returns the labelers with a handle in a response, or null if the response contains no list of labelers. */
function listIn(body: unknown): readonly Named[] | null {
  const labelers = isRecord(body) && isRecord(body.facts) ? body.facts.labelers : null;
  if (!Array.isArray(labelers)) return null;
  return labelers.flatMap((one: unknown) => {
    if (!isRecord(one) || typeof one.did !== 'string' || !isDid(one.did) || !isRecord(one.handle)) return [];
    const { name, confirmed } = one.handle;
    return typeof name === 'string' ? [{ did: one.did, name: name.toLowerCase(), confirmed: confirmed === true }] : [];
  });
}

async function asked(path: string, bytes: number, request: LabelerRequest): Promise<Answer | LabelerFailure> {
  const { signal } = new AbortController();
  try {
    return await exchange({ ...request, path, etag: null, maxBytes: bytes, signal });
  } catch (error) {
    if (error instanceof NetworkError) {
      const what = error.reason === 'timeout' ? 'did not respond in time' : 'cannot be reached';
      return { kind: 'unreachable', why: `${request.base} ${what}; --facts URL selects another service` };
    }
    if (error instanceof AnswerError) return notFacts(request.base, 'its response is too large or not UTF-8');
    throw error;
  }
}

function read(answer: Answer, request: LabelerRequest): FoundLabeler | LabelerFailure {
  const { base } = request;
  if (answer.status !== 200) return failure(answer, base);
  const body = parsed(answer.text);
  const problem = shapeProblem(body);
  if (problem !== null) {
    return notFacts(base, `its response does not have the published shape: ${terminalText(problem)}`);
  }
  return (
    expiry(body, answer.headers, labelerPaths.one, request) ?? { kind: 'document', document: body as LabelerEnvelope }
  );
}

/** Returns the failure of a response that a cache repeated although it has expired; null for any other response. */
function expiry(body: unknown, headers: Headers, path: string, { base, clock }: LabelerRequest): LabelerFailure | null {
  if (!isRecord(body)) return null;
  const judge = new ReceiptJudge(new ServiceClock(), true);
  const staleness = judge.staleness(body as Dated, headers, cacheLifetimeMs(headers), clock());
  return staleness === null ? null : { kind: 'refused', why: describeStaleness(base + path, staleness) };
}

/** Converts an error response to the failure that it states. */
function failure({ status, text }: Answer, base: string): LabelerFailure {
  const error = errorOf(parsed(text));
  if (error === null) return notFacts(base, `it responds with the status ${status}`);
  const kind = error.code === 'unknown_labeler' ? 'unknown' : 'refused';
  return { kind, why: `${terminalText(error.message)} (${terminalText(error.code)})` };
}

function notFacts(base: string, why: string): LabelerFailure {
  return { kind: 'refused', why: `${base} is not a facts service with documents about labelers: ${why}` };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function errorOf(body: unknown): { readonly code: string; readonly message: string } | null {
  const error = isRecord(body) ? body.error : null;
  if (!isRecord(error) || typeof error.code !== 'string' || typeof error.message !== 'string') return null;
  return { code: error.code, message: error.message };
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/**
 * Returns the first place at which a response deviates from the schema of a labeler's document, or null if the response
 * matches.
 */
export function shapeProblem(value: unknown): string | null {
  const validator = Compile(opened(LabelerEnvelope));
  if (validator.Check(value)) return null;
  const [error] = validator.Errors(value);
  return `${error?.instancePath || '/'} ${error?.message ?? 'does not match'}`;
}

/**
 * Returns a copy of the schema that also accepts unknown fields, because a later version of the service may add
 * fields.
 */
function opened(schema: object): Type.TSchema {
  const text = JSON.stringify(schema, (key, value: unknown) => (key === 'additionalProperties' ? undefined : value));
  return JSON.parse(text) as Type.TSchema;
}

/** Column at which the values of the first table begin, in characters. */
const labelWidth = 12;

/** Returns the lines that present a labeler's document at `now` on a terminal of the given width. */
export function labelerLines(document: LabelerEnvelope, width: number, now: number): string[] {
  const { facts, generated_at, caveats } = document;
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
    ...wrapped(`As of ${minuteOf(generated_at)}, ${Math.max(0, Math.round(ageAt(document, now)))} s ago.`, width),
  ];
}

/**
 * Returns the age of a document in seconds at `now`. The service may have built it some minutes ago, and caches may have
 * kept it since.
 */
function ageAt({ age_seconds, retrieved_at }: LabelerEnvelope, now: number): number {
  return age_seconds + Math.max(0, now - Date.parse(retrieved_at)) / 1000;
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

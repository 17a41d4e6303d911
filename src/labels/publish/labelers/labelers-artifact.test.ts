import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { windowStore } from '../../../../harness/labels/window-store.ts';
import { rosterRow } from '../../../../harness/store/roster-row.ts';
import { checkLabeler, checkLabelersHeader, type LabelerLine, labelersLimits } from '../../../artifact/labelers.ts';
import type { Position, RefusalReason, StoredGap } from '../../../store/port.ts';
import type { RosterRow } from '../../../store/roster.ts';
import { day, hour, micros, minute } from '../../../store/time.ts';
import { type KnownLabeler, labelerFromRow } from '../../roster/known-labeler.ts';
import { FilledIn } from '../../state/filled-in.ts';
import { WindowReader } from '../window/window-reader.ts';
import { DefinitionCache, type LabelerDefinitions, noDefinitions } from './definition-cache.ts';
import { LabelerMemory, labelerLine } from './labeler-line.ts';
import { listLabelers, makeLabelers, refusedLabelers } from './labelers-artifact.ts';
import { type ListingContext, listedLabeler } from './listed-labeler.ts';

type LineInputs = Parameters<typeof labelerLine>[0];

const start = 20_000 * day;
const now = micros(start + 40 * day + 12 * hour);
const window = { start: micros(now - 30 * day), end: now };
const did = 'did:plc:ar7c4by46qjdydhdevvrndac';
const context = {
  window,
  waits: () => false,
  pauseOf: () => null,
  deniedSince: () => null,
  refused: new Set<string>(),
};

/** Returns a labeler that was read throughout the window, with the given changes. */
function labelerOf(changes: Partial<RosterRow> = {}, over: Partial<KnownLabeler> = {}): KnownLabeler {
  const times = { firstAsked: micros(start), firstAnswered: micros(start), lastAnswered: now, completeThrough: now };
  return Object.assign(labelerFromRow(rosterRow(did, { ...times, dated: true, ...changes }), null), over);
}

/** Makes the lines of labelers from rows. */
async function linesOf(
  labelers: readonly KnownLabeler[],
  rows: readonly { labeler: string; at: number }[],
  positions: readonly Position[] = [],
) {
  const reading = await new WindowReader(windowStore(() => ({ startedAt: start, rows, positions }))).read(now, 30);
  const inputs = {
    ...context,
    origin: 'simulated' as const,
    labelers,
    failed: (_: string, error: unknown) => {
      throw error;
    },
  };
  const files = await makeLabelers(
    listLabelers(reading, inputs),
    { definitions: new DefinitionCache({ definitions: async () => [] }), memories: new Map() },
    inputs,
  );
  const all: string[] = [];
  for await (const text of files.labelers) all.push(text);
  const [head, ...texts] = all;
  const header = checkLabelersHeader(JSON.parse(head ?? ''));
  expect(header.ok).toBe(true);
  return texts.map((text) => {
    const line = checkLabeler(JSON.parse(text));
    if (!line.ok) throw new Error(`${line.pointer} ${line.why}`);
    return line.value;
  });
}

test('a labeler without rows has zero events on days on which it was read, and an unknown number on other days', async () => {
  const [line] = await linesOf([labelerOf({ firstAnswered: micros(now - 2 * day) })], []);
  expect(line?.days.slice(0, 28)).toEqual(Array.from({ length: 28 }, () => [null, null, 0]));
  expect(line?.days.slice(28)).toEqual([
    [0, 0, 0.5],
    [0, 0, 1],
    [0, 0, 1],
  ]);
  expect(line).toMatchObject({
    last_row: null,
    events: { window: 0, week: 0, day: 0 },
    signatures: null,
    delay_ms: null,
  });
});

test('observed events of a day are published even if the whole day is in a gap', async () => {
  const at = now - 5 * day;
  const [line] = await linesOf([labelerOf({ firstAnswered: micros(now - day) })], [{ labeler: did, at }]);
  expect(line?.days[25]).toEqual([1, 0, 0]);
  expect(line?.last_row).toBe(new Date(Math.floor(at / minute) * 60_000).toISOString());
});

test('the days on which a labeler was read late are listed, without short delays', async () => {
  const filledIn = new FilledIn();
  const positions = [
    { from: 20 * day - 2 * hour, length: 5 * hour },
    { from: 25 * day, length: 10 * minute },
    { from: 29 * day, length: 30 * minute },
  ].flatMap(({ from, length }) => {
    const since = micros(window.start - 12 * hour + from);
    const { changesAt, committed } = filledIn.covering(did, since);
    const changes = changesAt(micros(since + length));
    committed();
    return changes.map((one) => ({ ...one, value: one.value ?? '', acceptedAt: now }));
  });
  const [line] = await linesOf([labelerOf()], [], positions.slice(-1));
  expect(line?.late_days).toEqual([19, 20, 29]);
});

test('rows of a labeler that is no longer in the roster are listed', async () => {
  const [line] = await linesOf([], [{ labeler: did, at: now - hour }]);
  expect(line).toMatchObject({
    did,
    state: 'departed',
    enrolled: false,
    found_by: [],
    events: { window: 1, week: 1, day: 1 },
  });
});

test('a labeler is listed if it was enrolled in the window', async () => {
  const never = { firstAnswered: null, lastAnswered: null, completeThrough: null, state: 'unavailable' };
  const listed = async (changes: Partial<RosterRow>, over: Partial<KnownLabeler> = {}) =>
    (await linesOf([labelerOf({ ...never, ...changes }, over)], [])).map(({ state }) => state);
  expect(await listed({ firstAsked: null })).toEqual(['unavailable']);
  expect(await listed({ firstAsked: null }, { resolutionStatus: 'no_labeler' })).toEqual([]);
  expect(await listed({ firstAsked: micros(now - 2 * day) })).toEqual(['departed']);
  expect(await listed({ firstAsked: micros(window.start - 2 * day) })).toEqual([]);
});

test('the states "denied" and "departed" and the problems of labelers are taken from the roster', () => {
  const of = (changes: Partial<RosterRow>, over: Partial<KnownLabeler> = {}, more: Partial<ListingContext> = {}) => {
    const { state, problem, enrolled } = listedLabeler(labelerOf(changes, over), { ...context, ...more });
    return [state, problem, enrolled];
  };
  expect(of({})).toEqual(['established', null, true]);
  expect(of({}, { denied: true })).toEqual(['denied', 'denied_by_operator', false]);
  expect(of({}, { resolutionStatus: 'no_labeler' })).toEqual(['departed', 'no_labeler_service', false]);
  expect(of({ state: 'refused' }, { resolutionStatus: 'bad_endpoint' })).toEqual([
    'refused',
    'endpoint_not_public',
    true,
  ]);
  expect(of({ state: 'undated_only' })).toEqual(['undated_only', 'labels_undated', true]);
  expect(of({ state: 'cursor_order_unverified' })).toEqual(['cursor_order_unverified', 'order_unverified', true]);
  expect(of({ state: 'unavailable' })).toEqual(['unavailable', 'unknown', true]);
  expect(of({}, {}, { pauseOf: () => 'source' })).toEqual(['established', 'share_exceeded', true]);
  expect(of({}, {}, { waits: () => true })).toEqual(['departed', 'unknown', false]);
});

test('a response after the end of the window counts as a response at its end', () => {
  const later = { lastAnswered: micros(now + 1_000_000) };
  expect(listedLabeler(labelerOf(later), context).lastAnswered).toBe(now);
});

test('a denied labeler is listed without its handle, because the handle might be the reason for the denial', () => {
  const handle = { handle: 'spiders.example', handleConfirmed: true };
  expect(listedLabeler(labelerOf({}, handle), context).handle).toEqual({ name: 'spiders.example', confirmed: true });
  expect(listedLabeler(labelerOf({}, { ...handle, denied: true }), context).handle).toBe(null);
});

test('a problem of the last attempt is published until an attempt succeeds', () => {
  const labeler = labelerOf();
  labeler.tracker.apply({ kind: 'failed', now, fault: 'refusing', problem: 'authentication_required' });
  expect(listedLabeler(labeler, context)).toMatchObject({
    state: 'refused',
    problem: 'authentication_required',
    readBy: null,
  });
  labeler.tracker.apply({ kind: 'answered', now, dated: 1, undated: 0, live: null });
  labeler.tracker.apply({ kind: 'pages_read' });
  expect(listedLabeler(labeler, context)).toMatchObject({ state: 'established', problem: null, readBy: 'pages' });
});

describe('refused labels', () => {
  const refusals = (count: number, reason: RefusalReason = 'malformed') => [{ source: did, reason, count }];

  test.each<[string, boolean, ReturnType<typeof refusals>]>([
    ['many labels', true, [...refusals(50), ...refusals(50, 'future')]],
    ['one label', true, refusals(1)],
    ['one label among others that are too old', true, [...refusals(900, 'late'), ...refusals(1)]],
    ['none', false, []],
    ['too old', false, [...refusals(9, 'late'), ...refusals(9, 'pre_epoch')]],
    ['about a space', false, refusals(9, 'space_uri')],
    ['repeated', false, refusals(9, 'duplicate')],
  ])('that are %s make the problem: %s', (_, expected, refused) => {
    expect([...refusedLabelers(refused)]).toEqual(expected ? [did] : []);
  });

  const problemWith = async (agoHours: number, labeler = labelerOf(), gaps: StoredGap[] = []) => {
    const refused = refusals(1).map((one) => ({ ...one, at: now - agoHours * hour }));
    const content = { startedAt: start, rows: [{ labeler: did, at: now - 2 * hour }], gaps, refusals: refused };
    const reading = await new WindowReader(windowStore(() => content)).read(now, 30);
    const { entries } = listLabelers(reading, { ...context, origin: 'simulated', labelers: [labeler] });
    return entries.map(({ state, problem }) => [state, problem]);
  };

  test('and messages that were not understood are the problem of an established labeler for 24 hours, also after a restart', async () => {
    expect(await problemWith(1)).toEqual([['established', 'labels_refused']]);
    expect(await problemWith(24)).toEqual([['established', 'labels_refused']]);
    const unread = (end: number) => [{ source: did, start, end: micros(end), reason: 'not_observed' } as StoredGap];
    expect(await problemWith(25, labelerOf(), unread(now - day))).toEqual([['established', null]]);
    expect(await problemWith(25, labelerOf(), unread(now - day + 1))).toEqual([['established', 'labels_refused']]);
  });

  test('are not named if the labeler is not read, because its state has another problem', async () => {
    const labeler = labelerOf();
    labeler.tracker.apply({ kind: 'failed', now, fault: 'refusing', problem: 'authentication_required' });
    expect(await problemWith(1, labeler)).toEqual([['refused', 'authentication_required']]);
  });
});

test('a handle is published only if it is a valid handle, and not if it is a DID', async () => {
  const handleOf = async (name: string) => {
    const [line] = await linesOf([labelerOf({}, { handle: name, handleConfirmed: true })], []);
    return [line?.handle ?? null, line?.handle_withheld];
  };
  expect(await handleOf('mod.example.com')).toEqual([{ name: 'mod.example.com', confirmed: true }, undefined]);
  expect(await handleOf('did:plc:ewvi7nxzyoun6zhxrhs64oiz')).toEqual([null, 'privacy']);
  expect(await handleOf('MOD example')).toEqual([null, 'privacy']);
});

/** Returns the inputs that produce the longest possible line. */
function worst(over: Partial<LineInputs> = {}): LineInputs {
  const handle = `${'a'.repeat(60)}.`.repeat(4).slice(0, 249);
  const labeler = labelerOf({}, { handle: `${handle}.com`, handleConfirmed: false });
  const count = { applied: 1_999_999, removed: 1_999_999, repeats: 1_999_999, hours: 0 };
  const values = Array.from({ length: 200 }, (_, i) => ({
    value: `${'v'.repeat(20)}-${'abcdefghij'[i % 10]}${'abcdefghijklmnopqrst'[Math.floor(i / 10)]}`,
    first_defined: '2026-01-01',
    last_defined: '2026-02-01',
  }));
  return {
    labeler: {
      ...listedLabeler(labeler, context),
      did: `did:web:${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(60)}.example`,
    },
    days: Array.from({ length: 31 }, () => count),
    shares: Array.from({ length: 31 }, () => 0.1234),
    lateDays: Array.from({ length: 31 }, (_, i) => i),
    unread: Array.from({ length: 500 }, (_, i) => ({
      start: micros(window.start + i * hour),
      end: micros(window.start + (i + 0.5) * hour),
      reason: 'source_unavailable' as const,
    })),
    memory: new LabelerMemory(),
    ...{ week: 99_999_999, day: 99_999_999, lastRow: now },
    definitions: { isRead: true, values, omitted: 60_000, line: null } satisfies LabelerDefinitions,
    counters: {
      labeler: did,
      verdicts: {
        verified: 99_999_999,
        verified_earlier_key: 99_999_999,
        invalid: 99_999_999,
        unsigned: 99_999_999,
        unverified: 99_999_999,
      },
      values: values.map(({ value }, i) => ({ value, applied: 99_999_000 + i, removed: 0 })),
      others: { applied: 0, removed: 0 },
      delays: [99_999_999],
    },
    ...over,
  };
}

test('the longest line has at most 3,000 bytes, and gaps that do not fit are merged', () => {
  const text = labelerLine(worst());
  const line = JSON.parse(text) as LabelerLine;
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(labelersLimits.lineBytes);
  expect(line.gap_overflow).toBe(true);
  expect(line.gaps.at(0)?.start).toBe(new Date(window.start / 1000).toISOString());
  expect(line.values.length + line.values_omitted).toBe(60_200);
});

test('values are listed by count until the line is full, and all other events count as undeclared', () => {
  const { counters } = worst();
  const undeclared = { value: 'undeclared', applied: 7, removed: 0 };
  const inputs = worst({
    counters: counters && { ...counters, values: [...counters.values, undeclared] },
    unread: [],
    labeler: listedLabeler(labelerOf(), context),
    definitions: { ...worst().definitions, omitted: 0 },
  });
  const text = labelerLine(inputs);
  const line = JSON.parse(text) as LabelerLine;
  expect(Buffer.byteLength(text)).toBeGreaterThan(labelersLimits.lineBytes - 250);
  expect(line.values[0]).toMatchObject({ events: 99_999_199 });
  const listed = line.values.reduce((sum, { events }) => sum + Number(events), 0);
  const all = Array.from({ length: 200 }, (_, i) => 99_999_000 + i).reduce((sum, count) => sum + count, 0);
  expect(listed + Number(line.undeclared)).toBe(all + 7);
  expect(line.values_omitted).toBe(200 - line.values.length);
});

test('the count of undeclared events is withheld if a value that does not fit into the line has no published count', () => {
  const { counters, definitions, ...inputs } = worst({ unread: [], labeler: listedLabeler(labelerOf(), context) });
  const zero = { value: 'never-used', first_defined: '2026-01-01', last_defined: null };
  const line = JSON.parse(
    labelerLine({ ...inputs, counters, definitions: { ...definitions, values: [...definitions.values, zero] } }),
  ) as LabelerLine;
  expect(line.values.every(({ events }) => typeof events === 'number')).toBe(true);
  expect(line.undeclared).toBeNull();
});

test('the values of a labeler have counts only if the store named all values of the labeler', () => {
  const { counters, ...inputs } = worst({ unread: [] });
  const others = { applied: 1, removed: 0 };
  const line = JSON.parse(labelerLine({ ...inputs, counters: counters && { ...counters, others } })) as LabelerLine;
  expect(new Set([...line.values.map(({ events }) => events), line.undeclared])).toEqual(new Set([null]));
});

test('lines with any counts and gaps stay within the maximum size', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 20_000_000 }), { minLength: 31, maxLength: 31 }),
      fc.integer({ min: 0, max: 40 }),
      fc.integer({ min: 0, max: 200 }),
      fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 200 }),
      (counts, gaps, values, events) => {
        const inputs = worst();
        const own = inputs.definitions.values.slice(0, values);
        const counted = own.map(({ value }, i) => ({ value, applied: events[i] ?? 0, removed: 0 }));
        const text = labelerLine({
          ...inputs,
          days: counts.map((applied) => ({ applied, removed: 0, repeats: 0, hours: 0 })),
          unread: inputs.unread.slice(0, gaps),
          definitions: { ...noDefinitions, values: own },
          counters: inputs.counters && { ...inputs.counters, values: counted },
        });
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(labelersLimits.lineBytes);
        const line = JSON.parse(text) as LabelerLine;
        const hidden = line.values.filter(({ events: count }) => typeof count !== 'number').map(({ value }) => value);
        expect(hidden).toEqual(hidden.toSorted());
      },
    ),
    { numRuns: 60 },
  );
});

test('counts of values, verdicts and delays are null before the counters begin', () => {
  const line = JSON.parse(labelerLine(worst({ counters: null }))) as LabelerLine;
  expect([line.signatures, line.undeclared, line.delay_ms, line.values[0]?.events]).toEqual([null, null, null, null]);
});

test('if reading changed definitions takes too long, the definitions of the newest labelers wait for the next publication', async () => {
  const later = 'did:plc:22222222222222222222zzzz';
  const recent = labelerFromRow(
    rosterRow(later, { firstAsked: now, firstAnswered: now, lastAnswered: now, completeThrough: now }),
    null,
  );
  let milliseconds = 0;
  let content = { labelValues: ['spam'] };
  const definitions = new DefinitionCache({
    definitions: async (of) => {
      milliseconds += 7_000;
      return [{ did: of, seenAt: now, content: JSON.stringify(content) }];
    },
  });
  const listed = async (): Promise<unknown> => {
    const reading = await new WindowReader(windowStore(() => ({ startedAt: start, rows: [] }))).read(now, 30);
    const failed = (_: string, error: unknown): never => {
      throw error;
    };
    const inputs = { ...context, origin: 'simulated' as const, labelers: [labelerOf(), recent], failed };
    const files = await makeLabelers(
      listLabelers(reading, inputs),
      { definitions, memories: new Map() },
      { ...inputs, monotonic: () => milliseconds },
    );
    const texts: string[] = [];
    for await (const text of files.labelers) texts.push(text);
    return Object.fromEntries(
      texts.slice(1).map((text) => {
        const line = JSON.parse(text) as LabelerLine;
        return [line.did, line.values.map(({ value }) => value)];
      }),
    );
  };
  expect(await listed()).toEqual({ [did]: ['spam'], [later]: [] });
  expect(await listed()).toEqual({ [did]: ['spam'], [later]: ['spam'] });
  content = { labelValues: ['rude'] };
  definitions.changed(did);
  definitions.changed(later);
  expect(await listed()).toEqual({ [did]: ['rude'], [later]: ['spam'] });
});

test('five thousand new active labelers do not displace a long-established labeler from the list', async () => {
  const digits = 'abcdefghijklmnopqrstuvwxyz234567';
  const strangers = Array.from({ length: 5_200 }, (_, i) => {
    const [x = '', y = '', z = ''] = [digits[i >> 10], digits[(i >> 5) & 31], digits[i & 31]];
    const times = { firstAsked: now, firstAnswered: now, lastAnswered: now, completeThrough: now };
    return labelerFromRow(rosterRow(`did:plc:222222222222222222222${x}${y}${z}`, times), null);
  });
  const rows = [...strangers.map((one) => ({ labeler: one.did, at: now - hour }))];
  const reading = await new WindowReader(windowStore(() => ({ startedAt: start, rows }))).read(now, 30);
  const labelers = [...strangers, labelerOf()];
  const { entries, omitted } = listLabelers(reading, { ...context, origin: 'simulated', labelers });
  expect([entries.length, omitted]).toEqual([5_000, 201]);
  expect(entries.map((one) => one.did)).toContain(did);
});

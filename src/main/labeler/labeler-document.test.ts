import { describe, expect, it, test } from 'vitest';
import { labelerDocument } from '../../../harness/labels/labeler-document.ts';
import type { LabelerEnvelope } from '../../contract/labelers.ts';
import { didOf, fetchLabeler, labelerLines, shapeProblem } from './labeler-document.ts';

/**
 * A handle identifies a labeler only if the service has confirmed it, because any DID document can claim any handle.
 */

const owner = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz';
const impostor = 'did:web:impostor.example.com';

async function found(handle: string, labelers: unknown) {
  const fetch = () => Promise.resolve(Response.json({ facts: { labelers } }));
  return didOf(handle, { base: 'http://facts.example.com', fetch, timeoutMs: 1_000, clock: Date.now });
}

const claimed = (did: string, name: string, confirmed: boolean) => ({ did, handle: { name, confirmed } });

test('the handle look-up finds the labeler with the confirmed handle, even if a different labeler claims the same handle', async () => {
  const list = [claimed(impostor, 'mod.example.com', false), claimed(owner, 'Mod.Example.com', true)];
  expect(await found('mod.example.com', list)).toBe(owner);
});

test('the handle look-up rejects a handle that is only claimed, and names the labelers that claim it', async () => {
  const list = [claimed(impostor, 'mod.example.com', false), { did: owner, handle: null }];
  expect(await found('mod.example.com', list)).toMatchObject({
    kind: 'unknown',
    why: expect.stringContaining(impostor),
  });
  expect(await found('other.example.com', list)).toMatchObject({ kind: 'unknown' });
});

test('the handle look-up rejects a handle that two labelers have confirmed, and a response without a list', async () => {
  const twice = [claimed(owner, 'mod.example.com', true), claimed(impostor, 'mod.example.com', true)];
  const claim = claimed('did:web:third.example.com', 'mod.example.com', false);
  expect(await found('mod.example.com', [...twice, claim])).toEqual({
    kind: 'unknown',
    why: `the handle mod.example.com is confirmed for each of ${owner}, ${impostor}; give the DID instead of the handle`,
  });
  expect(await found('mod.example.com', 'none')).toMatchObject({ kind: 'refused' });
});

test.each([
  ['built longer ago than caches may keep it', 181, {}, 'built 181 s ago'],
  ['of an artifact that the service refuses by now', 100, { age_seconds: 861 }, 'the artifact is 961 s old'],
])('a document that a cache repeats is not shown if it is %s', async (_what, seconds, fields, why) => {
  const document = { ...labelerDocument(owner), ...fields };
  const headers = { 'Cache-Control': 'public, max-age=60' };
  const request = (elapsed: number) => ({
    base: 'http://facts.example.com',
    fetch: () => Promise.resolve(Response.json(document, { headers })),
    timeoutMs: 1_000,
    clock: () => Date.parse(document.retrieved_at) + elapsed * 1000,
  });
  expect(await fetchLabeler(owner, request(seconds - 1))).toMatchObject({ kind: 'document' });
  expect(await fetchLabeler(owner, request(seconds))).toEqual({
    kind: 'refused',
    why: expect.stringContaining(why),
  });
  const list = { ...document, facts: { labelers: [claimed(owner, 'mod.example.com', true)] } };
  const listed = { ...request(seconds), fetch: () => Promise.resolve(Response.json(list, { headers })) };
  expect(await didOf('mod.example.com', listed)).toMatchObject({ kind: 'refused' });
});

const document = labelerDocument();
const builtAt = Date.parse(document.retrieved_at);
const text = (changes: Partial<LabelerEnvelope['facts']> = {}, width = 80): string =>
  labelerLines({ ...document, facts: { ...document.facts, ...changes } }, width, builtAt).join('\n');

describe('the document of a labeler on a terminal', () => {
  it('begins with the name, the conclusion and the remedy', () => {
    const lines = labelerLines(document, 80, builtAt);
    expect(lines.slice(0, 5)).toEqual([
      'mod.example.com (did:plc:labelerlabelerlabelerlab)',
      '',
      'Not read on 2 of the last 7 days; what it did then is not known.',
      'The endpoint answers 403: allow anonymous reading.',
      '',
    ]);
  });

  it.each([
    [105, 100, 5],
    [5, -100, 5],
    [0, 3, -10],
  ])('ends with the age of %d s, %d s after the service built it with the age of %d s', (age, elapsed, age_seconds) => {
    const lines = labelerLines({ ...document, age_seconds }, 80, builtAt + elapsed * 1000);
    expect(lines.at(-1)).toMatch(new RegExp(`^As of .* UTC, ${age} s ago\\.$`));
  });

  it('shows unread days as not read, and never as zero', () => {
    const lines = text().split('\n');
    const from = lines.indexOf('Events by day (UTC)');
    expect(lines.slice(from + 1, from + 6)).toEqual([
      'day                       applied  removed  read',
      '2026-07-01                     10        2  100\u00a0%',
      '2026-07-02 to 2026-07-03        -        -  not read',
      '2026-07-04                      0        0  50\u00a0%',
      '',
    ]);
  });

  it('shows an unread span as not read', () => {
    const events = { window: 30, week: 0, day: null };
    expect(text({ events })).toContain('30 in the window, 0 in 7 days, not read in 24 hours');
  });

  it('shows the seconds of a gap that is shorter than a minute', () => {
    const gap = {
      start: '2026-07-04T11:00:05.000Z',
      end: '2026-07-04T11:00:09.000Z',
      reason: 'ingest_paused',
    } as const;
    expect(text({ gaps: [gap] })).toContain('2026-07-04 11:00:05 UTC to 2026-07-04 11:00:09 UTC');
    expect(text()).toContain('2026-07-04 11:00 UTC to 2026-07-04 12:00 UTC');
  });

  it('shows a small count in words and a withheld count as not published', () => {
    expect(text()).toContain('spam: 1,200 events; seen in its definitions since 2026-06-20');
    expect(text()).toContain('rude: fewer than 5 events');
    expect(text()).toContain('bot: number not published');
    expect(text()).toContain('all other values: fewer than 5 events');
  });

  it('shows neither a small count nor a zero if the labeler was not read in the window', () => {
    const unread = text({ events: { window: null, week: null, day: null } });
    expect(unread).toContain('rude: not read; seen in its definitions since');
    expect(unread).toContain('all other values: not read');
    expect(unread).toContain('No label of the labeler is known in the window.');
    expect(unread).not.toMatch(/^unsigned/m);
  });

  it("quotes the labeler's own definitions, and states that a definition is withheld", () => {
    expect(text()).toContain('“Spam: Unwanted advertising.”');
    expect(text()).toContain('Its definition is withheld, because it contains an identity.');
  });

  it('wraps every line to the width of the terminal', () => {
    for (const width of [60, 80, 120]) {
      for (const line of labelerLines(document, width, builtAt)) expect(line.length, line).toBeLessThanOrEqual(width);
    }
  });

  it('removes control characters from the names, descriptions and sentences of the service', () => {
    const hostile = JSON.parse(
      JSON.stringify(document, (key, value: unknown) =>
        ['conclusion', 'remedy', 'name', 'description', 'caveats'].includes(key) && typeof value === 'string'
          ? `\u001b[2J${value}\u202e\r\n`
          : value,
      ),
    ) as LabelerEnvelope;
    expect(shapeProblem(hostile)).toBeNull();
    expect(labelerLines(hostile, 80, builtAt).join('')).not.toMatch(/[\p{Cc}\u202e]/u);
  });

  it('states that signatures are not counted yet if the service does not count them', () => {
    expect(text({ signatures: null, counted_since: null })).toContain('Signatures are not counted yet.');
  });
});

describe('the shape of a response', () => {
  it('matches the published schema even with additional fields', () => {
    expect(shapeProblem(document)).toBeNull();
    expect(shapeProblem({ ...document, later: 1, facts: { ...document.facts, later: 1 } })).toBeNull();
  });

  it.each([
    ['a different contract', { ...document, contract: 'almanac.labeler/v2' }, '/contract'],
    ['a missing conclusion', { ...document, facts: { ...document.facts, conclusion: undefined } }, '/facts'],
    ['a string instead of a count', { ...document, facts: { ...document.facts, repeats: '3' } }, '/facts/repeats'],
    ['a string instead of an object', 'text', '/'],
  ])('does not match the published schema because of %s', (_, value, pointer) => {
    expect(shapeProblem(JSON.parse(JSON.stringify(value)))).toContain(pointer);
  });
});

import { describe, expect, it } from 'vitest';
import { labelerDocument } from '../../../harness/labels/labeler-document.ts';
import type { LabelerEnvelope } from '../../contract/labelers.ts';
import { labelerLines, shapeProblem } from './labeler-document.ts';

const document = labelerDocument();
const text = (changes: Partial<LabelerEnvelope['facts']> = {}, width = 80): string =>
  labelerLines({ ...document, facts: { ...document.facts, ...changes } }, width).join('\n');

describe('the document of a labeler on a terminal', () => {
  it('begins with the name, the conclusion and the remedy', () => {
    const lines = labelerLines(document, 80);
    expect(lines.slice(0, 5)).toEqual([
      'mod.example.com (did:plc:labelerlabelerlabelerlab)',
      '',
      'Not read on 2 of the last 7 days; what it did then is not known.',
      'The endpoint answers 403: allow anonymous reading.',
      '',
    ]);
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
      for (const line of labelerLines(document, width)) expect(line.length, line).toBeLessThanOrEqual(width);
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
    expect(labelerLines(hostile, 80).join('')).not.toMatch(/[\p{Cc}\u202e]/u);
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

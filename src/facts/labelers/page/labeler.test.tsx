import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import { aDefinition, aLabeler } from '../../../../harness/artifacts/labeler-facts.ts';
import type { LabelerFacts } from '../../../contract/labelers.ts';
import { Activity } from './activity.tsx';
import { Checks, LabelerGaps, Remedy, SourceState } from './labeler.tsx';
import { Values } from './values.tsx';

/** Returns the text of a component, with one line for each block. */
function textOf(component: VNode): string[] {
  return renderToString(component)
    .replace(/<svg.*?<\/svg>/gs, '')
    .replace(/<\/?(?:p|li|h[1-6]|dt|dd|summary|td|th|tr|figcaption|div|details|ul|section)\b[^>]*>/g, '\n')
    .replace(/<[^>]+>/g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

const valuesOf = (changes: Partial<LabelerFacts>) => textOf(<Values facts={aLabeler(changes)} />);

describe('the values of a labeler', () => {
  const value = { value: 'spam', first_defined: '2026-10-01', last_defined: null };

  it('show the count, the dates and the definition of each value', () => {
    const lines = valuesOf({ values: [{ ...value, events: 1200, last_defined: '2026-11-01' }] });
    expect(lines).toContain('1,200 events. Seen in its definitions since 2026-10-01, last on 2026-11-01.');
    expect(lines).toContain('Name of spam: Description of spam');
  });

  it.each([
    [5, '2026-11-01T00:00:00.000Z', '5 events.'],
    ['fewer_than_5', '2026-11-01T00:00:00.000Z', 'Fewer than five events.'],
    [null, '2026-11-01T00:00:00.000Z', 'Number withheld: it would reveal a small count.'],
    [null, null, 'Events not counted yet.'],
  ] as const)('show the count %j with counted_since %s as “%s”', (events, since, text) => {
    const lines = valuesOf({ counted_since: since, values: [{ ...value, events }] });
    expect(lines).toContain(`${text} Seen in its definitions since 2026-10-01.`);
  });

  it('have no count, not even the text for a small count, if the labeler was not read in the window', () => {
    const events = { window: null, week: null, day: null };
    const lines = valuesOf({ events, undeclared: 'fewer_than_5', values: [{ ...value, events: 'fewer_than_5' }] });
    expect(lines.join('\n')).not.toContain('Fewer than five');
    expect(lines).toContain('Not read, so its events are not known. Seen in its definitions since 2026-10-01.');
  });

  it('state that the number of undeclared events is not known if no value is known, instead of naming a small count', () => {
    const lines = valuesOf({
      values: [],
      undeclared: null,
      definitions: null,
      counted_since: '2026-11-01T00:00:00.000Z',
    });
    expect(lines.slice(1, 3)).toEqual(['Its definitions are not known.', 'No value is listed.']);
    expect(lines[3]).toMatch(/^The number of events of undeclared values is not known now\./);
  });

  it('show the English definition and hide the definitions in other languages under a summary', () => {
    const locales = [
      { lang: 'pt', name: 'Lixo', description: '' },
      { lang: 'en-GB', name: 'Junk', description: 'Unwanted' },
    ];
    const definitions = {
      seen_at: '2026-11-20T00:00:00.000Z',
      values: [aDefinition('spam', { locales })],
      values_omitted: 0,
    };
    expect(valuesOf({ definitions }).slice(3, 7)).toEqual([
      '120 events. Seen in its definitions since 2026-10-01.',
      'Junk: Unwanted',
      'In other languages',
      'Lixo',
    ]);
  });

  it('include defined values without events', () => {
    const definitions = { seen_at: '2026-11-20T00:00:00.000Z', values: [aDefinition('rude')], values_omitted: 0 };
    const lines = valuesOf({ values: [], definitions });
    expect(lines).toContain('rude');
    expect(lines).not.toContain('No value is listed.');
  });

  it('state that a value has no definition, that no definitions are known, or that no value is listed', () => {
    expect(valuesOf({ definitions: null })).toContain('No name or description of it is known now.');
    expect(valuesOf({ definitions: null })).toContain('Its definitions are not known.');
    expect(valuesOf({ definitions: null, values: [] })).toContain('No value is listed.');
  });

  it('show the common meaning of a value that the labeler does not describe', () => {
    const lines = valuesOf({ definitions: null, values: [{ ...value, value: 'graphic-media', events: 9 }] });
    const text = 'Common meaning, as the labeler provides no description: Depictions of violence or gore.';
    expect(lines.filter((line) => /Common meaning|No name or description/.test(line))).toEqual([text]);
  });

  it('mention a withheld text only if a text is withheld', () => {
    const text = 'A text of this definition is withheld, because it contains an identity.';
    const seen = { seen_at: '2026-11-20T00:00:00.000Z', values_omitted: 0 };
    expect(valuesOf({})).not.toContain(text);
    expect(valuesOf({ definitions: { ...seen, values: [aDefinition('spam', { withheld: 'privacy' })] } })).toContain(
      text,
    );
  });

  it('set the language of a definition only if its tag is well-formed', () => {
    const languageOf = (lang: string): string | undefined => {
      const values = [aDefinition('spam', { locales: [{ lang, name: 'n', description: 'd' }] })];
      const definitions = { seen_at: '2026-11-20T00:00:00.000Z', values, values_omitted: 0 };
      const html = renderToString(<Values facts={aLabeler({ definitions })} />);
      return /class="definition" lang="([^"]*)"/.exec(html)?.[1];
    };
    expect(['de', 'pt-BR', 'zh-Hans-CN', 'x', 'de_DE', '" onclick="'].map(languageOf)).toEqual([
      ...['de', 'pt-BR', 'zh-Hans-CN'],
      ...[undefined, undefined, undefined],
    ]);
  });
});

describe('the gaps of a labeler', () => {
  const long = {
    start: '2026-11-01T00:00:00.000Z',
    end: '2026-11-02T00:00:00.000Z',
    reason: 'source_unavailable',
  } as const;
  const short = { start: '2026-11-03T10:00:01.000Z', end: '2026-11-03T10:00:09.000Z', reason: 'cursor_reset' } as const;
  const gapsOf = (changes: Partial<LabelerFacts>) => textOf(<LabelerGaps facts={aLabeler(changes)} />);

  it('are listed newest first with their reasons, and with seconds only if both ends are in the same minute', () => {
    expect(gapsOf({ gaps: [long, short] }).slice(1)).toEqual([
      '3 Nov 2026, 10:00:01 UTC to 3 Nov 2026, 10:00:09 UTC: the position in the labeler’s stream was lost',
      '1 Nov 2026, 00:00 UTC to 2 Nov 2026, 00:00 UTC: the labeler was unavailable or not followed',
    ]);
  });

  it('are split at the denial of the labeler', () => {
    expect(gapsOf({ state: 'denied', state_since: '2026-11-01T12:00:00.000Z', gaps: [long] }).slice(1)).toEqual([
      '1 Nov 2026, 12:00 UTC to 2 Nov 2026, 00:00 UTC: the operator of Almanac decided not to read it',
      '1 Nov 2026, 00:00 UTC to 1 Nov 2026, 12:00 UTC: the labeler was unavailable or not followed',
    ]);
  });

  it('are replaced by a warning about unrecorded gaps if no gap is recorded', () => {
    expect(gapsOf({})).toEqual([
      'Not read',
      'No gap is recorded in the window. That does not prove that everything was observed.',
    ]);
  });

  it('state that gaps were merged', () => {
    expect(gapsOf({ gaps: [long], gap_overflow: true }).at(-1)).toBe(
      'There were more gaps than can be listed: the closest ones are merged, including the time between them.',
    );
  });
});

describe('the state of a labeler', () => {
  const stateOf = (changes: Partial<LabelerFacts>) => textOf(<SourceState facts={aLabeler(changes)} />);

  it('shows all details of a labeler that is read', () => {
    expect(stateOf({}).slice(1)).toEqual([
      ...['State', 'Read, since 2 Oct 2026, 00:00 UTC'],
      ...['Found in', 'the list that Almanac started with'],
      ...['Read', 'as a stream (subscribeLabels)'],
      ...['First read', '1 Oct 2026, 00:00 UTC'],
      ...['Last read', '20 Nov 2026, 11:59 UTC'],
      ...['Last row accepted', '20 Nov 2026, 11:58 UTC'],
      ...['Its database', 'It keeps every row of a label, so that gaps can be filled in later.'],
    ]);
  });

  it('shows unknown details as unknown', () => {
    const unknown = { found_by: [], read_by: null, first_answered: null, last_answered: null, last_row: null };
    expect(stateOf({ ...unknown, replaces_rows: null }).slice(3)).toEqual([
      ...['Found in', 'not known', 'Read', 'not now'],
      ...['First read', 'none', 'Last read', 'none', 'Last row accepted', 'none'],
      ...['Its database', 'It is not known whether it keeps every row of a label.'],
    ]);
  });

  it('includes a remedy for the operator if the labeler has a problem, and links to the page for operators', () => {
    const remedy = <Remedy facts={aLabeler({ remedy: 'Allow anonymous reading.' })} />;
    expect(textOf(remedy)).toEqual([
      'For the operator of this labeler',
      'Allow anonymous reading.',
      'Almanac continues to try by itself. Which requests a labeler receives and how often, and how to ask for a change',
    ]);
    expect(renderToString(remedy)).toContain('href="../for-labelers"');
    expect(textOf(<Remedy facts={aLabeler({ remedy: 'Ask.', problem: 'denied_by_operator' })} />).at(-1)).not.toContain(
      'Almanac',
    );
    expect(textOf(<Remedy facts={aLabeler({ remedy: null })} />)).toEqual([]);
  });

  it('states that a labeler replaces rows', () => {
    expect(stateOf({ replaces_rows: true }).at(-1)).toBe(
      'It keeps only the newest row of each label, so that events that Almanac missed cannot be read later.',
    );
  });
});

describe('the signatures and the delay of a labeler', () => {
  const checksOf = (changes: Partial<LabelerFacts>) => textOf(<Checks facts={aLabeler(changes)} />);

  it('are shown with the instant at which counting began', () => {
    expect(checksOf({}).slice(1)).toEqual([
      'Counted since 1 Nov 2026, 00:00 UTC.',
      '118 signed with the current key',
      '2 signed with an earlier key',
      '0 with an invalid signature',
      '0 not signed',
      '0 not verified: no key, or only one that may be outdated, was available',
      'Delay from the time stated in a label to its acceptance: at most 400 ms for half of the 100 labels that arrived ' +
        'live, and at most 900 ms for nine out of ten.',
      'half of the labels',
      'nine out of ten',
    ]);
    const bars = renderToString(<Checks facts={aLabeler({})} />).match(/<rect width="[^"]*"/g);
    expect(bars).toEqual(['<rect width="44.444%"', '<rect width="100%"']);
  });

  it('are not shown as zero before counting begins', () => {
    const text = ['Signatures are not counted yet.', 'The delay of its labels is not known.'];
    expect(checksOf({ counted_since: null, delay_ms: null }).slice(1)).toEqual(text);
    expect(checksOf({ signatures: null, delay_ms: null }).slice(1)).toEqual(text);
  });

  it('are not shown as zero if the labeler was not read in the window', () => {
    expect(checksOf({ events: { window: null, week: null, day: null }, delay_ms: null }).slice(1)).toEqual([
      'No label of this labeler is known in the window, so no signature was checked.',
      'The delay of its labels is not known.',
    ]);
  });
});

describe('the activity of a labeler', () => {
  const days = [
    { day: '2026-11-18', applied: null, removed: null, read_share: 0 },
    { day: '2026-11-19', applied: 7, removed: 0, read_share: 0.5 },
  ];

  it('shows an unread day as unknown, never as zero', () => {
    const lines = textOf(<Activity facts={aLabeler({ days })} />);
    expect(lines.slice(lines.findIndex((line) => line.startsWith('2026-11-18')))).toEqual([
      ...['2026-11-18Not read: reason not recorded', 'not known', 'not known', '0\u00a0%'],
      ...['2026-11-19Not read: reason not recorded', '7', '0', '50\u00a0%'],
      ...['Not shown here', 'What the labeler did while it was not read, and which labels are active now.'],
    ]);
  });

  it('shows the events of an unread span as not read, never as zero', () => {
    const lines = textOf(<Activity facts={aLabeler({ days, events: { window: 9, week: 0, day: null } })} />);
    expect([lines[lines.indexOf('in the last 24 hours') - 1], lines[lines.indexOf('in the last 7 days') - 1]]).toEqual([
      'not read',
      '0',
    ]);
  });

  it('names the days on which labels were read late, in the text, the table and the picture', () => {
    const late = days.map((one, at) => ({ ...one, read_late: at === 1 }));
    const lines = textOf(<Activity facts={aLabeler({ days: late })} />);
    expect(lines.find((line) => line.includes('labels were read late'))).toContain('On 2026-11-19');
    expect(renderToString(<Activity facts={aLabeler({ days: late })} />)).toContain('7 applied, 0 removed, read late');
    expect(lines.join(' ')).toContain('50\u00a0%, read late');
    expect(textOf(<Activity facts={aLabeler({ days })} />).join(' ')).not.toContain('read late');
  });

  it('shows the number of repeats that the counts exclude', () => {
    const text = 'Not counted: 40 rows that repeat known labels after a change of key.';
    expect(textOf(<Activity facts={aLabeler({ repeats: 40 })} />)).toContain(text);
    expect(textOf(<Activity facts={aLabeler()} />).filter((line) => line.startsWith('Not counted'))).toEqual([]);
  });

  it('marks gaps and days without counts in the picture', () => {
    const gaps = [
      { start: '2026-11-18T00:00:00.000Z', end: '2026-11-19T00:00:00.000Z', reason: 'maintenance' },
    ] as const;
    const legendOf = (facts: LabelerFacts) =>
      textOf(<Activity facts={facts} />).filter((line) => /not read|not known|not observed/i.test(line));
    const drawn = renderToString(<Activity facts={aLabeler({ days, gaps: [...gaps] })} />);
    const reason = 'maintenance of Almanac, or its operator removed the labels';
    expect(drawn).toContain(`<g class="plot-hole"><title>${reason}</title>`);
    expect(drawn).toContain(`<title>2026-11-18: counts not known, nothing read: ${reason}</title>`);
    expect(drawn).toContain('<title>2026-11-19: 7 applied, 0 removed, 50\u00a0% read: reason not recorded</title>');
    expect(drawn).toContain('30 days not observed, 1 day observed in part');
    expect(legendOf(aLabeler({ days })).length).toBeGreaterThan(legendOf(aLabeler()).length);
  });

  it('is not drawn for an empty window', () => {
    const window = { start: '2026-11-20T12:00:00.000Z', end: '2026-11-20T12:00:00.000Z' };
    expect(renderToString(<Activity facts={aLabeler({ window })} />)).not.toContain('data-name="chart"');
    expect(renderToString(<Activity facts={aLabeler()} />)).toContain('data-name="chart"');
  });
});

import { renderToString } from 'preact-render-to-string';
import { describe, expect, it } from 'vitest';
import {
  account,
  bodyOf,
  frameIn,
  labelers,
  linesOf,
  noRemovals,
  now,
  viewOf,
} from '../../harness/accounts/account-view.ts';
import { HomeBody } from '../../src/account/page/entry.tsx';
import { describePart, summaryOf } from '../../src/account/page/picture.tsx';
import { day, hour, micros, minute } from '../../src/store/time.ts';
import { languages } from '../../src/web/language.ts';

/** Returns the lines of an account page from the last line `from`, inclusive, to the next line `to`, exclusive. */
async function lines(options: Parameters<typeof viewOf>[0], from: string, to: string): Promise<string[]> {
  const all = linesOf(bodyOf(await viewOf(options)));
  const start = all.lastIndexOf(from);
  return all.slice(start, all.indexOf(to, start + 1));
}

const { t: en } = frameIn('en');
const post = `at://${account}/app.bsky.feed.post/3lb5xpd2ank2v`;
const profile = `at://${account}/app.bsky.actor.profile/self`;
const profileLink = 'Profile on bsky.app (leaves Almanac)';
const spam = ['spam', { name: 'Spam', description: 'Unwanted advertising.', lang: 'en' }] as const;

describe('the page of an account', () => {
  it('shows labels on the account itself first, then on posts, then on other records with their collection', async () => {
    const labels = [{ uri: profile }, { uri: post, cid: 'bafyrei' }, {}];
    expect(
      await lines({ labels, definitions: [spam] }, 'On the account itself', 'If you disagree with a label'),
    ).toEqual([
      'On the account itself',
      '(1)',
      'The account itself',
      ...observation('20 Nov 2026, 09:00:00 UTC'),
      'On posts',
      '(1)',
      post,
      ...observation('20 Nov 2026, 10:00:00 UTC', ['Version', 'bafyrei']),
      'On other records',
      '(1)',
      ...[profile, 'Collection', 'app.bsky.actor.profile'],
      ...observation('20 Nov 2026, 11:00:00 UTC'),
    ]);
  });

  it('shows the common meaning of a value that the labeler does not define', async () => {
    const label = { src: labelers[1], val: '!warn', cts: 'yesterday' };
    expect(await lines({ labels: [label], definitions: [spam] }, 'Applied', 'Observed (Almanac’s clock)')).toEqual([
      'Applied',
      '!warn',
      'by labeler',
      labelers[1],
      'Common meaning, as no definition by the labeler was observed: Applications show a warning before the subject.',
    ]);
  });

  it('shows a removal, an expiry and an unknown value as the labeler wrote them', async () => {
    const label = { src: labelers[1], val: 'odd', neg: true, cts: 'yesterday', exp: '2027-01-01' };
    expect(await lines({ labels: [label], definitions: [spam] }, 'Removed', 'On posts')).toEqual([
      'Removed',
      'odd',
      'by labeler',
      labelers[1],
      'No definition of this value by the labeler was observed.',
      'Observed (Almanac’s clock)',
      '20 Nov 2026, 11:00:00 UTC',
      'Authored (as the labeler wrote it)',
      'yesterday',
      'Expires (as the labeler wrote it)',
      '2027-01-01',
      'Signature',
      'Verified with the labeler’s key',
      profileLink,
    ]);
  });

  it('links each observation to the labeler’s own response, and marks every link that leaves Almanac', async () => {
    const { network } = await viewOf({});
    const origins = new Map([[labelers[0], 'https://labels.example.com']]);
    const labels = [{ uri: post }, { src: labelers[1] }];
    const html = bodyOf(await viewOf({ labels, change: { network: { ...network, origins } } }));
    const links = [...html.matchAll(/<a href="(https:[^"]*)"([^>]*)>([^<]*)/g)].map(([, ...found]) => found);
    const rel = ' rel="noreferrer"';
    expect(links).toEqual([
      [`https://bsky.app/profile/${labelers[1]}`, rel, profileLink],
      [`https://bsky.app/profile/${labelers[0]}`, rel, profileLink],
      [
        `https://labels.example.com/xrpc/com.atproto.label.queryLabels?uriPatterns=${encodeURIComponent(post)}`,
        rel,
        'The labeler’s current response (leaves Almanac and shows the labeler which account you ask about)',
      ],
    ]);
  });

  it.each([
    ['with', [{}]],
    ['without', []],
  ] as const)(
    'explains appeals and links to the explanation from the result (%s an observation)',
    async (_, labels) => {
      const heading = 'If you disagree with a label';
      const html = bodyOf(await viewOf({ labels }));
      expect(html).toContain(`<a href="#appeals">${heading}</a>`);
      expect(html).toContain(`<h2 id="appeals">${heading}</h2>`);
      expect(html).not.toContain('This account is simulated');
    },
  );

  it('begins with the result and the table of labelers and values, before the forms, the days and the lists', async () => {
    const html = bodyOf(await viewOf({ labels: [{}] }));
    const order = [
      '<h1',
      'applied and 0 removed',
      '<table',
      '<form',
      'id="timeline"',
      '<ol class="rows"',
      'id="coverage"',
    ];
    const places = order.map((part) => html.indexOf(part));
    expect(places).toEqual([...places].sort((a, b) => a - b));
    expect(places).not.toContain(-1);
  });

  it('shows a labeler by the name in its document, and marks an unconfirmed name', async () => {
    const labels = [{ src: labelers[0] }, { src: labelers[1] }];
    const { network } = await viewOf({});
    const names = new Map([
      [labelers[0], { name: 'moderation.example.com', confirmed: true }],
      [labelers[1], { name: 'bsky.app', confirmed: false }],
    ]);
    const said = linesOf(bodyOf(await viewOf({ labels, change: { network: { ...network, names } } }))).join(' ');
    expect(said).toContain(`by labeler moderation.example.com ${labelers[0]}`);
    expect(said).toContain(`by labeler bsky.app (claimed, not confirmed) ${labelers[1]}`);
    // Each name occurs four times: in the table, in the filter field, at the observation and in the list of labelers.
    expect(said.split(`moderation.example.com ${labelers[0]}`)).toHaveLength(5);
    expect(said.split(`bsky.app (claimed, not confirmed) ${labelers[1]}`)).toHaveLength(5);
  });

  it('states that labels may exist, and shows the empty interval, if there are no observations', async () => {
    const all = linesOf(bodyOf(await viewOf({}))).join('\n');
    expect(all).toContain('No observations in this interval.');
    expect(all).toContain('That does not mean that no labels exist');
    expect(all.match(/No events observed in this interval\./g)).toHaveLength(3);
  });

  it('describes unobserved time in words', async () => {
    const gap = {
      source: null,
      reason: 'ingest_paused' as const,
      start: micros(now - 3 * hour),
      end: micros(now - 2 * hour),
    };
    const startedAt = micros(now - 2 * day);
    const change = {
      startedAt,
      interval: { start: startedAt, end: now, askedStart: micros(now - 7 * day), clipped: true },
      frontier: { generationId: 'g', floor: startedAt, end: now, observedThrough: micros(now - hour), revision: 0 },
      network: {
        byState: new Map([
          ['established', 1],
          ['unavailable', 1],
        ]),
        notEnrolled: 3,
        names: new Map(),
        origins: new Map(),
        removed: noRemovals,
      },
    };
    expect(await lines({ ownGaps: [gap], change }, 'What was not observed', 'Download everything')).toEqual([
      'What was not observed',
      'Observation began on 18 Nov 2026, 12:00 UTC: nothing was observed in the 5 days before.',
      'No labeler has sent anything since 20 Nov 2026, 11:00 UTC: later events are unknown.',
      'Almanac was interrupted once in this interval, for 1 hour in total: nothing was observed then.',
      '1 of 2 labelers that Almanac follows was being read when Almanac last received anything, each from its last stored position onwards. Labels of the other labelers may be missing here: 1 did not respond. 3 known labelers were not read at all.',
      'Labels that a labeler applied and removed between two reads, or does not publish, are not observed.',
      'Interruptions of Almanac',
      '20 Nov 2026, 09:00:00 UTC',
      'to',
      '20 Nov 2026, 10:00:00 UTC',
      '(1 hour): interruption of Almanac',
    ]);
  });

  it('describes how labelers are read, and uses the past tense if no page was accepted for more than ten minutes', async () => {
    const byState = new Map([
      ['established', 2],
      ['unavailable', 1],
    ]);
    const said = async (silent: number): Promise<string> => {
      const frontier = { generationId: 'g', floor: micros(now - 40 * day), end: now, revision: 0 };
      const observedThrough = micros(now - silent);
      const network = { byState, notEnrolled: 1, names: new Map(), origins: new Map(), removed: noRemovals };
      const view = await viewOf({ labels: [{}], change: { network, frontier: { ...frontier, observedThrough } } });
      return linesOf(bodyOf(view)).join(' ');
    };
    const present = await said(10 * minute);
    expect(present).toContain(
      '2 of 3 labelers that Almanac follows are being read, each from its last stored position onwards. Labels of the other labelers may be missing here: 1 does not respond. 1 known labeler is not read at all.',
    );
    expect(present).toContain('State: being read, from its last stored position onwards.');
    const past = await said(10 * minute + 1);
    expect(past).toContain(
      '2 of 3 labelers that Almanac follows were being read when Almanac last received anything, each from its last stored position onwards. Labels of the other labelers may be missing here: 1 did not respond. 1 known labeler was not read at all.',
    );
    expect(past).toContain(
      'State when Almanac last received anything: being read, from its last stored position onwards.',
    );
    expect(past).not.toMatch(/\b(?:is|are) (?:being read|not read)|State: /);
  });

  it.each(languages)(
    'does not state in %s that the labels of a labeler are missing whose labels it shows',
    async (language) => {
      const { network } = await viewOf({});
      const byState = new Map([
        ['established', 1],
        ['unavailable', 1],
      ]);
      const html = bodyOf(
        await viewOf({ labels: [{}], change: { network: { ...network, byState } } }),
        frameIn(language),
      );
      const said = linesOf(html).join(' ');
      const mayBeMissing = {
        en: 'Labels of the other labelers may be missing here: 1 does not respond.',
        de: 'Von den anderen können hier Labels fehlen: 1 antwortet nicht.',
        es: 'Aquí pueden faltar etiquetas de los demás: 1 no responde.',
        pt: 'Aqui podem faltar rótulos dos outros: 1 não responde.',
        ja: '残りのラベラーについては、ラベルの一部がここにない可能性があります（応答なし：1）。',
      };
      expect(said).toContain(mayBeMissing[language]);
    },
  );

  it.each(languages)('does not blame a labeler in %s for a gap that the operator may have caused', async (language) => {
    const view = await viewOf({ labels: [{}] });
    const [source] = labelers;
    const gaps = (['source_unavailable', 'maintenance'] as const).map((reason, n) => {
      const start = micros(now - (2 + 2 * n) * hour);
      return { source, reason, start, end: micros(start + hour) };
    });
    const left = view.labelers.map((one) => ({ ...one, state: null, gaps }));
    const said = linesOf(bodyOf({ ...view, labelers: left }, frameIn(language))).join(' ');
    const reasons = {
      en: [
        'the labeler was unavailable or not followed',
        'maintenance of Almanac, or removal of the observations by its operator',
      ],
      de: [
        'der Labeler war nicht erreichbar oder wurde nicht gelesen',
        'Wartung von Almanac, oder sein Betreiber hat die Beobachtungen entfernt',
      ],
      es: [
        'el etiquetador no estaba disponible o no se leía',
        'mantenimiento de Almanac, o su operador eliminó las observaciones',
      ],
      pt: [
        'o rotulador estava indisponível ou não era lido',
        'manutenção do Almanac, ou seu operador removeu as observações',
      ],
      ja: ['ラベラーに接続できなかったか、読み取りの対象外だった', 'Almanacの保守、または運営者による観測の消去'],
    };
    expect(reasons[language].filter((reason) => !said.includes(reason))).toEqual([]);
  });

  it('states that events are unknown if no page was accepted since the start of the interval', async () => {
    const frontier = { generationId: 'g', floor: micros(now - 40 * day), end: now, revision: 0 };
    const said = async (begins: number) => {
      const interval = { start: micros(now - begins), end: now, askedStart: micros(now - begins), clipped: false };
      const change = { interval, shown: interval, frontier: { ...frontier, observedThrough: micros(now - minute) } };
      return linesOf(bodyOf(await viewOf({ change }))).join(' ');
    };
    const unknown = 'No labeler has sent anything since 20 Nov 2026, 11:59 UTC: later events are unknown.';
    expect([await said(minute), await said(minute / 2)]).toEqual(Array(2).fill(expect.stringContaining(unknown)));
    expect(await said(minute + 1)).not.toContain(unknown);
  });

  it("shows the time of each labeler's last successful read", async () => {
    expect(
      await lines(
        { labels: [{}, { src: labelers[1], neg: true }] },
        'Labelers of these observations',
        'Download everything',
      ),
    ).toEqual([
      'Labelers of these observations',
      labelers[0],
      '1 applied, 0 removed in this interval, regardless of the filters. State: being read, from its last stored position onwards. Last read successfully on',
      '20 Nov 2026, 11:59:30 UTC',
      '. No gap of this labeler alone is recorded in this interval. This does not prove that there was no gap.',
      labelers[1],
      '0 applied, 1 removed in this interval, regardless of the filters. State: being read, from its last stored position onwards. Last read successfully on',
      '20 Nov 2026, 11:59:30 UTC',
      '. No gap of this labeler alone is recorded in this interval. This does not prove that there was no gap.',
    ]);
  });

  it('repeats the chart as a table with marked unobserved days', async () => {
    const gap = {
      source: null,
      reason: 'ingest_paused' as const,
      start: micros(now - 3 * day),
      end: micros(now - day - 6 * hour),
    };
    expect(
      await lines(
        { labels: [{}, { neg: true }], ownGaps: [gap] },
        '1 applied and 1 removed, by UTC day of Almanac’s clock',
        'On the account itself',
      ),
    ).toEqual([
      '1 applied and 1 removed, by UTC day of Almanac’s clock',
      ...['Day', 'Applied', 'Removed', 'Not observed'],
      ...['13 Nov 2026', ', from 12:00', '0', '0'],
      ...['14 Nov 2026', '0', '0'],
      ...['15 Nov 2026', '0', '0'],
      ...['16 Nov 2026', '0', '0'],
      ...['17 Nov 2026', '0', '0', '12 hours'],
      ...['18 Nov 2026', 'not observed', 'all of it'],
      ...['19 Nov 2026', '0', '0', '6 hours'],
      ...['20 Nov 2026', ', until 12:00', '1', '1'],
    ]);
  });

  it('rounds unobserved time up in the summary, in the coverage, and for each gap and labeler', async () => {
    const start = micros(now - 6 * day - 23 * hour);
    const gap = { source: null, reason: 'ingest_paused' as const, start, end: micros(start + 3 * day + 90 * minute) };
    const view = await viewOf({ labels: [{}], ownGaps: [gap] });
    const labelers = view.labelers.map((one) => ({ ...one, gaps: [{ ...gap, source: one.labeler }] }));
    const missed = { labelers: 1, longest: 3 * day + minute };
    const said = linesOf(bodyOf({ ...view, labelers, missed })).join(' ');
    expect(said).toContain('3 days, 2 hours of this interval was not observed');
    expect(said).toContain('Almanac was interrupted once in this interval, for 3 days, 2 hours in total');
    expect(said).toContain('1 gap of its own, 3 days, 2 hours in total.');
    expect(said).toContain('(3 days, 2 hours): interruption of Almanac');
    expect(said).toContain(
      '1 labeler not listed below was not observed for some or all of this interval, 3 days, 1 hour in total: labels that it applied or removed then are unknown. The export lists it.',
    );
  });

  it('marks a day that is only partly in the interval', async () => {
    const html = bodyOf(await viewOf({ labels: [{}, { neg: true }] }));
    const titles = [...html.matchAll(/<title>([^<]*)<\/title>/g)].map(([, title]) => title);
    expect([titles[0], titles[1], titles.at(-1)]).toEqual([
      '13 Nov 2026, from 12:00: 0 applied, 0 removed',
      '14 Nov 2026: 0 applied, 0 removed',
      '20 Nov 2026, until 12:00: 1 applied, 1 removed',
    ]);
    const within = { start: micros(now - 90 * minute), end: micros(now - 30 * minute) };
    expect(describePart(within, en)).toBe(', from 10:30 until 11:30');
    expect(describePart({ start: micros(now - 12 * hour), end: micros(now + 12 * hour) }, en)).toBe('');
  });

  it('marks a long list as incomplete, with links to the rest and to the downloads', async () => {
    const view = await viewOf({ labels: [{}, {}] });
    const parts = view.parts.map((part) =>
      part.target === 'account' ? { ...part, total: 165_000, next: micros(now - 2 * hour) } : part,
    );
    const html = bodyOf({ ...view, parts });
    expect(linesOf(html).join(' ')).toContain('The newest 2 of 165,000 observations shown; this list is incomplete.');
    expect(html).toContain(
      `href="/account?did=${encodeURIComponent(account)}&amp;days=7&amp;target_kind=account&amp;before=2026-11-20T10:00:00.000000Z"`,
    );
    expect(html).toContain('href="/download?cursor=x"');
  });

  it('marks a sum as a minimum if it excludes days, in the text, the table and the list of labelers', async () => {
    const view = await viewOf({ labels: [{}, { neg: true }] });
    const days = view.timeline.days.map((day, i) => (i === 2 ? { ...day, counts: null } : day));
    const said = linesOf(bodyOf({ ...view, timeline: { ...view.timeline, days, uncounted: 1 } }));
    const sum = 'At least 1 applied and 1 removed (1 day not counted)';
    expect(said).toEqual(expect.arrayContaining([sum, `${sum}, by UTC day of Almanac’s clock`]));
    expect(said.join(' ')).toContain('At least 1 applied, 1 removed in this interval, regardless of the filters.');
  });

  it('does not present uncounted rows as zero rows', async () => {
    const { timeline } = await viewOf({});
    const at = '13 Nov 2026, 12:00 UTC and 20 Nov 2026, 12:00 UTC.';
    expect(summaryOf(timeline, false, en)).toBe(`No observation between ${at}`);
    expect(summaryOf({ ...timeline, uncounted: 1 }, false, en)).toBe(
      `No observation was counted between ${at} 1 day had too many rows to be counted here and is not included in these totals.`,
    );
  });

  it('states at the end of a list only that there are no earlier rows', async () => {
    const view = await viewOf({ labels: [{}] });
    const parts = view.parts.map((part) => (part.target === 'account' ? { ...part, rows: [] } : part));
    const said = linesOf(bodyOf({ ...view, parts, before: micros(now - 2 * hour) }));
    expect(said).toContain('No events observed in this interval before this position.');
    expect(said).not.toContain('No events observed in this interval.');
  });

  it('does not deny events that a filter excludes', async () => {
    const view = await viewOf({ labels: [{}] });
    const query = { ...view.query, filters: { value: 'another' } };
    const parts = view.parts.map((part) => ({ ...part, rows: [], next: null }));
    const timeline = { ...view.timeline, total: { applied: 0, removed: 0 } };
    const said = linesOf(bodyOf({ ...view, query, parts, timeline })).join(' ');
    expect(said.match(/No observations match the filters in this interval\./g)?.length).toBe(1 + parts.length);
    expect(said).toContain(
      'No observation between 13 Nov 2026, 12:00 UTC and 20 Nov 2026, 12:00 UTC matches the filters.',
    );
    const later = linesOf(bodyOf({ ...view, query, parts, timeline, before: micros(now - 2 * hour) })).join(' ');
    expect(later).toContain('No observations before this position match the filters.');
    expect(said + later).not.toMatch(/No events observed|12:00 UTC\. /);
  });

  it('names the labelers of the filter by the handles that their documents claim', async () => {
    const names = new Map([
      [labelers[0], { name: 'spam.example', confirmed: true }],
      [labelers[1], { name: 'rude.example\u202e', confirmed: false }],
    ]);
    const { network } = await viewOf({});
    const labels = [{}, { src: labelers[1] }, { src: 'did:web:nameless.example' }];
    const html = bodyOf(await viewOf({ labels, change: { network: { ...network, names } } }));
    const select = /<select[^>]* name="labeler".*?<\/select>/.exec(html)?.[0] ?? '';
    expect([...select.matchAll(/<option[^>]*>([^<]*)</g)].map(([, text]) => text)).toEqual([
      'any labeler',
      `spam.example ${labelers[0]}`,
      `rude.example\uFFFD (claimed, not confirmed) ${labelers[1]}`,
      'did:web:nameless.example',
    ]);
  });

  it('disables auto-capitalization and auto-correction for values and names', async () => {
    const home = renderToString(HomeBody({ frame: frameIn('en'), samples: [] }));
    const fields = [home, bodyOf(await viewOf({}))].flatMap(
      (html) => html.match(/<input[^>]*type="text"[^>]*>/g) ?? [],
    );
    expect(fields.map((field) => /name="(\w+)"/.exec(field)?.[1])).toEqual(['did', 'start', 'end', 'value']);
    const off = ['autocomplete="off"', 'autocapitalize="none"', 'autocorrect="off"', 'spellcheck="false"'];
    for (const field of fields) expect(off.filter((attribute) => !field.includes(attribute))).toEqual([]);
  });

  it('does not describe labels as active, current or in effect, and states that it does not know which labels apply', async () => {
    const gap = {
      source: null,
      reason: 'ingest_paused' as const,
      start: micros(now - 3 * day),
      end: micros(now - 2 * day),
    };
    const labels = [{}, { neg: true, exp: '2020-01-01T00:00:00Z' }, { uri: post }, { uri: profile, val: '!hide' }];
    for (const options of [{}, { labels }, { labels, ownGaps: [gap], definitions: [spam] }]) {
      const text = linesOf(bodyOf(await viewOf(options))).join(' ');
      expect(text).not.toMatch(/\b(?:active|currently|current|in effect|in force|is labell?ed|has the label)\b/i);
      expect(text).toContain('does not know which labels apply now');
    }
  });
});

function observation(observed: string, version: readonly string[] = []): string[] {
  return [
    'Applied',
    'spam',
    'by labeler',
    labelers[0],
    'Spam',
    'Unwanted advertising.',
    ...version,
    'Observed (Almanac’s clock)',
    observed,
    'Authored (as the labeler wrote it)',
    '2026-11-20T08:00:00Z',
    'Signature',
    'Verified with the labeler’s key',
    profileLink,
  ];
}

describe('suggestions for the value filter', () => {
  it('exclude values that contain invisible or direction-changing characters or exceed the maximum length of a filter', async () => {
    const view = await viewOf({});
    const values = ['spam', 'a\u202Eb', 'a\u2066b', 'a\u0007b', 'x'.repeat(129), 'rude'].map((value) => ({
      value,
      applied: 1,
      removed: 0,
    }));
    const html = bodyOf({ ...view, tally: { ...view.tally, values } });
    const [, list = ''] = /<datalist[^>]*>(.*?)<\/datalist>/.exec(html) ?? [];
    expect([...list.matchAll(/value="([^"]*)"/g)].map(([, value]) => value)).toEqual(['spam', 'rude']);
  });
});

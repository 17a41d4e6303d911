import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type LabelerFixture, labelerFixture } from '../../../harness/artifacts/labelers.ts';
import { labelersOpenApi } from '../../../harness/artifacts/openapi.ts';
import { figuresOn, untrueOn } from '../../../harness/pages/page-figures.ts';
import { labelersInMemory, memoryGraceMs, prepared } from '../../../harness/process/labelers.ts';
import type { LabelerDefinitionsLine, LabelerLine } from '../../artifact/labelers.ts';
import type { ErrorBody } from '../../contract/errors.ts';
import type { LabelerEnvelope, LabelersEnvelope } from '../../contract/labelers.ts';
import type { Reply } from '../../http/reply.ts';

const made = Date.parse('2026-11-20T12:00:00Z');
const now = made + 30_000;
const fixtureOf = (options: { count?: number; seed?: number; generatedAt?: number } = {}): LabelerFixture =>
  labelerFixture({ count: 12, seed: 5, generatedAt: made, ...options });

async function serving(fixture = fixtureOf()) {
  const app = labelersInMemory(now);
  await app.set(fixture);
  return app;
}

const otherEpoch = '11111111-7a43-4a3e-9a34-2f9a9a6d1b11';

const text = (reply: Reply): string => reply.body?.toString() ?? '';
const code = (reply: Reply): string => (JSON.parse(text(reply)) as { error: { code: string } }).error.code;
const header = ({ headers }: Reply, name: string): string | undefined => headers[headers.indexOf(name) + 1];

/** Returns the fixture with the given changes to its first labeler. */
function firstOf(fixture: LabelerFixture, changes: Partial<LabelerLine>): LabelerFixture {
  return {
    ...fixture,
    labelers: fixture.labelers.map((line, index) => (index === 0 ? { ...line, ...changes } : line)),
  };
}

const didOf = (fixture: LabelerFixture, index = 0): string => fixture.labelers[index]?.did ?? '';

/** Returns the middle of each bar of a path, which draws bars as lines or as boxes, with its start and its length. */
function barsOf(path = ''): [middle: number, bar: string][] {
  return [...path.matchAll(/M([\d.]+),([\d.]+)(?:h([\d.]+))?(v-?[\d.]+)/g)].map(([, x, y, width = '0', length]) => [
    Number(x) + Number(width) / 2,
    `${y}${length}`,
  ]);
}

describe('the documents about labelers', () => {
  it('match their OpenAPI document, and the list contains every labeler', async () => {
    const fixture = fixtureOf({ count: 60 });
    const app = await serving(fixture);
    const list = JSON.parse(text(app.get('/labelers.json'))) as LabelersEnvelope;
    expect(labelersOpenApi.faults('get', '/labelers.json', 200, list)).toEqual([]);
    expect(list.facts.labelers.map(({ did }) => did)).toEqual(fixture.labelers.map(({ did }) => did));
    for (const { did } of fixture.labelers) {
      const one = JSON.parse(text(app.get(`/labelers/${did}.json`))) as LabelerEnvelope;
      expect(labelersOpenApi.faults('get', '/labelers/{did}.json', 200, one)).toEqual([]);
    }
    expect(app.alarms).toEqual([]);
  });

  it('have the chart of a page as CSV and as SVG, which contain every day of the document, its counts and its holes', async () => {
    const fixture = fixtureOf({ count: 60, seed: 11 });
    const app = await serving(fixture);
    const line = fixture.labelers.find(({ gaps, state }) => gaps.length > 1 && state === 'established');
    const path = `/labelers/${line?.did}`;
    const { facts } = JSON.parse(text(app.get(`${path}.json`))) as LabelerEnvelope;
    const csv = app.get(`${path}.csv`);
    expect(header(csv, 'Content-Type')).toBe('text/csv; charset=utf-8; header=present');
    const [head, ...rows] = text(csv).trimEnd().split('\n');
    expect(head).toBe('start,end,applied,removed,observed_share,reason,origin');
    expect(rows.map((row) => row.split(',').slice(0, 4).with(1, ''))).toEqual(
      facts.days.map(({ day, applied, removed }) =>
        [`${day}T00:00:00.000Z`, '', applied, removed].map((one) => `${one ?? ''}`),
      ),
    );
    const svg = app.get(`${path}.svg`);
    expect(header(svg, 'Content-Type')).toBe('image/svg+xml; charset=utf-8');
    expect(text(svg)).toContain(`Labeler ${line?.did}. `);
    const page = text(app.get(path));
    for (const suffix of ['csv', 'svg']) expect(page).toContain(`href="./${line?.did}.${suffix}"`);
    const drawn = (body: string, name: string) => body.match(new RegExp(`class="${name}"[^>]* d="([^"]*)"`))?.[1];
    expect(drawn(text(svg), 'plot-observed')).toBe(drawn(page, 'plot-observed'));
    for (const name of ['plot-up', 'plot-down']) {
      expect(barsOf(drawn(text(svg), name)).map(([x, bar]) => [expect.closeTo(x, 1), bar])).toEqual(
        barsOf(drawn(page, name)),
      );
    }
    const holes = (body: string) =>
      [...body.matchAll(/<g class="plot-hole"><title>(.*?)<\/title>/g)].map(([, why]) => why);
    expect(holes(text(svg))).toEqual(holes(page));
    expect(holes(page).length).toBeGreaterThan(1);
    const etag = header(csv, 'ETag') ?? '';
    expect(app.get(`${path}.csv`, { ifNoneMatch: etag }).status).toBe(304);
    expect(code(app.get('/labelers/did:plc:ewvi7nxzyoun6zhxrhs64oiz.csv'))).toBe('unknown_labeler');
    expect(app.get('/labelers/unlisted.csv').status).toBe(404);
  });

  it('are served even if the DID in the path is percent-encoded', async () => {
    const fixture = fixtureOf();
    const app = await serving(fixture);
    const encoded = encodeURIComponent(didOf(fixture));
    expect(encoded).toContain('%3A');
    expect(text(app.get(`/labelers/${encoded}.json`))).toBe(text(app.get(`/labelers/${didOf(fixture)}.json`)));
    expect(app.get(`/labelers/${encoded}`).status).toBe(200);
    for (const path of ['/labelers/did%3Aplc%3', '/labelers/%FF.json', '/labelers/%2e%2e%2fpolicy'])
      expect(app.get(path).status).toBe(404);
  });

  it('return 304 for their current validator, which changes after a minute', async () => {
    const fixture = fixtureOf();
    const app = await serving(fixture);
    for (const path of ['/labelers.json', `/labelers/${didOf(fixture)}.json`]) {
      const etag = header(app.get(path), 'ETag');
      expect(app.get(path, { ifNoneMatch: etag ?? '' }).status).toBe(304);
      expect(app.get(path, { ifNoneMatch: etag ?? '', at: now + 60_000 }).status).toBe(200);
    }
  });

  it('are compressed on request', async () => {
    const fixture = fixtureOf();
    const app = await serving(fixture);
    const reply = app.get(`/labelers/${didOf(fixture)}.json`, { acceptEncoding: 'br' });
    expect(header(reply, 'Content-Encoding')).toBe('br');
    expect(reply.body?.length).toBeLessThan(text(app.get(`/labelers/${didOf(fixture)}.json`)).length / 2);
  });

  it('do not deny that a labeler is followed that the list omits', async () => {
    const fixture = fixtureOf();
    const app = await serving({ ...fixture, header: { ...fixture.header, omitted: 7 } });
    const { conclusion } = (JSON.parse(text(app.get('/labelers.json'))) as LabelersEnvelope).facts;
    const { error } = JSON.parse(text(app.get('/labelers/did:plc:aaaaaaaaaaaaaaaaaaaaaaaa.json'))) as ErrorBody;
    expect([conclusion, error.message]).toEqual([
      expect.stringContaining('listed labelers that Almanac follows'),
      'This labeler is not in the list of labelers that Almanac follows or followed in the window. See labelers.json below the base address; its field "omitted" counts the labelers that are not listed.',
    ]);
  });

  it('return a specific error code for an unknown labeler, and the error code of an unknown path for any other name', async () => {
    const app = await serving();
    expect(code(app.get('/labelers/did:plc:aaaaaaaaaaaaaaaaaaaaaaaa.json'))).toBe('unknown_labeler');
    expect(app.get('/labelers/did:plc:aaaaaaaaaaaaaaaaaaaaaaaa')).toMatchObject({ status: 404 });
    for (const name of [
      'did:plc:a',
      'alice',
      `${'a.'.repeat(40)}com`,
      '..%2f',
      '',
      'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa/x',
    ]) {
      expect(code(app.get(`/labelers/${name}`)), name).toBe('not_found');
    }
  });

  it('are found by a handle that exactly one labeler has confirmed; any other handle redirects to the search', async () => {
    const named = (name: string, confirmed = true) => firstOf(fixtureOf(), { handle: { name, confirmed } });
    const app = labelersInMemory(now);
    const places = async (fixture: LabelerFixture, path: string) => {
      await app.set(fixture);
      const reply = app.get(path);
      return [reply.status, header(reply, 'Location'), header(reply, 'Cache-Control'), reply.body];
    };
    const did = didOf(fixtureOf());
    const found = [302, `./${did}`, 'no-store', null];
    const search = (handle: string) => [302, `../labelers?q=${handle}`, 'no-store', null];
    expect(await places(named('Mod.Example.com'), '/labelers/mod.example.COM')).toEqual(found);
    expect(await places(named('mod.example.com'), '/labelers/@mod.example.com')).toEqual(found);
    expect(await places(named('mod.example.com', false), '/labelers/mod.example.com')).toEqual(
      search('mod.example.com'),
    );
    expect(await places(fixtureOf(), '/labelers/other.example.com')).toEqual(search('other.example.com'));
    const twice = named('mod.example.com');
    const [, second] = twice.labelers;
    if (second) Object.assign(second, { handle: { name: 'mod.example.com', confirmed: true } });
    expect(await places(twice, '/labelers/mod.example.com')).toEqual(search('mod.example.com'));
    expect(app.get('/labelers/mod.example.com.json').status).toBe(404);
  });

  it('never publish a count below five, even if the artifact contains such a count', async () => {
    const fixture = fixtureOf();
    const value = { value: 'spam', events: 3, first_defined: '2026-11-01', last_defined: null };
    const app = await serving(firstOf(fixture, { undeclared: 2, values: [value] }));
    const { facts } = JSON.parse(text(app.get(`/labelers/${didOf(fixture)}.json`))) as LabelerEnvelope;
    expect([facts.undeclared, facts.values[0]?.events]).toEqual(['fewer_than_5', 'fewer_than_5']);
  });
});

describe('the pages about labelers', () => {
  it('show only numbers that their JSON contains, for arbitrary artifacts', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.nat(),
        fc.integer({ min: 1, max: 8 }),
        fc.string({ unit: 'binary' }),
        async (seed, count, foreign) => {
          const fixture = withForeignText(fixtureOf({ seed, count }), foreign);
          const app = await serving(fixture);
          const labelers = JSON.parse(text(app.get('/labelers.json'))) as LabelersEnvelope;
          expect(untrueOn(text(app.get('/labelers')), { labelers })).toEqual([]);
          for (const { did } of fixture.labelers) {
            const document = app.get(`/labelers/${did}.json`);
            const page = app.get(`/labelers/${did}`);
            // The privacy scan may refuse the untrusted text. It then refuses the page as well.
            expect(page.status).toBe(document.status);
            if (document.status !== 200) continue;
            const labeler = JSON.parse(text(document)) as LabelerEnvelope;
            expect(untrueOn(text(page), { labeler })).toEqual([]);
            const isShown = labeler.facts.events.window !== null;
            expect(figuresOn(text(page)).includes('labeler/facts/events/window')).toBe(isShown);
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  it('do not show an unread day as zero', async () => {
    const fixture = fixtureOf();
    const days = fixture.header.days.map((): [null, null, number] => [null, null, 0]);
    const app = await serving(firstOf(fixture, { days }));
    const page = text(app.get(`/labelers/${didOf(fixture)}`));
    expect(page).not.toContain('data-at="labeler/facts/days/0/applied"');
    expect(page).toContain('not known');
  });

  it('are cached like facts, unless the list has a query', async () => {
    const fixture = fixtureOf({ count: 120 });
    const app = await serving(fixture);
    for (const path of [
      '/labelers',
      '/labelers?x=1',
      `/labelers/${didOf(fixture)}`,
      `/labelers/${didOf(fixture)}?q=a`,
    ]) {
      expect(header(app.get(path), 'Cache-Control'), path).toBe('public, max-age=60');
      expect(app.get(path, { ifNoneMatch: header(app.get(path), 'ETag') ?? '' }).status).toBe(304);
    }
    for (const path of ['/labelers?q=labeler', '/labelers?page=2', '/labelers?sort=name', '/labelers?state=refused']) {
      expect(header(app.get(path), 'Cache-Control'), path).toBe('no-store');
    }
  });

  it('show the rows of the newest artifact for a repeated query', async () => {
    const app = await serving();
    const path = '/labelers?q=did';
    const before = text(app.get(path));
    const newer = fixtureOf({ seed: 6, generatedAt: made + 20_000 });
    await app.set(newer);
    const after = text(app.get(path));
    expect(before).not.toBe(after);
    for (const { did } of newer.labelers) expect(after).toContain(`"./labelers/${did}"`);
  });

  it('escape the search text', async () => {
    const app = await serving();
    expect(text(app.get('/labelers?q=%22%3E%3Cscript%3E'))).not.toContain('<script');
  });
});

describe('a pair of a label overview and a labelers artifact', () => {
  const paths = (fixture: LabelerFixture) => ['/labelers', '/labelers.json', `/labelers/${didOf(fixture)}.json`];

  it('is refused if its overview is held, stale or missing', async () => {
    const fixture = fixtureOf();
    const app = await serving(fixture);
    app.setOverview({ ...fixture.overview, hold: true });
    expect(code(app.get('/labelers.json'))).toBe('source_held');
    app.setOverview(fixture.overview);
    expect(code(app.get('/labelers.json', { at: now + 7_300_000 }))).toBe('source_stale');
    app.setOverview(null);
    expect(code(app.get('/labelers.json'))).toBe('source_unavailable');
    for (const path of paths(fixture)) expect(app.get(path).status, path).toBe(503);
  });

  it('is refused before the validator is compared', async () => {
    const fixture = fixtureOf();
    const app = await serving(fixture);
    const etag = header(app.get('/labelers.json'), 'ETag') ?? '';
    app.setOverview({ ...fixture.overview, hold: true });
    expect(app.get('/labelers.json', { ifNoneMatch: etag }).status).toBe(503);
  });

  it.each(['missing', 'unreadable'] as const)(
    'is refused if the labelers are %s, without affecting the facts',
    async (kind) => {
      const app = await serving();
      app.setReading({ kind, why: 'for this test' });
      expect(code(app.get('/labelers.json'))).toBe('source_unavailable');
      expect(app.get('/v1/labels/overview').status).toBe(200);
    },
  );

  it('is served for the grace period after a newer overview has appeared, and refused afterwards', async () => {
    const fixture = fixtureOf();
    const app = await serving(fixture);
    expect(app.get('/labelers.json').status).toBe(200);
    const newer = fixtureOf({ generatedAt: made + 20_000 });
    app.setOverview(newer.overview);
    const kept = app.get('/labelers.json', { at: now + 1_000 });
    expect((JSON.parse(text(kept)) as LabelersEnvelope).generated_at).toBe('2026-11-20T12:00:00.000Z');
    expect(app.get('/labelers.json', { at: now + 1_000 + memoryGraceMs }).status).toBe(200);
    expect(code(app.get('/labelers.json', { at: now + 1_001 + memoryGraceMs }))).toBe('source_unavailable');
    app.setReading({ kind: 'readable', sets: [await prepared(newer)] });
    expect(app.get('/labelers.json', { at: now + 1_001 + memoryGraceMs }).status).toBe(200);
  });

  it('is refused even within the grace period if the newer overview is held', async () => {
    const app = await serving();
    app.get('/labelers.json');
    app.setOverview({ ...fixtureOf({ generatedAt: made + 20_000 }).overview, hold: true });
    expect(code(app.get('/labelers.json', { at: now + 100 }))).toBe('source_held');
  });

  it.each([
    ['another epoch', otherEpoch, 'live'],
    ['another network', undefined, 'simulated'],
  ])('is refused even within the grace period if the newer overview is of %s', async (_what, epoch, origin) => {
    const app = await serving();
    expect(app.get('/labelers.json').status).toBe(200);
    const overview = fixtureOf({ generatedAt: made + 20_000 }).overview as { acquisition: { generation_id: string } };
    const generation_id = epoch ?? overview.acquisition.generation_id;
    app.setOverview({ ...overview, origin, acquisition: { ...overview.acquisition, generation_id } });
    expect(code(app.get('/labelers.json', { at: now + 100 }))).toBe('source_unavailable');
  });

  it('is refused if the labelers belong to a different epoch, even if they have the same generated_at', async () => {
    const fixture = fixtureOf();
    const app = labelersInMemory(now);
    app.setOverview(fixture.overview);
    const generation_id = otherEpoch;
    const other = {
      header: { ...fixture.header, generation_id },
      definitionsHeader: { ...fixture.definitionsHeader, generation_id },
    };
    app.setReading({ kind: 'readable', sets: [await prepared({ ...fixture, ...other })] });
    expect(code(app.get('/labelers.json'))).toBe('source_unavailable');
  });
});

describe('the privacy scan of the documents about labelers', () => {
  it.each([
    ['a DID', 'see did:plc:ar7c4by46qjdydhdevvrndac'],
    ['an AT-URI', 'at://did:plc:ar7c4by46qjdydhdevvrndac/app.bsky.feed.post/3k'],
    ['a handle', 'reported by @alice.bsky.social'],
    ['a full-width handle', 'ａｌｉｃｅ．ｂｓｋｙ．ｓｏｃｉａｌ'],
  ])('refuses only the document of the labeler whose definitions contain %s', async (_what, description) => {
    const fixture = withForeignText(fixtureOf(), description);
    const app = await serving(fixture);
    const did = fixture.definitions[0]?.did ?? '';
    const other = fixture.labelers.find((line) => line.did !== did)?.did ?? '';
    for (const path of [`/labelers/${did}.json`, `/labelers/${did}`]) {
      expect(app.get(path).status).toBe(500);
      expect(text(app.get(path))).not.toContain('alice');
    }
    expect(app.get(`/labelers/${other}.json`).status).toBe(200);
    expect(app.get('/labelers').status).toBe(200);
    // The document and the page are reported once each.
    expect(app.alarms).toHaveLength(2);
    expect(String(app.alarms[0]?.error)).not.toContain('alice');
  });

  it.each([
    ['an AT-URI', 'at://did:plc:ar7c4by46qjdydhdevvrndac'],
    ['a name', 'Alice ar7c4by46'],
  ])('withholds a handle that is %s, in the list and in the document', async (_what, name) => {
    const fixture = fixtureOf();
    const app = await serving(firstOf(fixture, { handle: { name, confirmed: true } }));
    const list = JSON.parse(text(app.get('/labelers.json'))) as LabelersEnvelope;
    expect(list.facts.labelers[0]).toMatchObject({ handle: null, handle_withheld: 'privacy' });
    expect(text(app.get(`/labelers/${didOf(fixture)}`))).not.toContain('ar7c4by46');
  });
});

/** Returns a fixture whose first definitions contain the given untrusted text. */
function withForeignText(fixture: LabelerFixture, foreign: string): LabelerFixture {
  const definitions = fixture.definitions.map((line, index): LabelerDefinitionsLine => {
    if (index > 0) return line;
    const values = line.values.map((value) => ({
      ...value,
      locales: [{ lang: 'en', name: foreign, description: foreign }],
    }));
    return { ...line, values };
  });
  return { ...fixture, definitions };
}

describe('a refused page about labelers', () => {
  it('is marked with the origin of the refused overview, unlike the page of a live overview', async () => {
    for (const origin of ['simulated', 'live'] as const) {
      const fixture = fixtureOf();
      const app = await serving({ ...fixture, overview: { ...fixture.overview, origin, hold: true } });
      const mark =
        origin === 'live' ? /<title>Labelers: refused/ : /<title>\[simulated\] Labelers: refused.*class="banner"/s;
      for (const path of ['/labelers', `/labelers/${didOf(fixture)}`]) {
        expect(app.get(path).status).toBe(503);
        expect(text(app.get(path))).toMatch(mark);
      }
    }
  });
});

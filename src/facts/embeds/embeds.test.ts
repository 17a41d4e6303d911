import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type ArtifactFixture, fixture, type JsonObject } from '../../../harness/artifacts/fixtures.ts';
import { factsInMemory, fixtureNow } from '../../../harness/process/facts.ts';
import { headerOf } from '../../../harness/process/metrics.ts';
import { embedStyle } from './image.tsx';

const now = fixtureNow.recent;
const conditions = '/embed/conditions.svg';
const labels = '/embed/labels.svg';
const chart = '/embed/observatory.svg';
const images = [conditions, labels, chart];

function over(artifacts: Partial<Record<ArtifactFixture, JsonObject>>) {
  const facts = factsInMemory(now);
  for (const [name, artifact] of Object.entries(artifacts)) {
    facts.set(name as ArtifactFixture, Buffer.from(JSON.stringify(artifact)));
  }
  return { ...facts, text: (path: string, at = now) => facts.get(path, at).body?.toString('utf8') ?? '' };
}

const current = () => over({ recent: fixture('recent'), weather: fixture('weather') });
const withWeather = (changes: JsonObject) =>
  over({ recent: fixture('recent'), weather: { ...fixture('weather'), ...changes } });

/** Returns the description of an image, which repeats all of its texts. */
function descriptionOf(svg: string): string {
  return /<desc id="description">([^<]*)<\/desc>/.exec(svg)?.[1]?.replaceAll('\u00a0', ' ') ?? '';
}

describe('an image', () => {
  it('states the value, the coverage, and the age together with the instant to which the age refers', () => {
    const { text } = current();
    expect(descriptionOf(text(conditions))).toBe(
      'AT Protocol weather: Active, thin history. 99.78 % of 24 h observed, 25 s old on 20 Nov 2026, 12:00 UTC.',
    );
    expect(descriptionOf(text(labels))).toBe(
      'AT Protocol label events, 24 h: 1,391,204. 30 of 30 days, 2 gaps, 30 s old on 20 Nov 2026, 12:00 UTC.',
    );
    expect(descriptionOf(text(chart))).toBe(
      [
        'Conditions: Active, 25 s old on 20 Nov 2026, 12:00 UTC.',
        'Events per observed second: Likes 213.8, Posts 37.7, Reposts 34, Follows 23.6, Blocks 3.7, Posts deleted 2.3;',
        '99.78 % of 24 h observed, 25 s old on 20 Nov 2026, 12:00 UTC.',
        'Labels: 1,391,204 in 24 h, 9,764,010 in 7 days, 41,812,377 in 30 days;',
        '30 of 30 days, 2 gaps, 30 s old on 20 Nov 2026, 12:00 UTC.',
      ].join(' '),
    );
  });

  it.each(images)('%s has a title and a description for screen readers', (path) => {
    const svg = current().text(path);
    expect(svg).toMatch(/^<svg [^>]*role="img" aria-labelledby="title description">/);
    expect(svg).toMatch(/<title id="title">AT Protocol[^<]+<\/title>/);
  });

  it.each(images)('%s has no script, no event handler and no reference to another document', (path) => {
    for (const facts of [current(), over({})]) {
      const svg = facts.text(path).replace('xmlns="http://www.w3.org/2000/svg"', '');
      expect(svg).not.toMatch(/<script|<foreignObject|<image|<use|<a |<!|\bon\w+=|href|style=|@import|https?:/i);
      const references = [...svg.matchAll(/url\(([^)]*)\)/g)].map(([, target]) => target);
      expect(references.filter((target) => target !== '#hatch')).toEqual([]);
    }
  });

  it.each(images)('%s has a content security policy that permits only its own style', (path) => {
    const reply = current().get(path);
    const [, style = ''] = /<style>([^<]*)<\/style>/.exec(reply.body?.toString('utf8') ?? '') ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    expect(headerOf(reply, 'Content-Security-Policy')).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; sandbox`,
    );
    expect(headerOf(reply, 'Cross-Origin-Resource-Policy')).toBe('cross-origin');
    expect(headerOf(reply, 'Content-Type')).toBe('image/svg+xml; charset=utf-8');
  });

  it.each(images)('%s contains no text from an artifact', (path) => {
    const text = '<script>alert(1)</script>';
    const { conditions: stated } = fixture('weather') as { conditions: JsonObject };
    const { text: textOf } = withWeather({
      conditions: { ...stated, label: text, headline: text, sentence: text },
      measures: text,
    });
    expect(textOf(path)).not.toContain('alert');
    expect(textOf(path)).toContain('</svg>');
  });

  it.each(images)('%s is cacheable like the facts and has a validator', (path) => {
    const reply = current().get(path);
    expect(headerOf(reply, 'Cache-Control')).toBe('public, max-age=60');
    const etag = headerOf(reply, 'ETag') ?? '';
    expect(current().get(path, now, { ifNoneMatch: etag }).status).toBe(304);
  });
});

describe('a refused fact', () => {
  it('is drawn as refused in a 200 response that no cache may store', () => {
    const facts = current();
    facts.set('recent', Buffer.from(JSON.stringify({ ...fixture('recent'), hold: true })));
    facts.set('weather', null);
    for (const path of images) {
      const reply = facts.get(path);
      expect([reply.status, headerOf(reply, 'Cache-Control'), headerOf(reply, 'ETag')]).toEqual([
        200,
        'no-store',
        undefined,
      ]);
      expect(reply.body?.toString()).toContain('refused');
    }
    expect(descriptionOf(facts.text(conditions))).toBe(
      'AT Protocol weather: refused. no usable data: the fact is unknown.',
    );
    expect(descriptionOf(facts.text(labels))).toBe(
      'AT Protocol label events: refused. the operator withholds the fact.',
    );
    // Coordinates of the hatching are no values.
    expect(facts.text(chart).replaceAll(/ d="[^"]*"/g, '')).not.toMatch(/1,391,204|330|37\.7/);
  });

  it('does not affect the images of other facts', () => {
    const { get } = over({ weather: fixture('weather') });
    expect(headerOf(get(conditions), 'Cache-Control')).toBe('public, max-age=60');
    expect(headerOf(get(chart), 'Cache-Control')).toBe('no-store');
  });

  it('is drawn as refused as soon as its age makes it stale', () => {
    const { text } = current();
    expect(text(labels)).toContain('1,391,204');
    expect(text(labels, now + 7_200_000)).toContain('the latest reading is too old');
  });
});

describe('weather without a current measurement', () => {
  it('is drawn without values if the artifact is too old', () => {
    const { text } = current();
    expect(descriptionOf(text(conditions, now + 7_200_000))).toBe(
      'AT Protocol weather: not current. 2 h old on 20 Nov 2026, 14:00 UTC.',
    );
    expect(text(chart, now + 7_200_000)).not.toMatch(/37\.7|class="measured"/);
  });

  it.each([
    ['station_offline', 'not observed'],
    ['unavailable', 'no comparison yet'],
  ])('is drawn for the state %s as "%s", not as a measurement', (state, value) => {
    const { conditions: stated } = fixture('weather') as { conditions: JsonObject };
    const { text } = withWeather({ conditions: { ...stated, state } });
    expect(text(conditions)).toContain(`AT Protocol weather: ${value}</title>`);
    for (const path of [conditions, chart]) expect(text(path)).not.toContain('class="measured"');
  });

  it('shows an unobserved collection as not observed, never as zero', () => {
    const { collections } = fixture('weather') as { collections: JsonObject };
    const { text } = withWeather({ collections: { ...collections, 'like.create': null } });
    expect(descriptionOf(text(chart))).toContain('Likes not observed, Posts 37.7');
  });

  it('states of a collection that was observed too briefly that it has no rate', () => {
    const { collections } = fixture('weather') as { collections: Record<string, JsonObject> };
    const likes = { ...collections['like.create'], total: 1, mean_rate_per_s: null, observed_seconds: 0.000001 };
    const { text } = withWeather({ collections: { ...collections, 'like.create': likes } });
    expect(descriptionOf(text(chart))).toContain('Likes no rate, Posts 37.7');
  });
});

describe('the origin of an image', () => {
  it.each([
    ['simulated', 'SIMULATED network'],
    ['sample', 'SAMPLE, not current'],
  ])('is stated in every image if it is %s', (origin, name) => {
    const facts = over({ recent: { ...fixture('recent'), origin }, weather: { ...fixture('weather'), origin } });
    for (const path of images) {
      const svg = facts.text(path);
      expect(svg).toContain(`<title id="title">${name}`);
      expect(svg).not.toContain('AT Protocol');
    }
  });
});

describe('label events', () => {
  it('are not presented as a full day if they cover less than a day', () => {
    const recent = fixture('recent');
    const coverage = { ...(recent.coverage as JsonObject), observed_days: 0, status: 'warming_up', gaps: [] };
    const { text } = over({ recent: { ...recent, coverage } });
    expect(text(labels)).toContain('label events, less than 24 h: 1,391,204');
    expect(text(labels)).toContain('0 of 30 days, warming up');
  });

  it('show the labelers and the adequacy of the legacy producer', () => {
    const facts = over({ legacy: fixture('legacy') });
    expect(facts.text(labels, fixtureNow.legacy)).toMatch(/labelers known: [\d,]+<\/title>.*observation \w+, /);
  });
});

describe('the colours of the images', () => {
  const [light = '', dark = ''] = embedStyle.split('@media');
  const fills = (css: string): Map<string, string> =>
    new Map([...css.matchAll(/\.([\w-]+)\{fill:(#[0-9a-f]+)/g)].map(([, name = '', colour = '']) => [name, colour]));

  it.each([
    ['ink', 'paper'],
    ['soft', 'paper'],
    ['soft', 'step'],
    ['on-head', 'head'],
    ['on-measured', 'measured'],
    ['on-absent', 'absent'],
    ['on-refused', 'refused'],
    ['on-mark', 'mark'],
  ])('have a contrast of at least 4.5 to 1 in the light and dark schemes (%s on %s)', (text, plate) => {
    const dim = new Map([...fills(light), ...fills(dark)]);
    for (const colours of [fills(light), dim]) {
      expect(contrast(colours.get(text) ?? '', colours.get(plate) ?? '')).toBeGreaterThan(4.5);
    }
  });
});

/** Returns the contrast ratio of two colours (WCAG 2.2). */
function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminance(colour: string): number {
  const digits =
    colour.length === 4 ? [...colour.slice(1)].map((digit) => digit + digit) : colour.slice(1).match(/../g);
  const [red = 0, green = 0, blue = 0] = (digits ?? []).map((text) => {
    const part = Number.parseInt(text, 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

describe('an image of a refused fact', () => {
  const simulated = { recent: { ...fixture('recent'), origin: 'simulated' } };
  const weather = { ...fixture('weather'), origin: 'simulated' };

  it.each([
    ['stale', labels, () => over(simulated), now + 7_200_001],
    ['held', labels, () => over({ recent: { ...simulated.recent, hold: true } }), now],
    [
      'dated with an unusable time',
      conditions,
      () => over({ weather: { ...weather, generated_at: 'yesterday' } }),
      now,
    ],
    ['held', chart, () => over({ recent: { ...simulated.recent, hold: true } }), now],
  ] as const)('is marked with the origin of the fact if the fact is %s (%s)', (_state, path, facts, at) => {
    const svg = facts().text(path, at);
    expect(svg).toMatch(/refused|Refused/);
    expect(svg).toMatch(/<title id="title">SIMULATED network/);
    expect(svg).toContain('class="mark"');
  });

  it('is marked with the origin of an artifact from which the fact cannot be built, whatever was served before', () => {
    const named = { caveats: ['seen by did:plc:ar7c4by46qjdydhdevvrndac'] };
    for (const before of [{}, { recent: fixture('recent'), weather: fixture('weather') }]) {
      const facts = over(before);
      for (const path of images) facts.text(path);
      facts.set('recent', Buffer.from(JSON.stringify({ ...simulated.recent, ...named })));
      facts.set('weather', Buffer.from(JSON.stringify({ ...weather, ...named })));
      for (const path of images) expect(facts.text(path)).toMatch(/refused.*SIMULATED|SIMULATED.*[Rr]efused/s);
    }
  });

  it('is marked with the origin of the last artifact that was read once the artifact is missing', () => {
    const facts = over({ ...simulated, weather });
    for (const path of images) expect(facts.text(path)).toContain('SIMULATED');
    facts.set('recent', null);
    facts.set('weather', Buffer.from('{}'));
    for (const path of images) expect(facts.text(path)).toContain('SIMULATED');
    facts.set('recent', Buffer.from(JSON.stringify(fixture('recent'))));
    expect(facts.text(labels)).toContain('AT Protocol');
  });

  it('has no mark if no artifact was read', () => {
    expect(over({}).text(labels)).toMatch(/<title id="title">AT Protocol/);
  });
});

import { describe, expect, it } from 'vitest';
import { fixture } from '../../harness/artifacts/fixtures.ts';
import { untrueOn } from '../../harness/pages/page-figures.ts';
import { factsInMemory, fixtureNow } from '../../harness/process/facts.ts';

const now = fixtureNow.recent;

function filled() {
  const facts = factsInMemory(now);
  facts.set('recent', Buffer.from(JSON.stringify(fixture('recent'))));
  facts.set('weather', Buffer.from(JSON.stringify(fixture('weather'))));
  const page = (at = now) => facts.get('/', at);
  return { ...facts, page, text: (at = now) => page(at).body?.toString('utf8') ?? '' };
}

describe('the representation of the observatory page', () => {
  it('is rendered only once for each artifact and each minute of the artifact’s age', () => {
    const { page, set } = filled();
    const first = page();
    expect(page(now + 5_000)).toBe(first);
    expect(page(now + 60_000)).not.toBe(first);
    const second = page(now + 60_000);
    set('weather', Buffer.from(JSON.stringify({ ...fixture('weather'), measures: 'the same, in other words' })));
    expect(page(now + 60_000)).not.toBe(second);
  });

  it('is rendered again after the clock was set back', () => {
    const { page, text } = filled();
    const first = page(now + 10_000);
    expect(page(now + 5_000)).not.toBe(first);
    expect(text(now + 5_000)).toContain('data-at="labels/age_seconds">35');
  });

  it('changes from fresh to refused when only the clock advances, and shows a new age every minute', () => {
    const { text, page } = filled();
    const made = Date.parse('2026-11-20T12:00:00Z');
    const collected = Date.parse('2026-11-20T11:59:48.120Z');
    expect(text(collected + 7_200_000)).toContain('1,391,204');
    const refused = text(collected + 7_200_001);
    expect(refused).not.toContain('1,391,204');
    expect(refused).toContain('source_stale');
    expect(refused).toContain('The newest collected page is');
    const kept = page(collected + 7_201_000);
    expect(page(collected + 7_210_000)).toBe(kept);
    expect(text(made + 7_200_001)).toContain('The reading is');
    expect(text(made + 7_261_000)).toContain('>2\u00a0h\u00a01\u00a0min<');
  });

  it('shows a failure in place of a fact that contains an identity, and no content of that fact', () => {
    const { set, text, alarms } = filled();
    const subject = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz';
    set('recent', Buffer.from(JSON.stringify({ ...fixture('recent'), caveats: [`seen: ${subject}`] })));
    const said = text();
    expect(said).not.toContain(subject);
    expect(said).toContain('internal_error');
    expect(said).toContain('The service could not build the fact.');
    expect(said).not.toContain('1,391,204');
    expect(said).toContain('330.4');
    text();
    expect(alarms).toHaveLength(1);
  });

  it('links to the account surface only if its address is configured', () => {
    const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
    const led = factsInMemory(now, { url: 'http://127.0.0.1:8401', samples: [{ did, shows: 'none observed' }] });
    const html = led.get('/').body?.toString('utf8') ?? '';
    expect(html).toContain('href="http://127.0.0.1:8401/"');
    expect(html).toContain('href="http://127.0.0.1:8401/account?did=did%3Aplc%3Aaaaaaaaaaaaaaaaaaaaaaaaa"');
    expect(
      untrueOn(html, {
        labels: refusal(led, '/v1/labels/overview'),
        conditions: refusal(led, '/v1/weather/conditions'),
        metrics: refusal(led, '/v1/weather/metrics'),
      }),
    ).toEqual([]);
    expect(filled().text()).not.toContain('One account');
  });
});

function refusal(facts: ReturnType<typeof factsInMemory>, path: string): unknown {
  return JSON.parse(facts.get(path).body?.toString('utf8') ?? '');
}

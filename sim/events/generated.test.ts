import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { GeneratedSource } from './generated.ts';
import { metricNames, trackedCollections } from './metrics.ts';
import { parseFrame } from './parsed.ts';
import type { Block } from './source.ts';
import { payloadOf } from './template.ts';
import { commitWeights, surveyRate } from './traffic-mix.ts';

const noonUs = Date.UTC(2026, 6, 4, 12) * 1000;

function source(changes: Partial<ConstructorParameters<typeof GeneratedSource>[0]> = {}): GeneratedSource {
  return new GeneratedSource({
    seed: 1,
    rate: 330,
    historyHours: 24,
    seqCursors: false,
    variedKeys: false,
    ...changes,
  });
}

function blockAt(from: GeneratedSource, timeUs: number): Block {
  return from.block(from.seek(timeUs));
}

function frames({ bytes, offsets, count }: Block): string[] {
  return Array.from({ length: count }, (_, at) =>
    Buffer.from(payloadOf(bytes.subarray(offsets[at], offsets[at + 1]))).toString(),
  );
}

function digest(from: GeneratedSource, seconds: number): string {
  const hash = createHash('sha256');
  for (let second = 0; second < seconds; second++) hash.update(blockAt(from, noonUs + second * 1_000_000).bytes);
  return hash.digest('hex');
}

describe('generated traffic', () => {
  it('has the same bytes for the same seed, regardless of the order in which its seconds are read', () => {
    const forwards = source();
    const backwards = source();
    const expected = [0, 1, 2, 3].map((second) => blockAt(forwards, noonUs + second * 1_000_000).bytes);
    const found = [3, 2, 1, 0].map((second) => blockAt(backwards, noonUs + second * 1_000_000).bytes).reverse();
    expect(found).toEqual(expected);
    expect(digest(source({ seed: 2 }), 1)).not.toBe(digest(source(), 1));
  });

  it('has the recorded digest, so that the traffic does not change unnoticed', () => {
    expect(digest(source(), 10)).toBe('f556aa25d56aca4d60828cfce2e6d80ba7ed22a18ae2195c09da51b5f8231590');
  });

  it('has increasing event numbers, and strictly increasing times within each second', () => {
    for (const rate of [1, 330, 100_000]) {
      const some = source({ rate });
      const [one, next] = [blockAt(some, noonUs), blockAt(some, noonUs + 1_000_000)];
      const times = [...one.timeUs];
      expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
      expect(times.every((time) => Math.floor(time / 1_000_000) === Math.floor((times[0] ?? 0) / 1_000_000))).toBe(
        true,
      );
      expect(next.first).toBeGreaterThanOrEqual(one.first + one.count);
    }
  });

  it.each([
    { seqCursors: false, variedKeys: false },
    { seqCursors: true, variedKeys: false },
    { seqCursors: true, variedKeys: true },
  ])('consists of frames whose recorded species, times and numbers agree with a full parse (%o)', (style) => {
    const some = source(style);
    for (let second = 0; second < 12; second++) {
      const block = blockAt(some, noonUs + second * 1_000_000);
      const expected = frames(block).map(parseFrame);
      expect(Array.from(block.species, (index) => sorted(some.species[index]))).toEqual(
        expected.map(({ species }) => sorted(species)),
      );
      expect([...block.timeUs]).toEqual(expected.map(({ timeUs }) => timeUs));
      const numbers = expected.map(({ cursor }, at) => (style.seqCursors ? cursor : block.first + at));
      expect(numbers).toEqual(expected.map((_, at) => block.first + at));
    }
  });

  it('has a tally whose counts by species equal the counts in its blocks, even after events were replaced', () => {
    const some = source();
    const template = some.catalogue.add('no JSON', { outcome: 'not_json', collection: null, metrics: [] });
    const { first } = blockAt(some, noonUs + 3_000_000);
    some.replace(first, [template, template]);
    some.batch(noonUs, noonUs + 5_000_000, 10);
    const planned = some.species.map(() => 0);
    for (let second = 0; second < 60; second++) {
      for (const species of blockAt(some, noonUs + second * 1_000_000).species)
        planned[species] = (planned[species] ?? 0) + 1;
    }
    expect([...some.tally(noonUs / 1_000_000, noonUs / 1_000_000 + 60)]).toEqual(planned);
  });

  it('has frames with the same keys in the same order as production frames', () => {
    const commits = frames(blockAt(source({ seqCursors: true }), noonUs)).filter((frame) => frame.includes('"create"'));
    const shapes = new Set(commits.map((frame) => shapeOf(frame)));
    expect([...shapes]).toEqual(['did time_us cursor kind commit / rev operation collection rkey record cid']);
  });

  it('matches the traffic mix and the average frame size of the survey of live traffic', () => {
    const some = source({ rate: surveyRate });
    const counts: Record<string, number> = {};
    let [events, bytes] = [0, 0];
    for (let second = 0; second < 600; second++) {
      const block = blockAt(some, noonUs + second * 1_000_000);
      events += block.count;
      bytes += block.bytes.length;
      for (const index of block.species)
        for (const name of some.species[index]?.metrics ?? []) counts[name] = (counts[name] ?? 0) + 1;
    }
    const share = (name: string): number => (counts[name] ?? 0) / events;
    expect(share('like.create')).toBeCloseTo(128_297 / 198_250, 2);
    expect(share('post.create')).toBeCloseTo(22_590 / 198_250, 2);
    expect(share('repost.create')).toBeCloseTo(20_418 / 198_250, 2);
    expect(share('follow.create')).toBeCloseTo(14_173 / 198_250, 2);
    const untracked = Object.entries(commitWeights)
      .filter(([collection]) => !trackedCollections.has(collection))
      .flatMap(([, byOperation]) => Object.values(byOperation))
      .reduce((sum, weight) => sum + weight, 0);
    expect(share('untracked.collection')).toBeCloseTo(untracked / 198_250, 3);
    expect((counts['post.create.reply'] ?? 0) / (counts['post.create'] ?? 1)).toBeCloseTo(0.481, 1);
    expect((counts['post.create.quote'] ?? 0) / (counts['post.create'] ?? 1)).toBeCloseTo(0.0679, 2);
    expect(bytes / events).toBeGreaterThan(520);
    expect(bytes / events).toBeLessThan(600);
  });

  it('contains strings that resemble JSON structure, strings with escapes, and strings in a non-Latin script', () => {
    const some = source();
    const texts = Array.from({ length: 60 }, (_, second) => frames(blockAt(some, noonUs + second * 1_000_000)))
      .flat()
      .join('\n');
    expect(
      ['\\"kind\\":\\"commit\\"', '\\u003cb\\u003e', '\\u2028', '今日は', '"time_us":1}'].filter(
        (part) => !texts.includes(part),
      ),
    ).toEqual([]);
  });
});

it('the list of metric names contains 64 distinct names', () => {
  expect(new Set(metricNames).size).toBe(64);
});

function sorted(species: { metrics: readonly string[]; collection: string | null } | undefined) {
  return { collection: species?.collection, metrics: species?.metrics.toSorted() };
}

function shapeOf(frame: string): string {
  const whole = JSON.parse(frame) as { commit: object };
  return `${Object.keys(whole).join(' ')} / ${Object.keys(whole.commit).join(' ')}`;
}

import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { type MetricFamily, MetricSamples } from './open-metrics.ts';

const size: MetricFamily = { name: 'x_size', type: 'gauge', help: 'Size.' };
const mood: MetricFamily = { name: 'x_mood', type: 'stateset', help: 'Mood.' };

function linesOf(fill: (samples: MetricSamples) => void): string[] {
  const samples = new MetricSamples();
  fill(samples);
  return samples.openMetrics([size, mood]).split('\n');
}

/** Decodes the value of the only dimension of a sample line, following the OpenMetrics specification. */
function decoded(line: string): string {
  const [, quoted = ''] = /^x_size\{text="((?:[^"\\\n]|\\["\\n])*)"\} 1$/.exec(line) ?? [];
  return quoted.replaceAll(/\\(.)/g, (_whole, character: string) => (character === 'n' ? '\n' : character));
}

test('the text format 0.0.4 has no units and no EOF, and its info and state set are gauges', () => {
  const build: MetricFamily = { name: 'x_build', type: 'info', help: 'Build.' };
  const age: MetricFamily = { name: 'x_age_seconds', type: 'gauge', unit: 'seconds', help: 'Age.' };
  const samples = new MetricSamples();
  samples.add(build, { of: 'a' }, 1);
  samples.add(age, {}, 2.5);
  samples.addState(mood, {}, ['good'], 'good');
  expect(samples.prometheusText([build, age, mood]).split('\n')).toEqual([
    '# HELP x_build_info Build.',
    '# TYPE x_build_info gauge',
    'x_build_info{of="a"} 1',
    '# HELP x_age_seconds Age.',
    '# TYPE x_age_seconds gauge',
    'x_age_seconds 2.5',
    '# HELP x_mood Mood.',
    '# TYPE x_mood gauge',
    'x_mood{x_mood="good"} 1',
    '',
  ]);
});

describe('OpenMetrics text', () => {
  it('contains the metadata and samples of each family in the given order, and ends with EOF', () => {
    const lines = linesOf((samples) => {
      samples.addState(mood, { of: 'a' }, ['good', 'bad'], 'bad');
      samples.add(size, { of: 'a' }, 2.5);
      samples.add(size, {}, -1e21);
    });
    expect(lines).toEqual([
      '# TYPE x_size gauge',
      '# HELP x_size Size.',
      'x_size{of="a"} 2.5',
      'x_size -1e+21',
      '# TYPE x_mood stateset',
      '# HELP x_mood Mood.',
      'x_mood{of="a",x_mood="good"} 0',
      'x_mood{of="a",x_mood="bad"} 1',
      '# EOF',
      '',
    ]);
  });

  it('omits a family whose values are all unknown', () => {
    const lines = linesOf((samples) => {
      samples.add(size, {}, null);
      samples.add(mood, {}, undefined);
    });
    expect(lines).toEqual(['# EOF', '']);
  });

  it('keeps each dimension value on one line and changes only control characters and unpaired surrogates', () => {
    const text = fc.string({ unit: 'binary' });
    fc.assert(
      fc.property(
        fc.oneof(text, fc.string({ unit: fc.constantFrom('"', '\\', '\n', 'n', '\0', '\ud800') })),
        (value) => {
          const lines = linesOf((samples) => samples.add(size, { text: value }, 1));
          expect(lines).toHaveLength(5);
          // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern must match control characters.
          const kept = value.toWellFormed().replaceAll(/[\u0000-\u0009\u000B-\u001F\u007F-\u009F]/g, '\uFFFD');
          expect(decoded(lines[2] ?? '')).toBe(kept);
        },
      ),
      { numRuns: 50 },
    );
  });
});

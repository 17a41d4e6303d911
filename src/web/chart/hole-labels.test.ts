import { describe, expect, it } from 'vitest';
import { formatsOf } from '../language.ts';
import { type HoleLabel, holeLabels } from './hole-labels.ts';
import { layChart } from './layout.ts';
import type { TimeSeries } from './series.ts';

const [hour, day] = [3_600_000, 86_400_000];
const start = Date.parse('2026-11-18T00:00:00Z');

/** Returns the labels of holes that are given in periods of a chart. */
function labelsOf(
  holes: readonly (readonly [from: number, to: number])[],
  { count = 72, length = hour, parts = [] as readonly number[] } = {},
) {
  const bins = Array.from({ length: count }, (_, at) => ({
    ...{
      start: start + at * length,
      end: start + (at + 1) * length,
      value: 1,
      observed: parts.includes(at) ? 0.9 : 1,
      reason: null,
    },
  }));
  const series: TimeSeries = {
    ...{ id: 'x', shape: 'line', paint: 'weather', bins, through: start + count * length },
    holes: holes.map(([from, to]) => ({ start: start + from * length, end: start + to * length, reason: 'r' })),
  };
  return holeLabels(layChart(series), length, formatsOf('en'));
}

/** Parts of the text of a hole that is alone. */
const unobserved = (time: string) => [
  { text: 'not observed: ', isWide: true },
  { text: time, isWide: false },
];
/** Parts of the text of a time that was observed in part: a narrow picture has room only for the words. */
const inPart = (time: string) => [
  { text: 'partly not observed', isWide: false },
  { text: `: ${time}`, isWide: true },
];
const textOf = ({ parts }: HoleLabel) => parts.map(({ text }) => text).join('');
const timeOf = ({ parts }: HoleLabel) => parts.at(-1)?.text;

describe('holeLabels', () => {
  it('states when a hole was, next to it on the side with more room', () => {
    expect(labelsOf([[5, 7]])).toEqual([
      {
        ...{ x: 104.2, anchor: 'start', before: '← ', after: '', isFirst: true },
        parts: unobserved('18 Nov 05:00 – 07:00'),
      },
    ]);
    expect(labelsOf([[60, 72]])).toEqual([
      {
        ...{ x: 826.3, anchor: 'end', before: '', after: ' →', isFirst: true },
        parts: unobserved('20 Nov 12:00 – 00:00'),
      },
    ]);
  });

  it('dates the end of a hole unless it is on the same day or at most 12 hours later', () => {
    const timesOf = (...holes: (readonly [number, number])[]) => holes.map((hole) => labelsOf([hole]).map(timeOf)[0]);
    expect(timesOf([3, 23.4], [20, 26], [20, 32], [20, 32.5], [24, 48])).toEqual([
      '18 Nov 03:00 – 23:24',
      '18 Nov 20:00 – 02:00',
      '18 Nov 20:00 – 08:00',
      '18 Nov 20:00 – 19 Nov 08:30',
      '19 Nov 00:00 – 20 Nov 00:00',
    ]);
  });

  it('names the days of a chart of days', () => {
    const times = (holes: readonly (readonly [number, number])[]) =>
      labelsOf(holes, { count: 30, length: day }).map(timeOf);
    expect(times([[3, 4]])).toEqual(['21 Nov']);
    expect(times([[3, 5]])).toEqual(['21 Nov – 22 Nov']);
  });

  it('joins holes that less than a period separates, and says that the time was observed in part', () => {
    expect(
      labelsOf([
        [24, 24.4],
        [25, 25.4],
      ]),
    ).toEqual([expect.objectContaining({ parts: inPart('19 Nov 00:00 – 01:24') })]);
    const hours = Array.from({ length: 24 }, (_, at) => [24 + at, 24.4 + at] as const);
    expect(labelsOf(hours)).toEqual([expect.objectContaining({ parts: inPart('19 Nov 00:00 – 23:24') })]);
    expect(
      labelsOf([
        [30, 31],
        [31, 33],
      ]),
    ).toEqual([expect.objectContaining({ parts: unobserved('19 Nov 06:00 – 09:00') })]);
  });

  it('labels the longest of several holes, and others only where no label is yet', () => {
    const labels = labelsOf([
      [2, 4],
      [8, 11],
      [60, 61],
    ]);
    expect(labels.map((label) => [textOf(label), label.isFirst])).toEqual([
      ['18 Nov 08:00 – 11:00', true],
      ['20 Nov 12:00 – 13:00', false],
    ]);
  });

  it('places a label on the other side of its hole if there is a label on the side with more room', () => {
    const labels = labelsOf([
      [28, 30],
      [60, 63],
    ]);
    expect(labels.map((label) => [textOf(label), label.anchor])).toEqual([
      ['20 Nov 12:00 – 15:00', 'end'],
      ['19 Nov 04:00 – 06:00', 'end'],
    ]);
  });

  it('names no day of which only a part was not observed', () => {
    expect(labelsOf([[3, 3.6]], { count: 30, length: day })).toEqual([]);
  });

  it('names the days of which only a part was observed, joined with holes that adjoin them', () => {
    const days = { count: 30, length: day };
    const [first, ...more] = labelsOf([[3.2, 3.6]], { ...days, parts: [3] });
    expect([first?.parts, more]).toEqual([inPart('21 Nov'), []]);
    expect(labelsOf([[20, 21]], { ...days, parts: [8, 9, 21] }).map(textOf)).toEqual([
      'in part: 26 Nov – 27 Nov',
      'in part: 8 Dec – 9 Dec',
    ]);
    expect(labelsOf([], { ...days, parts: [3, 9, 15, 21] })).toEqual([]);
    // The first day may begin before the time that the chart is about.
    expect(labelsOf([], { ...days, parts: [0] })).toEqual([]);
    // The strip below an hour shows its observed share; a day of 24 such hours has the label of its holes.
    expect(labelsOf([], { parts: [3] })).toEqual([]);
  });

  it('begins within a hole of a third of the time, for which a narrow picture has no room next to it', () => {
    expect(labelsOf([[20, 46]])).toEqual([
      {
        ...{ x: 284.8, anchor: 'start', before: '', after: '', isFirst: true },
        parts: unobserved('18 Nov 20:00 – 19 Nov 22:00'),
      },
    ]);
  });

  it('labels no hole that has room for its reason', () => {
    expect(labelsOf([[0, 71]])).toEqual([]);
    expect(labelsOf([])).toEqual([]);
  });
});

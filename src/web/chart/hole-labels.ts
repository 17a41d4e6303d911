import { microsFromMillis } from '../../contract/timestamp.ts';
import type { Formats } from '../language/formats.ts';
import { type DrawnHole, plotWidth } from './layout.ts';

/** Text next to a hole that says when it was. Positions are in units of the drawing. */
export interface HoleLabel {
  readonly x: number;
  readonly anchor: 'start' | 'end';
  /** Words before the time, only of the first label; the hatched hole says the same. */
  readonly words: string;
  readonly time: string;
  /** True for the label of the longest hole, the only one for which a narrow picture has room. */
  readonly isFirst: boolean;
}

/** Maximum number of labels of a chart. */
const maxLabels = 3;
/** Distance of a label from its hole. */
const distance = 7;
/** Width of a character, estimated for the narrowest picture with all labels. */
const characterWidth = 11;
/** Part of the plot from which on a hole contains its reason instead. */
const wide = 0.6;

interface Group {
  readonly start: number;
  readonly from: number;
  end: number;
  to: number;
  isPart: boolean;
}

/**
 * Returns the labels of the longest holes of a chart whose periods have the given length. Holes that less than a period
 * separates have one label. A label that would cover another one is left out.
 */
export function holeLabels(holes: readonly DrawnHole[], length: number, formats: Formats): HoleLabel[] {
  const labels: HoleLabel[] = [];
  const covered: { readonly from: number; readonly to: number }[] = [];
  for (const group of groupsOf(holes, length)) {
    if (labels.length === maxLabels) break;
    const isFirst = labels.length === 0;
    const words = `${group.isPart ? 'partly ' : ''}${isFirst ? 'not observed: ' : ''}`;
    const time = timeText(group, length, formats);
    const isLeft = (group.from + group.to) / 2 > plotWidth / 2;
    const x = isLeft ? group.from - distance : group.to + distance;
    const width = characterWidth * `${words}${time}`.length;
    const place = isLeft ? { from: x - width, to: group.to } : { from: group.from, to: x + width };
    if (covered.some(({ from, to }) => place.from < to && from < place.to)) continue;
    covered.push(place);
    const rounded = Math.round(10 * x) / 10;
    labels.push({ x: rounded, anchor: isLeft ? 'end' : 'start', words, time, isFirst });
  }
  return labels;
}

/** Joins holes that less than a period separates, and returns the longest first. */
function groupsOf(holes: readonly DrawnHole[], length: number): Group[] {
  const groups: Group[] = [];
  for (const { start, end, x, width } of holes.toSorted((a, b) => a.start - b.start)) {
    const last = groups.at(-1);
    if (last === undefined || start - last.end >= length) {
      groups.push({ start, end, from: x, to: x + width, isPart: false });
      continue;
    }
    if (start > last.end) last.isPart = true;
    last.end = Math.max(last.end, end);
    last.to = Math.max(last.to, x + width);
  }
  return groups
    .filter(({ from, to }) => to - from < wide * plotWidth)
    .toSorted((a, b) => b.end - b.start - (a.end - a.start));
}

const hour = 3_600_000;

function timeText({ start, end }: Group, length: number, { dayTick, clock }: Formats): string {
  const dayOf = (at: number): string => dayTick(microsFromMillis(at));
  if (length > hour) {
    const [first, last] = [dayOf(start), dayOf(end - 1)];
    return first === last ? first : `${first} – ${last}`;
  }
  const timeOf = (at: number): string => clock(microsFromMillis(at));
  const isOneDay = dayOf(start) === dayOf(end);
  return `${dayOf(start)} ${timeOf(start)} – ${isOneDay ? '' : `${dayOf(end)} `}${timeOf(end)}`;
}

import { microsFromMillis } from '../../contract/timestamp.ts';
import type { Formats } from '../language.ts';
import { type ChartLayout, type DrawnHole, plotWidth } from './layout.ts';

/** Part of a text on a picture. A narrow picture has no room for wide parts. */
export interface TextPart {
  readonly text: string;
  readonly isWide: boolean;
}

/** Text next to a hole that says when it was. Positions are in units of the drawing. */
export interface HoleLabel {
  readonly x: number;
  readonly anchor: 'start' | 'end';
  /** Arrows to the hole from a label next to it, so that it is not taken for the label of the time below which it stands. */
  readonly before: '← ' | '';
  readonly after: ' →' | '';
  /**
   * Parts of the text in order. The hatched hole says without words that it was not observed, but not that it was
   * observed in part.
   */
  readonly parts: readonly TextPart[];
  /** True for the label of the longest hole, the only one for which a narrow picture has room. */
  readonly isFirst: boolean;
}

const hour = 3_600_000;
/** Maximum number of labels of a chart. */
const maxLabels = 3;
/** Distance of a label from its hole. */
const distance = 7;
/** Width of a character, estimated for the narrowest picture with all labels. */
const characterWidth = 11;
/** Number of characters of an arrow and its space. */
const arrow = 2;
const noArrow = { before: '', after: '' } as const;
/** Room of a picture next to its plot. */
const margin = 20;
/** Part of the plot from which on a label begins within its hole. */
const long = 0.3;
/** Part of the plot from which on a hole contains its reason instead. */
const wide = 0.6;

interface Place {
  readonly from: number;
  readonly to: number;
}

interface Group {
  readonly start: number;
  readonly from: number;
  end: number;
  to: number;
  isPart: boolean;
}

/**
 * Returns the labels of the longest holes of a chart whose periods have the given length, and of its partly observed
 * days. Holes that less than a period separates have one label. A label that would cover another one is left out, and
 * so is that of a hole that is shorter than a day on a chart of days, because a label names whole days.
 */
export function holeLabels(
  { holes, partDays }: Pick<ChartLayout, 'holes' | 'partDays'>,
  length: number,
  formats: Formats,
): HoleLabel[] {
  const labels: HoleLabel[] = [];
  const covered: Place[] = [];
  // More than a few such days are no exceptions to be named.
  const named = partDays.length > maxLabels ? [] : partDays;
  const groups = groupsOf(
    [...holes.map((hole) => ({ ...hole, isPart: false })), ...named.map((day) => ({ ...day, isPart: true }))],
    length,
  );
  for (const group of groups) {
    if (labels.length === maxLabels) break;
    const time = timeText(group, length, formats);
    const isFirst = labels.length === 0;
    const [full, short] = group.isPart ? ['partly not observed: ', 'in part: '] : ['not observed: ', ''];
    const found = (groups.length === 1 ? [full, short] : [short])
      .flatMap((words) => placesOf(group, `${words}${time}`.length).map((place) => ({ words, ...place })))
      .find((one) => isInside(one) && covered.every((other) => areApart(one, other)));
    if (found === undefined) continue;
    covered.push(found);
    const { x, anchor, before, after, words } = found;
    labels.push({ x: Math.round(10 * x) / 10, anchor, before, after, parts: partsOf(group, words, time), isFirst });
  }
  return labels;
}

function partsOf({ isPart }: Group, words: string, time: string): HoleLabel['parts'] {
  // The colon and the space belong to the time.
  const length = isPart ? words.length - 2 : words.length;
  return [
    { text: words.slice(0, length), isWide: !isPart },
    { text: words.slice(length) + time, isWide: isPart },
  ];
}

/** Returns true for a place within the plot and the margins next to it. */
function isInside({ from, to }: Place): boolean {
  return from >= -margin && to <= plotWidth + margin;
}

/**
 * Returns the places of a label on both sides of its hole, with the hole: that with more room first. Where a hole is so
 * long that a narrow picture has no room next to it, its label begins within it.
 */
function placesOf({ from, to }: Place, characters: number) {
  const isLong = to - from > long * plotWidth;
  const width = distance + characterWidth * (characters + (isLong ? 0 : arrow));
  const sides = isLong
    ? ([
        { x: from + distance, anchor: 'start', from, to: Math.max(to, from + width), ...noArrow },
        { x: to - distance, anchor: 'end', from: Math.min(from, to - width), to, ...noArrow },
      ] as const)
    : ([
        { x: to + distance, anchor: 'start', from, to: to + width, before: '← ', after: '' },
        { x: from - distance, anchor: 'end', from: from - width, to, before: '', after: ' →' },
      ] as const);
  return (from + to) / 2 > plotWidth / 2 ? sides.toReversed() : sides;
}

function areApart(a: Place, b: Place): boolean {
  return a.to <= b.from || b.to <= a.from;
}

/** Joins holes that less than a period separates, and returns the longest first. */
function groupsOf(holes: readonly (DrawnHole & { readonly isPart: boolean })[], length: number): Group[] {
  const groups: Group[] = [];
  for (const { start, end, x, width, isPart } of holes.toSorted((a, b) => a.start - b.start)) {
    const last = groups.at(-1);
    if (last === undefined || start - last.end >= length) {
      groups.push({ start, end, from: x, to: x + width, isPart });
      continue;
    }
    if (isPart || start > last.end) last.isPart = true;
    last.end = Math.max(last.end, end);
    last.to = Math.max(last.to, x + width);
  }
  return groups
    .filter(({ start, end, from, to }) => to - from < wide * plotWidth && (length <= hour || end - start >= length))
    .toSorted((a, b) => b.end - b.start - (a.end - a.start));
}

function timeText({ start, end }: Group, length: number, { dayTick, clock }: Formats): string {
  const dayOf = (at: number): string => dayTick(microsFromMillis(at));
  if (length > hour) {
    const [first, last] = [dayOf(start), dayOf(end - 1)];
    return first === last ? first : `${first} – ${last}`;
  }
  const timeOf = (at: number): string => clock(microsFromMillis(at));
  // The end on the same day or in the night after it needs no date.
  const isShort = end - start <= 12 * hour || (end - start < 24 * hour && dayOf(start) === dayOf(end));
  return `${dayOf(start)} ${timeOf(start)} – ${isShort ? '' : `${dayOf(end)} `}${timeOf(end)}`;
}

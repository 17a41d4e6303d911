import type { ComponentChildren } from 'preact';
import type { Shown } from '../page/model.ts';
import { Hatched, Line, textWidth } from './image.tsx';
import { refusalText } from './texts.ts';

/** Width of the chart, in units of the drawing. */
export const chartWidth = 640;
/** Left margin of the chart. */
export const left = 16;
/** Width of the chart inside its margins. */
export const innerWidth = chartWidth - 2 * left;

/** Draws a section: its title with a note on the right, and the content below. */
export function Section({
  title,
  note,
  y,
  children,
}: {
  title: string;
  note?: string;
  y: number;
  children: ComponentChildren;
}) {
  return (
    <>
      <Line x={left} y={y + 14} size={13} isStrong>
        {title}
      </Line>
      {note === undefined ? null : (
        <Line x={chartWidth - left} y={y + 14} paint="soft" anchor="end">
          {note}
        </Line>
      )}
      {children}
    </>
  );
}

/** Draws a hatched plate with the reason in place of a refused fact or of a fact without current data. */
export function Plate({
  text,
  paint,
  y,
  height,
}: {
  text: string;
  paint: 'absent' | 'refused';
  y: number;
  height: number;
}) {
  const width = textWidth(text, 12, true) + 20;
  return (
    <>
      <Hatched x={left} y={y} width={innerWidth} height={height} />
      <rect class={paint} x={left + 8} y={y + height / 2 - 11} width={width} height="22" rx="3" />
      <Line x={left + 18} y={y + height / 2 + 4} size={12} paint={`on-${paint}`} isStrong>
        {text}
      </Line>
    </>
  );
}

/** Describes the refusal of a fact. */
export function refusedText(fact: Exclude<Shown<never>, { kind: 'served' }>): string {
  return `refused: ${refusalText(fact)}`;
}

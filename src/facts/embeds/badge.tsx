import type { Origin } from '../../contract/vocabulary.ts';
import { Line, renderImage } from './image.tsx';
import { textWidth } from './text-width.ts';
import { networkNames } from './texts.ts';

/** Content of a badge. */
export interface Badge {
  readonly origin: Origin;
  /** Subject of the badge, shown after the name of the network. */
  readonly subject: string;
  readonly value: string;
  /** Kind of the value: a measurement, the absence of a measurement, or a refusal. */
  readonly kind: 'measured' | 'none' | 'refused';
  /** Coverage and age; for a refusal, its reason. */
  readonly note: string;
}

const size = 12;
const noteSize = 11;
const margin = 9;
const rowHeight = 22;

/** Renders a badge with two rows: the value above, the coverage and the age below. */
export function renderBadge({ origin, subject, value, kind, note }: Badge): string {
  const name = `${networkNames[origin]} ${subject}`;
  const nameWidth = textWidth(name, size) + 2 * margin;
  const valueWidth = textWidth(value, size, true) + 2 * margin;
  const width = Math.max(nameWidth + valueWidth, textWidth(note, noteSize) + 2 * margin);
  const height = 2 * rowHeight;
  return renderImage({
    width,
    height,
    title: `${name}: ${value}`,
    description: `${name}: ${value}. ${note}.`,
    children: (
      <>
        <rect class="paper" x="0.5" y="0.5" width={width - 1} height={height - 1} rx="3" />
        <rect class={origin === 'live' ? 'head' : 'mark'} x="1" y="1" width={nameWidth - 1} height={rowHeight - 1} />
        <rect class={kind} x={nameWidth} y="1" width={width - nameWidth - 1} height={rowHeight - 1} />
        <Line x={margin} y={16} size={size} paint={origin === 'live' ? 'on-head' : 'on-mark'}>
          {name}
        </Line>
        <Line x={nameWidth + margin} y={16} size={size} paint={`on-${kind}`} isStrong>
          {value}
        </Line>
        <Line x={margin} y={37} size={noteSize} paint="soft">
          {note}
        </Line>
      </>
    ),
  });
}

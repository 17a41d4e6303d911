import type { LabelerLine } from '../../../artifact/labelers.ts';

/** Height of the picture, in units of the drawing. */
const height = 12;
/** Width of a day's bar; each day is one unit wide. */
const width = 0.8;

/**
 * Shows the events of each day as bars, with another colour for days that were not or only partly read. Screen readers
 * skip the picture, because the text next to it summarizes the last seven days.
 */
export function DayBars({ days }: { days: LabelerLine['days'] }) {
  const totals = days.map(([applied, removed]) => (applied ?? 0) + (removed ?? 0));
  const most = Math.max(1, ...totals);
  let read = '';
  let unread = '';
  days.forEach(([, , share], index) => {
    const total = totals[index] ?? 0;
    const tall = total === 0 ? 0 : Math.max(1, Math.round((total / most) * height * 10) / 10);
    if (tall > 0) read += `M${index} ${height}v-${tall}h${width}v${tall}z`;
    if (share === 0) unread += `M${index} 0h1v${height}h-1z`;
    else if (share < 1) unread += `M${index} 0h1v2h-1z`;
  });
  return (
    <svg class="day-bars" viewBox={`0 0 ${days.length} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      <path class="chart-part" d={unread} />
      <path class="chart-up" d={read} />
    </svg>
  );
}

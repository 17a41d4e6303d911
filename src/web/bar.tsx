/**
 * Shows a fraction (0 to 1) as a bar, and a second one after it in another colour. Screen readers skip the bar, because
 * the numbers are next to it as text.
 */
export function Bar({ share, rest = 0 }: { share: number; rest?: number }) {
  const width = percent(Math.min(1, Math.max(0, share)) * 100);
  return (
    <svg class="bar" aria-hidden="true">
      <rect width={width} height="100%" />
      {rest > 0 ? <rect class="rest" x={width} width={percent(rest * 100)} height="100%" /> : null}
    </svg>
  );
}

/** Formats a length as a percentage, for the width or height of a part of a picture. */
export function percent(length: number): string {
  return `${Number(length.toFixed(3))}%`;
}

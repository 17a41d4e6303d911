/** Shows a share from 0 to 1 as a bar, hidden from screen readers because the number is next to the bar as text. */
export function Bar({ share }: { share: number }) {
  return (
    <svg class="bar" aria-hidden="true" focusable="false">
      <rect class="rail" width="100%" height="100%" />
      <rect class="fill" width={percent(Math.min(1, Math.max(0, share)) * 100)} height="100%" />
    </svg>
  );
}

/** Formats a length in a picture, in per cent of its width or height. */
export function percent(length: number): string {
  return `${Number(length.toFixed(3))}%`;
}

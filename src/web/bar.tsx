/** Shows a fraction (0 to 1) as a bar. Screen readers skip the bar, because the number is next to it as text. */
export function Bar({ share }: { share: number }) {
  return (
    <svg class="bar" aria-hidden="true">
      <rect width={percent(Math.min(1, Math.max(0, share)) * 100)} height="100%" />
    </svg>
  );
}

/** Formats a length as a percentage, for the width or height of a part of a picture. */
export function percent(length: number): string {
  return `${Number(length.toFixed(3))}%`;
}

/** A bar of a share from 0 to 1; the number stands in words beside it, so it is hidden from screen readers. */
export function Bar({ share }: { share: number }) {
  const width = Math.min(1, Math.max(0, share)) * 100;
  return (
    <svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" focusable="false">
      <rect class="rail" width="100" height="4" />
      <rect class="fill" width={Number(width.toFixed(3))} height="4" />
    </svg>
  );
}

/** The pattern of unobserved time, for the `defs` of a drawing; the same in every picture. */
export function Hatch({ id }: { id: string }) {
  return (
    <pattern id={id} width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <rect class="chart-hatch-line" width="3" height="8" />
    </pattern>
  );
}

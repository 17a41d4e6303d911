/** Defines the hatching pattern for unobserved time, for the `defs` element of an SVG image. */
export function Hatch({ id }: { id: string }) {
  return (
    <pattern id={id} width="8" height="8" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
      <rect class="chart-hatch-line" width="3" height="8" />
    </pattern>
  );
}

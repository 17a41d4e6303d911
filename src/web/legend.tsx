/** Kinds of chart symbols. The style sheet defines their appearance (classes `key …`). */
export type Sign =
  | 'up'
  | 'down'
  | 'seen'
  | 'unsure'
  | 'unseen'
  | 'part'
  | 'uncounted'
  | 'line'
  | 'line-labels'
  | 'usual'
  | 'faint'
  | 'above'
  | 'below'
  | 'apart';

/** Renders the legend of a chart: each symbol with its label. */
export function Legend({ signs }: { signs: readonly (readonly [Sign, string])[] }) {
  return (
    <ul class="legend">
      {signs.map(([sign, words]) => (
        <li key={sign}>
          <span class={`key ${sign}`} aria-hidden="true" /> {words}
        </li>
      ))}
    </ul>
  );
}

import type { LabelerFacts } from '../../../contract/labelers.ts';
import { Instant } from '../../../web/figures.tsx';
import { instantText } from '../../../web/format.ts';
import { type GapPart, gapParts } from './gap-parts.ts';

/** Lists the periods during which the labeler was not read, the newest first. */
export function LabelerGaps({ facts }: { facts: LabelerFacts }) {
  const { gap_overflow: overflow } = facts;
  const parts = gapParts(facts);
  return (
    <section aria-labelledby="gaps">
      <h2 id="gaps">Not read</h2>
      {parts.length === 0 ? (
        <p>No gap is recorded in the window. That does not prove that everything was observed.</p>
      ) : (
        <ul class="gaps">{parts.map((part) => <GapLine key={part.start.pointer} part={part} />).toReversed()}</ul>
      )}
      {overflow ? (
        <p class="soft">
          There were more gaps than can be listed: the closest ones are merged, including the time between them.
        </p>
      ) : null}
    </section>
  );
}

function GapLine({ part: { start, end, text } }: { part: GapPart }) {
  // Show seconds if both ends of the gap are within the same minute, so that they differ.
  const precision = instantText(start.value) === instantText(end.value) ? 'second' : 'minute';
  return (
    <li>
      <Instant value={start.value} at={start.pointer} precision={precision} /> to{' '}
      <Instant value={end.value} at={end.pointer} precision={precision} />: {text}
    </li>
  );
}

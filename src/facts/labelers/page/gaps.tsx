import type { LabelerFacts } from '../../../contract/labelers.ts';
import type { Gap } from '../../../contract/labels.ts';
import { Instant } from '../../../web/figures.tsx';
import { instantText } from '../../../web/format.ts';
import { at } from './places.ts';
import { labelerGapText } from './words.ts';

/** Lists the periods during which the labeler was not read, the newest first. */
export function LabelerGaps({ facts: { gaps, gap_overflow: overflow } }: { facts: LabelerFacts }) {
  return (
    <section aria-labelledby="gaps">
      <h2 id="gaps">Not read</h2>
      {gaps.length === 0 ? (
        <p>No gap is recorded in the window. That does not prove that everything was observed.</p>
      ) : (
        <ul class="gaps">
          {gaps.map((gap, index) => <GapLine key={index} gap={gap} where={`${at}/gaps/${index}`} />).toReversed()}
        </ul>
      )}
      {overflow ? (
        <p class="soft">
          There were more gaps than can be listed: the closest ones are merged, including the time between them.
        </p>
      ) : null}
    </section>
  );
}

function GapLine({ gap, where }: { gap: Gap; where: string }) {
  // Show seconds if both ends of the gap are within the same minute, so that they differ.
  const precision = instantText(gap.start) === instantText(gap.end) ? 'second' : 'minute';
  return (
    <li>
      <Instant value={gap.start} at={`${where}/start`} precision={precision} /> to{' '}
      <Instant value={gap.end} at={`${where}/end`} precision={precision} />: {labelerGapText[gap.reason]}
    </li>
  );
}

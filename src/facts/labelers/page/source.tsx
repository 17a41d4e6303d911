import type { ComponentChildren } from 'preact';
import type { LabelerProblem } from '../../../contract/labeler-vocabulary.ts';
import type { LabelerFacts } from '../../../contract/labelers.ts';
import { signatureVerdicts } from '../../../contract/vocabulary.ts';
import { Count, Instant } from '../../../web/figures.tsx';
import { Quote, Unknown } from '../../page/pieces.tsx';
import { at } from './places.ts';
import { enumeration, foundText, readByText, stateText, verdictText } from './words.ts';

/** Problems for which the page omits that Almanac continues to try: it does not, or the remedy already states it. */
const notRetried: ReadonlySet<LabelerProblem> = new Set(['denied_by_operator', 'share_exceeded', 'unknown']);

/**
 * Shows how a labeler's operator can end its problem, with a link to the page for operators; nothing if there is no
 * problem.
 */
export function Remedy({ facts: { remedy, problem } }: { facts: LabelerFacts }) {
  if (remedy === null) return null;
  return (
    <div class="panel warn">
      <p class="verdict">For the operator of this labeler</p>
      <p>
        <Quote text={remedy} at={`${at}/remedy`} />
      </p>
      <p>
        {problem !== null && notRetried.has(problem) ? null : 'Almanac continues to try by itself. '}
        <a href="../for-labelers">Which requests a labeler receives and how often, and how to ask for a change</a>
      </p>
    </div>
  );
}

/** Shows whether and how Almanac reads a labeler. */
export function SourceState({ facts }: { facts: LabelerFacts }) {
  const { state, state_since: since, found_by: found, read_by: readBy } = facts;
  return (
    <section aria-labelledby="state">
      <h2 id="state">How Almanac reads this labeler</h2>
      <dl class="particulars">
        <Particular name="State">
          <a href={`../method/labels#states-of-a-labeler-${state}`}>{stateText[state]}</a>, since{' '}
          <Instant value={since} at={`${at}/state_since`} />
        </Particular>
        <Particular name="Found in">
          {found.length === 0 ? <Unknown>not known</Unknown> : enumeration(found.map((way) => foundText[way]))}
        </Particular>
        <Particular name="Read">{readBy === null ? 'not now' : readByText[readBy]}</Particular>
        <Particular name="First read">
          <Known value={facts.first_answered} pointer="first_answered" />
        </Particular>
        <Particular name="Last read">
          <Known value={facts.last_answered} pointer="last_answered" />
        </Particular>
        <Particular name="Last row accepted">
          <Known value={facts.last_row} pointer="last_row" />
        </Particular>
        <Particular name="Its database">{replacesText(facts.replaces_rows)}</Particular>
      </dl>
    </section>
  );
}

function replacesText(replaces: boolean | null): string {
  if (replaces === null) return 'It is not known whether it keeps every row of a label.';
  return replaces
    ? 'It keeps only the newest row of each label, so that events that Almanac missed cannot be read later.'
    : 'It keeps every row of a label, so that gaps can be filled in later.';
}

function Known({ value, pointer }: { value: string | null; pointer: string }) {
  return value === null ? <Unknown>none</Unknown> : <Instant value={value} at={`${at}/${pointer}`} />;
}

function Particular({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Shows the results of signature checks and the delay of live labels. */
export function Checks({ facts }: { facts: LabelerFacts }) {
  const { counted_since: since, signatures, delay_ms: delay } = facts;
  return (
    <section aria-labelledby="checks">
      <h2 id="checks">Signatures and delay</h2>
      {since === null || signatures === null ? (
        <p>Signatures are not counted yet.</p>
      ) : facts.events.window === null ? (
        <p>No label of this labeler is known in the window, so no signature was checked.</p>
      ) : (
        <>
          <p class="soft">
            Counted since <Instant value={since} at={`${at}/counted_since`} />.
          </p>
          <ul>
            {signatureVerdicts.map((verdict) => (
              <li key={verdict}>
                <Count value={signatures[verdict]} at={`${at}/signatures/${verdict}`} /> {verdictText[verdict]}
              </li>
            ))}
          </ul>
        </>
      )}
      {delay === null ? (
        <p>The delay of its labels is not known.</p>
      ) : (
        <p>
          Delay from the time stated in a label to its acceptance: at most{' '}
          <Count value={delay.p50} at={`${at}/delay_ms/p50`} /> ms for half of the{' '}
          <Count value={delay.labels} at={`${at}/delay_ms/labels`} /> labels that arrived live, and at most{' '}
          <Count value={delay.p90} at={`${at}/delay_ms/p90`} /> ms for nine out of ten.
        </p>
      )}
    </section>
  );
}

import type { ComponentChildren } from 'preact';
import type { LabelFreshness } from '../../contract/envelope.ts';
import type { ErrorBody } from '../../contract/errors.ts';
import { Span } from '../../web/figures.tsx';
import { Foreign } from '../../web/foreign.tsx';

import type { Shown } from '../shown-facts.ts';

/** Components shared by the sections of the page. */

/** Shows text from the facts verbatim. */
export function Quote({ text, at }: { text: string; at: string }) {
  return (
    <span data-said={at}>
      <Foreign text={text} />
    </span>
  );
}

/** Shows a number in large type, with its unit. */
export function Stat({ figure, children }: { figure: ComponentChildren; children: ComponentChildren }) {
  return (
    <div class="stat">
      <dd>{figure}</dd>
      <dt>{children}</dt>
    </div>
  );
}

/** Shows text in place of an unknown number, which is never shown as zero. */
export function Unknown({ children }: { children: ComponentChildren }) {
  return <span class="unknown">{children}</span>;
}

/** Shows a picture, followed by a list of the things that it does not show. */
export function Picture({
  title,
  id,
  notShown,
  children,
}: {
  title: ComponentChildren;
  id: string;
  notShown: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="picture" aria-labelledby={id}>
      <div class="shown">
        <h3 id={id}>{title}</h3>
        {children}
      </div>
      <div class="beside">
        <h4>Not shown here</h4>
        {notShown}
      </div>
    </section>
  );
}

/** Lists verbatim what an instrument does not measure. */
export function NotMeasured({ items, at }: { items: readonly string[] | undefined; at: string }) {
  if (items === undefined) return <p>The instrument does not state what it does not measure.</p>;
  return (
    <ul class="plain">
      {items.map((item, index) => (
        <li key={index}>
          <Quote text={item} at={`${at}/provenance/does_not_measure/${index}`} />
        </li>
      ))}
    </ul>
  );
}

/**
 * Shows why a fact is missing: the service's reason for the refusal, or the missing response. Shows none of the numbers
 * of the fact.
 */
export function Refused({
  what,
  name,
  fact,
}: {
  what: string;
  name: string;
  fact: Exclude<Shown<never>, { kind: 'served' }>;
}) {
  return (
    <div class="panel stop refusal" data-refused={name}>
      <p class="verdict">{what}: refused</p>
      <RefusalReason error={fact.error} name={name} />
      <p class="soft">
        Code <code>{fact.error.code}</code>. No number is shown in its place.
      </p>
    </div>
  );
}

/**
 * Shows why a fact is refused: the service's message and, if an age or an unusable time caused the refusal, that age or
 * time.
 */
export function RefusalReason({ error: { message, freshness }, name }: { error: ErrorBody['error']; name: string }) {
  return (
    <>
      <p>
        <Quote text={message} at={`${name}/error/message`} />
      </p>
      {freshness ? <Overdue freshness={freshness} at={`${name}/error/freshness`} /> : null}
    </>
  );
}

function Overdue({ freshness, at }: { freshness: LabelFreshness; at: string }) {
  const { state, basis } = freshness;
  if (state === 'held') return null;
  const collection = basis === 'collection_observed_through';
  const subject = collection ? 'The newest collected page' : 'The reading';
  const age = collection ? freshness.collection_age_seconds : freshness.age_seconds;
  if (age === null || age === undefined) {
    return (
      <p>{collection ? 'No page of labels with a usable time was collected.' : 'The reading has no usable time.'}</p>
    );
  }
  const most = collection ? freshness.collection_max_age_seconds : freshness.max_age_seconds;
  const key = collection ? 'collection_' : '';
  return (
    <p>
      {subject} is <Age value={age} at={`${at}/${key}age_seconds`} />
      {most === undefined || state !== 'stale' ? null : (
        <>
          ; the limit is <Span value={most} at={`${at}/${key}max_age_seconds`} />
        </>
      )}
      .
    </p>
  );
}

/** Shows an age. For a time in the future, states how far it is ahead of this service's clock. */
export function Age({ value, at }: { value: number; at: string }) {
  return value < 0 ? (
    <>
      dated <Span value={-value} at={at} /> ahead of this service's clock
    </>
  ) : (
    <>
      <Span value={value} at={at} /> old
    </>
  );
}

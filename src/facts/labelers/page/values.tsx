import type { LabelerDefinition, LabelerFacts, LabelerValue } from '../../../contract/labelers.ts';
import { fewerThanFive } from '../../../contract/vocabulary.ts';
import { Count, Instant } from '../../../web/figures.tsx';
import { agreeing } from '../../../web/format.ts';
import { globalMeaning } from '../../../web/global-values.ts';
import { Quote, Unknown } from '../../page/pieces.tsx';
import { at } from './words.ts';

/** Shows the values that a labeler declares, with its own definitions and the observed events. */
export function Values({ facts }: { facts: LabelerFacts }) {
  const { values, definitions } = facts;
  const defined = new Map(definitions?.values.map((definition, index) => [definition.value, { definition, index }]));
  const counted = new Set(values.map(({ value }) => value));
  const rest = [...defined.values()].filter(({ definition }) => !counted.has(definition.value));
  return (
    <section aria-labelledby="values">
      <h2 id="values">What the labeler says about its values</h2>
      {definitions === null ? (
        <p>Its definitions are not known.</p>
      ) : (
        <p class="soft">
          The names and descriptions are the words of the labeler, as observed on{' '}
          <Instant value={definitions.seen_at} at={`${at}/definitions/seen_at`} />.
        </p>
      )}
      {values.length + rest.length === 0 ? (
        <p>No value is listed.</p>
      ) : (
        <ul class="values">
          {values.map((value, index) => (
            <li key={value.value}>
              <Name value={value.value} where={`${at}/values/${index}/value`} />
              <Events value={value} where={`${at}/values/${index}`} facts={facts} />
              <Definition value={value.value} found={defined.get(value.value)} />
            </li>
          ))}
          {rest.map((found) => (
            <li key={found.definition.value}>
              <Name value={found.definition.value} where={`${at}/definitions/values/${found.index}/value`} />
              <Definition value={found.definition.value} found={found} />
            </li>
          ))}
        </ul>
      )}
      <Rest facts={facts} />
    </section>
  );
}

function Name({ value, where }: { value: string; where: string }) {
  return (
    <h3>
      <Quote text={value} at={where} />
    </h3>
  );
}

function Events({
  value: { events, first_defined, last_defined },
  where,
  facts,
}: {
  value: LabelerValue;
  where: string;
  facts: LabelerFacts;
}) {
  return (
    <p>
      <SmallCount value={events} where={`${where}/events`} facts={facts} />. Seen in its definitions since{' '}
      <Quote text={first_defined} at={`${where}/first_defined`} />
      {last_defined === null ? null : (
        <>
          , last on <Quote text={last_defined} at={`${where}/last_defined`} />
        </>
      )}
      .
    </p>
  );
}

/** Shows an event count, or states that the count is below five, withheld, not yet started, or unknown. */
function SmallCount({ value, where, facts }: { value: LabelerValue['events']; where: string; facts: LabelerFacts }) {
  if (value === null) {
    const isCounted = facts.counted_since !== null;
    return <Unknown>{isCounted ? 'Number withheld: it would reveal a small count' : 'Events not counted yet'}</Unknown>;
  }
  if (value === fewerThanFive) {
    // If nothing was read in the window, `fewer_than_5` in the artifact does not show how many events there were.
    return facts.events.window === null ? (
      <Unknown>Not read, so its events are not known</Unknown>
    ) : (
      <>Fewer than five events</>
    );
  }
  return (
    <>
      <Count value={value} at={where} /> {agreeing(value, 'event', 'events')}
    </>
  );
}

function Definition({
  value,
  found,
}: {
  value: string;
  found: { readonly definition: LabelerDefinition; readonly index: number } | undefined;
}) {
  if (!found) {
    const meaning = globalMeaning(value, 'en');
    return (
      <p class="soft">
        {meaning === null
          ? 'No name or description of it is known now.'
          : `Common meaning, as the labeler provides no description: ${meaning}`}
      </p>
    );
  }
  const { definition, index } = found;
  const where = `${at}/definitions/values/${index}`;
  const { locales, withheld } = definition;
  const chosen = Math.max(
    0,
    locales.findIndex(({ lang }) => lang === 'en' || lang.startsWith('en-')),
  );
  return (
    <>
      {locales[chosen] === undefined ? null : <Locale definition={definition} index={chosen} where={where} />}
      {locales.length < 2 ? null : (
        <details>
          <summary>In other languages</summary>
          {locales.map((locale, other) =>
            other === chosen ? null : (
              <Locale key={`${locale.lang} ${other}`} definition={definition} index={other} where={where} />
            ),
          )}
        </details>
      )}
      {withheld === undefined ? null : (
        <p class="soft">A text of this definition is withheld, because it contains an identity.</p>
      )}
    </>
  );
}

function Locale({ definition, index, where }: { definition: LabelerDefinition; index: number; where: string }) {
  const locale = definition.locales[index];
  if (!locale) return null;
  const place = `${where}/locales/${index}`;
  return (
    <p class="definition" lang={/^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$/.test(locale.lang) ? locale.lang : undefined}>
      <Quote text={locale.name} at={`${place}/name`} />
      {locale.description === '' ? null : (
        <>
          {': '}
          <Quote text={locale.description} at={`${place}/description`} />
        </>
      )}
    </p>
  );
}

function Rest({ facts }: { facts: LabelerFacts }) {
  const { undeclared, values, values_omitted: omitted, counted_since: since } = facts;
  // Without a declared value, no small count can be the reason for a missing number.
  const isUnknown = undeclared === null && values.length + omitted === 0;
  return (
    <>
      <p>
        {undeclared === null && since === null ? (
          'The events of values that the labeler does not declare are not counted yet.'
        ) : isUnknown ? (
          'The number of events of undeclared values is not known now.'
        ) : (
          <>
            All other values together: <SmallCount value={undeclared} where={`${at}/undeclared`} facts={facts} />.
          </>
        )}
        {since === null ? null : (
          <>
            {' '}
            Events of values are counted since <Instant value={since} at={`${at}/counted_since`} />.
          </>
        )}
      </p>
      {omitted === 0 ? null : (
        <p>
          <Count value={omitted} at={`${at}/values_omitted`} /> more declared{' '}
          {agreeing(omitted, 'value is', 'values are')} not listed.
        </p>
      )}
    </>
  );
}

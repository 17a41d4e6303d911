import type { ObservatoryFacts, Shown } from './model.ts';
import { Quote } from './pieces.tsx';

/**
 * Shows the caveats of each fact completely and verbatim, because they are part of the fact. A refused fact has no
 * caveats.
 */
export function Caveats({ facts: { conditions, metrics, labels } }: { facts: ObservatoryFacts }) {
  // Both weather facts have the same caveats, so one list is enough.
  const weather = conditions.kind === 'served' ? conditions : metrics;
  const weatherName = conditions.kind === 'served' ? 'conditions' : 'metrics';
  return (
    <section aria-labelledby="caveats">
      <h2 id="caveats">Caveats</h2>
      <div class="cards">
        <List title="Weather" fact={weather} at={weatherName} />
        <List title="Labels" fact={labels} at="labels" />
      </div>
    </section>
  );
}

function List({
  title,
  fact,
  at,
}: {
  title: string;
  fact: Shown<{ readonly caveats: readonly string[] }>;
  at: string;
}) {
  return (
    <div>
      <h3>{title}</h3>
      {fact.kind === 'served' ? (
        <ul>
          {fact.envelope.caveats.map((caveat, index) => (
            <li key={index}>
              <Quote text={caveat} at={`${at}/caveats/${index}`} />
            </li>
          ))}
        </ul>
      ) : (
        <p>Its content is not shown now.</p>
      )}
    </div>
  );
}

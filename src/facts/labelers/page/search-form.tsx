import { type LabelerState, labelerStates } from '../../../contract/labeler-vocabulary.ts';
import { type SortKey, sortKeys } from '../catalogue.ts';
import { type ListQuery, maxSearchBytes, queryText } from '../query.ts';
import { sortText, stateText } from './words.ts';

/** Shows the search form of the list, which works without scripts. */
export function SearchForm({ query, states }: { query: ListQuery; states: Readonly<Record<LabelerState, number>> }) {
  const present = labelerStates.filter((state) => states[state] > 0 || query.state === state);
  return (
    <search>
      <form class="find" action="./labelers" method="get">
        <div>
          <label for="q">Name or DID</label>
          <input id="q" name="q" type="search" maxLength={maxSearchBytes} value={query.q} autocomplete="off" />
        </div>
        <div>
          <label for="state">State</label>
          <select id="state" name="state">
            <option value="" selected={query.state === null}>
              any state
            </option>
            {present.map((state) => (
              <option key={state} value={state} selected={query.state === state}>
                {stateText[state]}
              </option>
            ))}
          </select>
        </div>
        <div>
          <label for="sort">Order</label>
          <select id="sort" name="sort">
            {sortKeys.map((key) => (
              <option key={key} value={key} selected={query.sort === key}>
                {sortText[key]}
              </option>
            ))}
          </select>
        </div>
        <button type="submit">Show</button>
      </form>
    </search>
  );
}

/** Returns the link to the first page of the list in another sort order. */
export function sortLink(query: ListQuery, sort: SortKey): string {
  return `./labelers${queryText({ ...query, sort, page: 1 })}`;
}

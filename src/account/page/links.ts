import { formatMicros, type Micros } from '../../contract/timestamp.ts';
import type { Interval } from '../../store/time.ts';
import type { Language } from '../../web/language.ts';
import { type AccountFilters, type AskedQuery, type DayShortcut, searchText } from '../query/query.ts';
import type { Texts } from '../texts/en.ts';
import { languageParameter } from './choose-language.ts';

/** Properties that all parts of a page share. */
export interface PageFrame {
  /** Base path, which is the prefix of all links. */
  readonly base: string;
  /** True if the service resolves handles. */
  readonly handles: boolean;
  readonly t: Texts;
  /** Language selected by the query, which all links keep, or null if the request's header determines the language. */
  readonly selected: Language | null;
}

/** Name of the query parameter with the position at which the list of a part continues. */
export const beforeParameter = 'before';

/**
 * Returns the links of an account's page and functions that create them. Each link keeps the interval and filters that
 * it does not change. Links to pages also keep the language if the query selects it.
 */
export function accountLinks({ base, selected }: PageFrame, query: AskedQuery) {
  const rest = selected === null ? '' : `&${languageParameter}=${selected}`;
  const link = (changed: Partial<AskedQuery>): string =>
    `${base}/account?${searchText({ ...query, ...changed })}${rest}`;
  return {
    self: link({}),
    days: (days: DayShortcut): string => link({ asked: { kind: 'days', days } }),
    interval: ({ start, end }: Interval): string => link({ asked: { kind: 'explicit', start, end } }),
    filtered: (filters: AccountFilters): string => link({ filters: { ...query.filters, ...filters } }),
    /** Returns the link to a labeler's observations, and a function for links to those with one value. */
    ofLabeler: (labeler: string) => {
      const { value: _, ...filters } = query.filters;
      // A page has many of these links, so format the common part only once.
      const search = searchText({ ...query, filters: { ...filters, labeler } });
      return {
        all: link({ filters: { ...query.filters, labeler } }),
        withValue: (value: string): string =>
          `${base}/account?${search}&value=${encodeURIComponent(value.toWellFormed())}${rest}`,
      };
    },
    without: (name: keyof AccountFilters): string => {
      const { [name]: _, ...filters } = query.filters;
      return link({ filters });
    },
    unfiltered: link({ filters: {} }),
    older: (target_kind: NonNullable<AccountFilters['target_kind']>, before: Micros): string =>
      `${link({ filters: { ...query.filters, target_kind } })}&${beforeParameter}=${formatMicros(before)}`,
    export: `${base}/exports?${searchText(query)}`,
  };
}

/** Links of an account's page, and functions that create them. */
export type AccountLinks = ReturnType<typeof accountLinks>;

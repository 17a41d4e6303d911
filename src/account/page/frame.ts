import type { Language } from '../../web/language/language.ts';
import type { Texts } from '../texts/texts.ts';

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

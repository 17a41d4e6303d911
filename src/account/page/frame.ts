import type { Language } from '../../web/language/language.ts';
import type { Texts } from '../texts/texts.ts';

/** Properties that every page of one request shares. */
export interface PageFrame {
  /** Base path, which is the prefix of all links. */
  readonly base: string;
  /** True if the service resolves handles. */
  readonly handles: boolean;
  readonly t: Texts;
  /** Language that the query selects, which links keep; null if the request's header decides. */
  readonly selected: Language | null;
}

import type { CollectionName, Wire } from '../../contract/vocabulary.ts';
import type { FactName } from '../days/facts.ts';

/** Name of something that the archive keeps for each hour: a published fact, or the hours file of an instrument. */
export type KeptName = FactName | 'weather-hours' | 'labels-hours';

/** A period that was not archived, not published, or not observed; start inclusive, end exclusive. */
export interface ArchiveGap {
  /**
   * Cause of the gap. `archive`: this archive has no response or no counts. `publication`: the facts API refused the
   * fact. `labels`, `weather`: the instrument did not observe.
   */
  readonly source: 'archive' | 'publication' | 'labels' | 'weather';
  /** Name of the missing fact or hours file; present for the sources `archive` and `publication` only. */
  readonly fact?: KeptName;
  /** Set to `instrument` if the label instrument observed no labeler at all. */
  readonly scope?: 'instrument';
  /** DID of the labeler that was not observed. */
  readonly labeler_did?: string;
  /** Host that was not observed; with `protocol`, it identifies the weather series. */
  readonly host?: string;
  readonly protocol?: Wire;
  /** Collection that was silent while other collections had events. */
  readonly collection?: CollectionName;
  readonly start: string;
  readonly end: string;
  readonly reason: string;
  /** Number of unobserved seconds in the interval; present if the facts state only this number and not the times. */
  readonly unobserved_seconds?: number;
}

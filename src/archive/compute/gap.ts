import type { CollectionName, Wire } from '../../contract/vocabulary.ts';
import type { FactName } from '../days/facts.ts';

/** Names of what the archive keeps for every hour: the published facts, and the hours files of the instruments. */
export type KeptName = FactName | 'weather-hours' | 'labels-hours';

/** A time that was not archived, not published, or not observed; start inclusive, end exclusive. */
export interface ArchiveGap {
  /** `archive`: this archive has no response or no counts. `publication`: a fact was refused. Otherwise the instrument. */
  readonly source: 'archive' | 'publication' | 'labels' | 'weather';
  /** Name of what is missing, for the first two sources. */
  readonly fact?: KeptName;
  /** `instrument`: the label instrument observed no labeler. */
  readonly scope?: 'instrument';
  /** The labeler that was not observed. */
  readonly labeler_did?: string;
  /** Host and protocol of the series of weather. */
  readonly host?: string;
  readonly protocol?: Wire;
  /** The kind of events that was not observed while others were. */
  readonly collection?: CollectionName;
  readonly start: string;
  readonly end: string;
  readonly reason: string;
  /** Seconds within the interval that were not observed, if the facts do not state which. */
  readonly unobserved_seconds?: number;
}

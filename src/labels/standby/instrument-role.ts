import type { Micros } from '../../contract/timestamp.ts';
import type { StoreStandby } from '../../store/standby/standby.ts';
import type { Role } from '../state/role.ts';
import type { StandbyStore } from './standby-store.ts';

/** Role of an instrument that began as a standby, with its store. */
export interface InstrumentRole {
  role: Role;
  /**
   * Number that increases at the takeover. Pages that were judged before the takeover must be judged again, because
   * the refused labels of the former writer count from then on.
   */
  generation: number;
  /** View of the store while another process writes it. */
  readonly standby: StoreStandby;
  /** Store that keeps the standby's changes in memory until the takeover. */
  readonly kept: StandbyStore;
  /** Called once, after the instrument has become active. */
  readonly activated: () => void;
}

/** Returns true if the instrument writes and publishes. */
export function isActive(role: InstrumentRole | undefined): boolean {
  return role === undefined || role.role === 'active';
}

/** Times that a standby has recorded, used to determine the gaps at the takeover. */
export interface Watched {
  /** Time at which this instrument began to observe. */
  readonly observedSince: Micros;
  /**
   * Last time at which the heartbeat of the former writer changed; null if it never changed while this standby watched.
   */
  readonly aliveAt: Micros | null;
  /** For each DID, the time at which this instrument had first read all labels of the source. */
  readonly liveSince: ReadonlyMap<string, Micros>;
  /**
   * For each DID, the time up to which the source was complete when this instrument began to read it from the stored
   * position.
   */
  readonly readFrom: ReadonlyMap<string, Micros>;
}

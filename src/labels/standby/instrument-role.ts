import type { Micros } from '../../contract/timestamp.ts';
import type { StoreStandby } from '../../store/standby/standby.ts';
import type { Role } from '../state/role.ts';
import type { StandbyStore } from './standby-store.ts';

/** Role of an instrument that began as a standby, with its store. */
export interface InstrumentRole {
  role: Role;
  /** Number that increases when pages must be judged again, because the refused labels of the former writer count now. */
  generation: number;
  readonly standby: StoreStandby;
  readonly kept: StandbyStore;
  /** Called once, when the instrument has become the active one. */
  readonly activated: () => void;
}

/** Returns true if the instrument writes and publishes. */
export function isActive(role: InstrumentRole | undefined): boolean {
  return role === undefined || role.role === 'active';
}

/** Times that a standby has seen, by which the change of the writer is judged. */
export interface Watched {
  /** Time at which this instrument began to observe. */
  readonly observedSince: Micros;
  /** Last time at which the former writer was seen to work; null if it never was. */
  readonly aliveAt: Micros | null;
  /** Time at which this instrument had first read all labels of a source, by DID. */
  readonly liveSince: ReadonlyMap<string, Micros>;
  /** Time up to which a source was complete when this instrument began to read it from the stored position, by DID. */
  readonly readFrom: ReadonlyMap<string, Micros>;
}

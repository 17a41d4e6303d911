import type { Cutover } from './connection.ts';
import type { Lie } from './liar.ts';

/** Faults that affect a handshake and its connection. */
export interface HandshakeFaults {
  /** Returns the HTTP status with which a handshake is refused; null to accept it. */
  refusal(): number | null;
  /** Returns the number of a connection's first event; `honest` is the number that its cursor means without a fault. */
  start(connection: number, cursorUs: number | null, honest: number): number;
  /** Returns the fault at the connection's transition from replay to live traffic; null for none. */
  cutover(connection: number): Cutover | null;
  /** Returns the replacement for regular frames on every connection; null while the host is honest. */
  lie(): Lie | null;
}

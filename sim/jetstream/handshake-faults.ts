import type { Cutover } from './connection.ts';
import type { Liar } from './liar.ts';

/** Faults that affect a handshake and the connection that results from it. */
export interface HandshakeFaults {
  /** Returns the HTTP status and the text with which to refuse a handshake, or null to accept it. */
  refusal(): { readonly status: number; readonly message: string } | null;
  /**
   * Returns the number of a connection's first event. `honest` is the number that its cursor denotes without a fault.
   */
  start(connection: number, cursorUs: number | null, honest: number): number;
  /** Returns the fault at the connection's transition from replay to live traffic, or null for none. */
  cutover(connection: number): Cutover | null;
  /** Returns the function that falsifies frames on every connection, or null while the host is honest. */
  lie(): Liar | null;
}

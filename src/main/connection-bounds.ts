import type { ConnectionBounds } from '../http/connection-table.ts';

/** The bounds of connections that an operator sets. Behind a trusted proxy a peer stands for many clients. */
export function connectionBounds(settings: {
  readonly maxConnections: number;
  readonly clientConnections: number;
  readonly trustProxy: number;
}): Pick<ConnectionBounds, 'total' | 'perClient'> {
  const { maxConnections, clientConnections, trustProxy } = settings;
  return { total: maxConnections, perClient: clientConnections === 0 || trustProxy > 0 ? null : clientConnections };
}

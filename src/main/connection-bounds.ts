import type { ConnectionBounds } from '../http/connections/connection-table.ts';

/**
 * Returns the connection limits that the operator configured. Behind a trusted proxy, one peer address serves many
 * clients.
 */
export function connectionBounds(settings: {
  readonly maxConnections: number;
  readonly clientConnections: number;
  readonly trustProxy: number;
}): Pick<ConnectionBounds, 'total' | 'perClient'> {
  const { maxConnections, clientConnections, trustProxy } = settings;
  return { total: maxConnections, perClient: clientConnections === 0 || trustProxy > 0 ? null : clientConnections };
}

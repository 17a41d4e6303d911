import type { ConnectionBounds } from '../http/connections/connection-table.ts';

/**
 * Returns the connection limits that the operator configured. The limit per client is null if it is configured as 0,
 * or if a proxy is trusted, because many clients then share one peer address.
 */
export function connectionBounds(settings: {
  readonly maxConnections: number;
  readonly clientConnections: number;
  readonly trustProxy: number;
}): Pick<ConnectionBounds, 'total' | 'perClient'> {
  const { maxConnections, clientConnections, trustProxy } = settings;
  return { total: maxConnections, perClient: clientConnections === 0 || trustProxy > 0 ? null : clientConnections };
}

import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { Duplex } from 'node:stream';

/** Connection pools that share one limit on idle connections. */
export interface BoundedAgents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
  /** Closes all idle connections. */
  destroy(): void;
}

/**
 * Creates the connection pools. `maxIdle` is the maximum number of idle connections of both pools together; `idleMs` is
 * the lifetime of an idle connection, in milliseconds.
 */
export function boundedAgents({ maxIdle, idleMs }: { maxIdle: number; idleMs: number }): BoundedAgents {
  const idle = createIdleSockets(maxIdle);
  // The agent uses no proxy, because `proxyEnv` is not set. Slots limit active connections, so the agents limit only
  // idle connections.
  const options = { keepAlive: true, timeout: idleMs, maxFreeSockets: maxIdle };
  const [http, https] = [new HttpAgent(options), new HttpsAgent(options)];
  for (const agent of [http, https]) boundIdle(agent, idle);
  return {
    http,
    https,
    destroy() {
      http.destroy();
      https.destroy();
    },
  };
}

/** Idle sockets, the oldest first. If the maximum number is exceeded, `add` closes the oldest socket. */
interface IdleSockets {
  add(socket: Duplex): void;
  remove(socket: Duplex): void;
}

function createIdleSockets(max: number): IdleSockets {
  const sockets = new Map<Duplex, () => void>();

  function remove(socket: Duplex): void {
    const gone = sockets.get(socket);
    if (gone) socket.off('close', gone);
    sockets.delete(socket);
  }

  return {
    add(socket) {
      const gone = (): void => remove(socket);
      sockets.set(socket, gone);
      socket.once('close', gone);
      const [oldest] = sockets.keys();
      if (sockets.size <= max || !oldest) return;
      remove(oldest);
      oldest.destroy();
    },
    remove,
  };
}

/**
 * Limits the idle sockets of an agent by replacing two of the agent's methods, because node limits idle sockets only
 * per host.
 */
function boundIdle(agent: HttpAgent, idle: IdleSockets): void {
  const keep = agent.keepSocketAlive.bind(agent);
  const reuse = agent.reuseSocket.bind(agent);
  agent.keepSocketAlive = (socket) => {
    // `keep` returns a boolean, although it is declared to return `void`.
    const kept = (keep as (socket: Duplex) => unknown)(socket) === true;
    if (kept) idle.add(socket);
    return kept;
  };
  agent.reuseSocket = (socket, request) => {
    idle.remove(socket);
    reuse(socket, request);
  };
}

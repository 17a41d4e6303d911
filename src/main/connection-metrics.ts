import { Counter, Gauge, type Registry } from 'prom-client';
import { cutReasons } from '../http/connections/connection-table.ts';

/** Registers a counter of connections that the server closed, by reason. */
export function connectionCuts(name: string, registry: Registry): Counter<'reason'> {
  const cut = new Counter({
    name,
    help: 'Connections closed to protect the server and its other clients, by reason.',
    labelNames: ['reason'],
    registers: [registry],
  });
  for (const reason of cutReasons) cut.inc({ reason }, 0);
  return cut;
}

/**
 * Registers a gauge of open connections. Returns the function that registers the source of the count; the gauge is 0
 * until a source is registered.
 */
export function connectionCount(name: string, registry: Registry): (count: () => number) => void {
  let ask = (): number => 0;
  new Gauge({
    name,
    help: 'Open connections.',
    registers: [registry],
    collect() {
      this.set(ask());
    },
  });
  return (count) => {
    ask = count;
  };
}

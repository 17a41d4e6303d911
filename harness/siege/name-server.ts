import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DnsServer } from '../../sim/dns/server.ts';
import { hostileZone } from '../../sim/dns/zone.ts';
import { canReplaceNameServer } from './unit-limits.ts';

/** A name server for the hostile zone, and a resolv.conf that makes a process use it. */
export interface NameServer {
  readonly resolvConf: string;
  readonly fired: ReadonlyMap<string, number>;
  stop(): Promise<void>;
}

/**
 * Starts a name server. Resolves with null if this user is not permitted to listen on port 53 or to replace a process's
 * /etc/resolv.conf.
 */
export async function startNameServer(folder: string): Promise<NameServer | null> {
  if (!canReplaceNameServer()) return null;
  const server = new DnsServer(hostileZone);
  const address = `127.53.${(process.pid >> 8) & 255}.${process.pid & 255 || 1}`;
  try {
    await server.start(address, 53);
  } catch {
    await server.stop();
    return null;
  }
  const resolvConf = join(folder, 'resolv.conf');
  writeFileSync(resolvConf, `nameserver ${address}\n`);
  return { resolvConf, fired: server.fired, stop: () => server.stop() };
}

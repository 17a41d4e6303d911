import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { call } from './machine.ts';

/**
 * Writes the certificate of a new authority, and a server certificate for the given addresses. Returns the path of the
 * authority's certificate.
 */
export function writeCertificates(folder: string, addresses: readonly string[]): string {
  mkdirSync(folder, { recursive: true });
  const cwd = { cwd: folder };
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '30'];
  call('openssl', ['req', '-x509', ...key, '-keyout', 'ca.key', '-out', 'ca.crt', '-subj', '/CN=failover proof'], cwd);
  call('openssl', ['req', ...key, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=database'], cwd);
  writeFileSync(join(folder, 'names'), `subjectAltName=${addresses.map((address) => `IP:${address}`).join()}\n`);
  const sign = ['-req', '-in', 'server.csr', '-CA', 'ca.crt', '-CAkey', 'ca.key', '-days', '30'];
  call('openssl', ['x509', ...sign, '-extfile', 'names', '-out', 'server.crt'], cwd);
  return join(folder, 'ca.crt');
}

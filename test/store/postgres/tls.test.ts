import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../../harness/net/ports.ts';
import { hasPostgres, newFolder, type PostgresServer, startPostgres } from '../../../harness/postgres/server.ts';
import { parsePostgresUrl } from '../../../src/store/postgres/base/place.ts';
import { Session } from '../../../src/store/postgres/base/session.ts';

/** Creates a certificate authority in a directory. It signs the certificates of servers. */
function authorityIn(folder: string, name: string) {
  const path = (file: string): string => join(folder, `${name}-${file}`);
  const openssl = (...args: readonly string[]): void => void execFileSync('openssl', args, { stdio: 'pipe' });
  const newKey = ['req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(...newKey, '-x509', '-days', '2', '-subj', `/CN=${name}`, '-keyout', path('ca.key'), '-out', path('ca.pem'));
  return {
    certificates: path('ca.pem'),
    /** Returns the server settings for a new certificate with a subject such as `IP:127.0.0.1`. */
    settingsFor(subject: string) {
      openssl(...newKey, '-subj', '/CN=server', '-keyout', path('server.key'), '-out', path('server.csr'));
      writeFileSync(path('names'), `subjectAltName=${subject}\n`);
      const signing = ['-CA', path('ca.pem'), '-CAkey', path('ca.key'), '-CAcreateserial', '-extfile', path('names')];
      openssl('x509', '-req', '-in', path('server.csr'), '-days', '2', ...signing, '-out', path('server.pem'));
      // PostgreSQL reads its key as its own user, and refuses a key that others may read.
      chownSync(path('server.key'), statSync(folder).uid, -1);
      chmodSync(path('server.key'), 0o600);
      return { ssl: 'on', ssl_cert_file: path('server.pem'), ssl_key_file: path('server.key') };
    },
  };
}

/** Returns true if a connection is encrypted. Rejects if the client does not accept the server's certificate. */
async function isEncrypted({ client: { port } }: PostgresServer, options: string): Promise<boolean> {
  const session = new Session(parsePostgresUrl(`postgres://almanac@127.0.0.1:${port}/postgres?${options}`), 'any', 1);
  try {
    const sql = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()';
    return (await session.read((queries) => queries.rows<{ ssl: boolean }>(sql)))[0]?.ssl === true;
  } finally {
    await session.close();
  }
}

describe.skipIf(!hasPostgres())('a connection to PostgreSQL with TLS', () => {
  const servers: PostgresServer[] = [];
  const folder = newFolder();
  const own = authorityIn(folder, 'own');
  const other = authorityIn(folder, 'other');
  const trusting = (authority: typeof own): string => `sslmode=verify-full&sslrootcert=${authority.certificates}`;
  const start = async (subject: string): Promise<PostgresServer> => {
    const server = await startPostgres({ port: await freePort(), settings: own.settingsFor(subject) });
    servers.push(server);
    return server;
  };
  let named: PostgresServer;
  beforeAll(async () => {
    named = await start('IP:127.0.0.1');
  });
  afterAll(async () => {
    for (const server of servers) await server.stop();
  });

  test("is made if the server's certificate contains the server's name and is signed by the given authority", async () => {
    expect(await isEncrypted(named, trusting(own))).toBe(true);
  });

  test('is refused if another authority signed the certificate', async () => {
    await expect(isEncrypted(named, trusting(other))).rejects.toMatchObject({ code: 'unreachable' });
  });

  test("is refused if none of the system's authorities signed the certificate", async () => {
    await expect(isEncrypted(named, 'sslmode=verify-full')).rejects.toMatchObject({ code: 'unreachable' });
  });

  test.each(['DNS:other.example', 'DNS:localhost'])(
    'is refused with verify-full, but made with require, if the certificate is issued for %s',
    async (subject) => {
      const server = await start(subject);
      await expect(isEncrypted(server, trusting(own))).rejects.toMatchObject({ code: 'unreachable' });
      expect(await isEncrypted(server, 'sslmode=require')).toBe(true);
    },
  );
});

import { describe, expect, it } from 'vitest';
import { parseStoreUrl } from '../../open.ts';
import { parsePostgresUrl } from './place.ts';

describe('the URL of a store in PostgreSQL', () => {
  it('is parsed into servers in order, a user, a database and a schema', () => {
    expect(parseStoreUrl('postgres://writer@db1.example,[2001:db8::1]:5433/labels?schema=mine')).toEqual({
      kind: 'postgres',
      hosts: [
        { host: 'db1.example', port: 5432 },
        { host: '2001:db8::1', port: 5433 },
      ],
      ...{ user: 'writer', database: 'labels', schema: 'mine', target: 'any', tls: 'verify-full' },
      ...{ tlsAuthorities: null, passwordFile: null, connections: 4 },
    });
  });

  it('can state a socket directory instead of a host', () => {
    const place = parsePostgresUrl('postgresql:///labels?host=/run/postgresql&port=6432');
    expect(place).toMatchObject({ hosts: [{ host: '/run/postgresql', port: 6432 }], user: 'almanac', tls: 'disable' });
  });

  it.each([
    ['postgres://db.example/labels', 'verify-full'],
    ['postgres://127.0.0.1,db.example/labels', 'verify-full'],
    ['postgres://localhost:5433/labels', 'disable'],
    ['postgres://db.example/labels?sslmode=require', 'require'],
    ['POSTGRES://127.0.0.2/labels', 'disable'],
    ['postgres://127.evil.example/labels', 'verify-full'],
    ['postgres://127.0.0.1.evil.example/labels', 'verify-full'],
  ])('in the form %s implies the TLS mode %s', (url, tls) => {
    expect(parsePostgresUrl(url).tls).toBe(tls);
  });

  it.each([
    ['postgres://writer:secret@db.example/labels', 'password'],
    ['POSTGRES://writer:secret@db.example/labels', 'password'],
    ['postgres://writer%3Asecret@db.example/labels', 'password'],
    ['pgsql://writer:secret@db.example/labels', 'not a store'],
    ['sqlite://writer:secret@db.example/labels', 'not a store'],
    ['postgres://writer:pa/ss?secret=1@db.example/labels', 'unknown'],
    ['postgres://db.example', 'it is malformed'],
    ['postgres:///labels', 'no host'],
    ['postgres://db.example:0/labels', 'port'],
    ['postgres://db.example:99999/labels', 'port'],
    ['postgres://db example/labels', 'host'],
    ['postgres://db.example/labels?schema=Mine', 'schema'],
    ['postgres://db.example/labels?schema=a;b', 'schema'],
    ['postgres://db.example/labels?password=secret', 'unknown'],
    ['postgres://db.example/labels?sslmode=prefer', 'sslmode'],
    ['postgres://db.example/labels?target_session_attrs=read-write', 'target_session_attrs'],
    ['postgres://db.example/labels?connections=0', 'connections'],
    ['postgres://%zz@db.example/labels', 'percent'],
  ])('is refused in the form %s, with a message that does not repeat the password', (url, why) => {
    expect(() => parseStoreUrl(url)).toThrowError(expect.objectContaining({ name: 'OperatorError' }));
    expect(() => parseStoreUrl(url)).toThrowError(why);
    expect(() => parseStoreUrl(url)).not.toThrowError(/secret/);
  });
});

import { isIPv4 } from 'node:net';
import { OperatorError } from '../../../ops/errors.ts';

/** Host and port of one server. A host that begins with a slash is the directory of a Unix socket. */
export interface PostgresHost {
  readonly host: string;
  readonly port: number;
}

const sessionKinds = ['any', 'primary', 'standby', 'prefer-standby'] as const;
/** Server role that a reader requires, like libpq's `target_session_attrs`. A writer always requires the primary. */
export type SessionKind = (typeof sessionKinds)[number];

const tlsModes = ['disable', 'require', 'verify-full'] as const;
/** TLS mode, like libpq's `sslmode`. */
type TlsMode = (typeof tlsModes)[number];

/** Location of a store in a PostgreSQL database, parsed from its URL. */
export interface PostgresPlace {
  readonly kind: 'postgres';
  /** Servers in the order in which they are tried. */
  readonly hosts: readonly PostgresHost[];
  readonly user: string;
  readonly database: string;
  /** Schema that contains the store. */
  readonly schema: string;
  readonly target: SessionKind;
  readonly tls: TlsMode;
  /** File with the certificates of trusted authorities, or null to trust the authorities of the system. */
  readonly tlsAuthorities: string | null;
  /** File that contains only the password. If it is null, PGPASSWORD, PGPASSFILE or ~/.pgpass apply. */
  readonly passwordFile: string | null;
  /** Maximum number of connections of one reader. */
  readonly connections: number;
}

/** Expected form of the URL, for messages. */
export const postgresUrlForm = 'postgres://USER@HOST[:PORT][,HOST…]/DATABASE';

const defaultPort = 5432;
const defaultConnections = 4;
const parameters = [
  'schema',
  'host',
  'port',
  'target_session_attrs',
  'sslmode',
  'sslrootcert',
  'passwordfile',
  'connections',
];
/**
 * Message for an unknown parameter. The message does not repeat the parameter, because part of a password can look
 * like a parameter.
 */
const unknownParameter = `a parameter is unknown; the known parameters are ${parameters.join(', ')}`;
const pattern = /^postgres(?:ql)?:\/\/(?:([^@/?#]*)@)?([^/?#]*)\/([^/?#]+)(?:\?([^#]*))?$/i;
const hostPattern = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/;
const schemaPattern = /^[a-z_][a-z0-9_]{0,39}$/;

/** Returns true if a store URL names a PostgreSQL database. */
export function isPostgresUrl(url: string): boolean {
  return /^postgres(?:ql)?:/i.test(url);
}

/**
 * Parses the URL of a store in a PostgreSQL database. Throws an `OperatorError` that does not repeat the URL, because
 * an invalid URL may contain a password.
 */
export function parsePostgresUrl(url: string): PostgresPlace {
  const [, encodedLogin = '', authority = '', database = '', search = ''] =
    pattern.exec(url) ?? refuse('it is malformed');
  const login = decode(encodedLogin);
  if (login.includes(':')) {
    refuse('it contains a password, which other users could see: use PGPASSWORD, PGPASSFILE or ?passwordfile=FILE');
  }
  const options = new URLSearchParams(search);
  for (const name of options.keys()) if (!parameters.includes(name)) refuse(unknownParameter);
  const hosts = hostsOf(authority, options);
  const schema = options.get('schema') ?? 'almanac';
  if (!schemaPattern.test(schema)) refuse('schema must consist of a-z, 0-9 and _, and be at most 40 characters long');
  const isLocal = hosts.every(({ host }) => host.startsWith('/') || isLoopback(host));
  return {
    kind: 'postgres',
    hosts,
    user: login || 'almanac',
    database: decode(database),
    schema,
    target: oneOf('target_session_attrs', sessionKinds, options) ?? 'any',
    // Require a verified server over a network; an unverified one could read the password and the rows.
    tls: oneOf('sslmode', tlsModes, options) ?? (isLocal ? 'disable' : 'verify-full'),
    tlsAuthorities: options.get('sslrootcert'),
    passwordFile: options.get('passwordfile'),
    connections: connectionsOf(options.get('connections')),
  };
}

/** Describes the store for messages, without its password. */
export function describePlace({ hosts, database, schema }: PostgresPlace): string {
  return `${hosts.map(({ host, port }) => `${host}:${port}`).join(',')}/${database}, schema ${schema}`;
}

function hostsOf(authority: string, options: URLSearchParams): PostgresHost[] {
  const socket = options.get('host');
  if (authority === '') {
    if (socket === null) refuse('it has no host: name a host, or a socket directory with ?host=/DIR');
    return [{ host: socket, port: portOf(options.get('port') ?? undefined) }];
  }
  return authority.split(',').map((text) => {
    const [, host = '', port] = hostPattern.exec(text) ?? refuse('a host is invalid');
    return { host: host.replace(/^\[|\]$/g, ''), port: portOf(port) };
  });
}

function portOf(text: string | undefined): number {
  if (text === undefined) return defaultPort;
  const port = Number(text);
  return Number.isInteger(port) && port >= 1 && port <= 65_535 ? port : refuse('a port is invalid');
}

function connectionsOf(text: string | null): number {
  if (text === null) return defaultConnections;
  const count = Number(text);
  return Number.isInteger(count) && count >= 1 && count <= 100 ? count : refuse('connections must be 1 to 100');
}

function oneOf<T extends string>(name: string, allowed: readonly T[], options: URLSearchParams): T | null {
  const value = options.get(name);
  if (value === null) return null;
  return allowed.find((one) => one === value) ?? refuse(`${name} must be one of ${allowed.join(', ')}`);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return refuse('a percent sign is not followed by two hexadecimal digits');
  }
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}

function refuse(why: string): never {
  throw new OperatorError(`the URL of the PostgreSQL store cannot be used: ${why}; expected ${postgresUrlForm}`);
}

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../process/imports.ts';
import { toolPath } from '../process/tools.ts';

/** Command line that runs a proxy in the foreground with the configuration in a directory. */
interface ProxyRun {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Local ports that replace the ports in the configuration of nginx. */
interface NginxPorts {
  readonly tls: number;
  readonly plain: number;
  readonly facts: number;
  readonly account: number;
  /**
   * Port of a server that returns the client and site keys of a request, as the rate limits see them. By default there
   * is no such server.
   */
  readonly clients?: number;
  /** If true, nginx serves expired responses in place of errors, as many configurations do, but not the deployed one. */
  readonly servesStale?: boolean;
  /** Rate that replaces the rate limit of one client of the facts, such as `1r/m`. */
  readonly factsRate?: string;
}

/** Environment variables of libfaketime, which nginx must pass to its workers. */
const faking = ['LD_PRELOAD', 'FAKETIME_TIMESTAMP_FILE', 'FAKETIME_NO_CACHE', 'FAKETIME_DONT_FAKE_MONOTONIC'];
const tls = join(root, 'test/fixtures/tls');

/**
 * Returns the configuration of a server that reads the client's address from a header. The server responds with the
 * keys of the rate limits.
 */
function whoAsks(port: number): string {
  return `server { listen 127.0.0.1:${port}; set_real_ip_from 127.0.0.1; real_ip_header X-Client;
    location / { return 200 "$almanac_client $almanac_site"; } }`;
}

/**
 * Writes nginx's configuration in `deploy/` with its placeholders replaced, and a main configuration that runs without
 * systemd, into a directory.
 */
export function writeNginxConfig(folder: string, ports: NginxPorts): ProxyRun {
  mkdirSync(join(folder, 'cache'));
  const filled = readFileSync(join(root, 'deploy/nginx/almanac.conf'), 'utf8')
    .replaceAll(/ *listen \[::\]:.*\n/g, '')
    .replaceAll('listen 443 ', `listen 127.0.0.1:${ports.tls} `)
    .replaceAll('listen 80;', `listen 127.0.0.1:${ports.plain};`)
    .replaceAll('127.0.0.1:8400', `127.0.0.1:${ports.facts}`)
    .replaceAll('127.0.0.1:8401', `127.0.0.1:${ports.account}`)
    .replaceAll(/\/etc\/ssl\/almanac\/\w+\.fullchain\.pem/g, join(tls, 'localhost.cert.pem'))
    .replaceAll(/\/etc\/ssl\/almanac\/\w+\.key\.pem/g, join(tls, 'localhost.key.pem'))
    .replaceAll(
      'proxy_cache_use_stale off',
      `proxy_cache_use_stale ${ports.servesStale ? 'error timeout http_503' : 'off'}`,
    )
    .replaceAll('zone=almanac_facts:4m rate=20r/s', `zone=almanac_facts:4m rate=${ports.factsRate ?? '20r/s'}`)
    // The entries must outlive the advance of the clock.
    .replaceAll('inactive=2m', ports.servesStale ? 'inactive=1d' : 'inactive=2m')
    .replaceAll('/var/log/nginx', folder)
    .replaceAll('/var/lib/nginx/almanac', join(folder, 'cache'));
  writeFileSync(join(folder, 'almanac.conf'), filled);
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  writeFileSync(
    join(folder, 'nginx.conf'),
    `${faking.map((name) => `env ${name};`).join(' ')}
daemon off; worker_processes 2; worker_rlimit_nofile 16384; pid ${folder}/nginx.pid; error_log ${folder}/frame.log; ${user}
events { worker_connections 8192; }
http { ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')}
  include ${folder}/almanac.conf; ${ports.clients === undefined ? '' : whoAsks(ports.clients)} }
`,
  );
  return { command: toolPath('nginx'), args: ['-p', folder, '-c', join(folder, 'nginx.conf')], env: {} };
}

/** Addresses of both sites, and the ports of their services. */
interface CaddySites {
  readonly facts: string;
  readonly account: string;
  readonly ports: { readonly facts?: number; readonly account?: number };
}

/** Writes Caddy's configuration in `deploy/`, without TLS and with local addresses, into a directory. */
export function writeCaddyConfig(folder: string, { facts, account, ports }: CaddySites): ProxyRun {
  const config = readFileSync(join(root, 'deploy/caddy/Caddyfile'), 'utf8')
    .replace('{\n\tservers', '{\n\tadmin off\n\tauto_https off\n\tservers')
    .replace('facts.example.org {', `http://${facts} {`)
    .replace('account.example.org {', `http://${account} {`)
    .replace('{$ALMANAC_FACTS:127.0.0.1:8400}', `127.0.0.1:${ports.facts ?? 8400}`)
    .replace('{$ALMANAC_ACCOUNT:127.0.0.1:8401}', `127.0.0.1:${ports.account ?? 8401}`);
  writeFileSync(join(folder, 'Caddyfile'), config);
  return {
    command: toolPath('caddy'),
    args: ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'],
    env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
  };
}

/** Ports of the proxy and of the account surface, and two ports on which nothing listens. */
interface AccountPorts {
  readonly listen: number;
  readonly unused: readonly [number, number];
  readonly account: number;
}

/** Writes the configuration of a proxy in front of an account surface into a directory. Returns also its address. */
export function writeAccountProxy(
  proxy: 'nginx' | 'caddy',
  folder: string,
  { listen, unused: [plain, facts], account }: AccountPorts,
): ProxyRun & { readonly host: string; readonly tls: boolean } {
  const host = 'account.example.org';
  if (proxy === 'nginx') {
    return { ...writeNginxConfig(folder, { tls: listen, plain, facts, account }), host, tls: true };
  }
  const sites = { facts: `facts.invalid:${facts}`, account: `${host}:${listen}`, ports: { account } };
  return { ...writeCaddyConfig(folder, sites), host, tls: false };
}

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from '../process/imports.ts';
import { toolPath } from '../process/tools.ts';

/**
 * Command line that runs a proxy with its configuration in `deploy/` in front of an account surface, and the proxy's
 * address.
 */
interface ProxyRun {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly host: string;
  readonly tls: boolean;
}

/** Ports of the proxy and of the account surface, and two ports on which nothing listens. */
interface ProxyPorts {
  readonly listen: number;
  readonly unused: readonly [number, number];
  readonly account: number;
}

const host = 'account.example.org';

/** Writes the configuration of a proxy, with local ports, into a directory. */
export function writeProxyConfig(proxy: 'nginx' | 'caddy', folder: string, ports: ProxyPorts): ProxyRun {
  return proxy === 'nginx' ? nginx(folder, ports) : caddy(folder, ports);
}

function nginx(folder: string, { listen, unused: [plain, facts], account }: ProxyPorts): ProxyRun {
  const tls = fileURLToPath(new URL('../../test/fixtures/tls/', import.meta.url));
  mkdirSync(join(folder, 'cache'));
  const filled = readFileSync(join(root, 'deploy/nginx/almanac.conf'), 'utf8')
    .replaceAll(/ *listen \[::\]:.*\n/g, '')
    .replaceAll('listen 443 ', `listen 127.0.0.1:${listen} `)
    .replaceAll('listen 80;', `listen 127.0.0.1:${plain};`)
    .replaceAll('127.0.0.1:8400', `127.0.0.1:${facts}`)
    .replaceAll('127.0.0.1:8401', `127.0.0.1:${account}`)
    .replaceAll(/\/etc\/ssl\/almanac\/\w+\.fullchain\.pem/g, join(tls, 'localhost.cert.pem'))
    .replaceAll(/\/etc\/ssl\/almanac\/\w+\.key\.pem/g, join(tls, 'localhost.key.pem'))
    .replaceAll('/var/log/nginx', folder)
    .replaceAll('/var/lib/nginx/almanac', join(folder, 'cache'));
  writeFileSync(join(folder, 'almanac.conf'), filled);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  writeFileSync(
    join(folder, 'nginx.conf'),
    `daemon off; worker_processes 1; worker_rlimit_nofile 16384; pid ${folder}/nginx.pid; error_log ${folder}/frame.log; ${user}
events { worker_connections 8192; }
http { ${temporary.join(' ')}
  include ${folder}/almanac.conf; }
`,
  );
  return {
    command: toolPath('nginx'),
    args: ['-p', folder, '-c', join(folder, 'nginx.conf')],
    env: {},
    host,
    tls: true,
  };
}

function caddy(folder: string, { listen, unused: [facts], account }: ProxyPorts): ProxyRun {
  const config = readFileSync(join(root, 'deploy/caddy/Caddyfile'), 'utf8')
    .replace('{\n\tservers', '{\n\tadmin off\n\tauto_https off\n\tservers')
    .replace('facts.example.org {', `http://facts.invalid:${facts} {`)
    .replace('account.example.org {', `http://${host}:${listen} {`)
    .replace('127.0.0.1:8401', `127.0.0.1:${account}`);
  writeFileSync(join(folder, 'Caddyfile'), config);
  return {
    command: toolPath('caddy'),
    args: ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'],
    env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    host,
    tls: false,
  };
}
